/**
 * An object with Kueue's queue label, as `rekindle status` and the page show it: its LocalQueue, and whether Kueue holds it,
 * has admitted or evicted it, since when, and in which words its Workload says so.
 */
import { openCluster } from "../adapters/kubernetes/cluster.ts";
import { ApiError, type Transport } from "../core/http.ts";
import { fieldsOf, recordsIn } from "../core/json.ts";
import { isLabelValue, type Stored } from "../core/object.ts";
import { counted, oneLine } from "../core/text.ts";
import { instantOf, timeText } from "../core/time.ts";
import {
  assignmentsIn,
  conditionIn,
  isActive,
  isTrue,
  jobUidLabel,
  localQueueOf,
  ownWorkloads,
  workloads,
} from "../kube/kueue.ts";
import { type GrowthState, growthCountsOf, growthStateOf, isGrowth, isGrowthOf } from "../kube/kueue-growth.ts";
import { flavorsOf } from "../kube/kueue-placement.ts";
import { appUidLabel, ownedBy } from "../kube/pods.ts";
import type { Json } from "../kube/responses.ts";
import { notServed } from "./io/refusal.ts";
import type { Kind } from "./kinds/kind.ts";

export type KueueState = "held" | "admitted" | "evicted" | "finished" | "unknown";

/** A Workload by which an application grows beyond its base. */
type GrowthView = {
  readonly workload: string;
  readonly state: Exclude<GrowthState, "over">;
  /** Those that it grants or asks for, less those whose quota was given back. */
  readonly executors: number;
  /** The flavors that Kueue has assigned to them; "": none yet. */
  readonly flavors: string;
  readonly askedAt: string | undefined;
  /** Since when it is in this state. */
  readonly since: string | undefined;
  readonly message: string;
};

export type KueueView = {
  readonly queue: string;
  readonly state: KueueState;
  /** The Workload; undefined where none is found. */
  readonly workload: string | undefined;
  readonly since: string | undefined;
  /** Kueue's own words, or the reason why there are none; "" where neither is known. */
  readonly message: string;
  /** The executors that the Workload itself grants, and their flavors; absent where it grants none, or its kind does not grow. */
  readonly base?: Pick<GrowthView, "executors" | "flavors">;
  /** The growths of an application; absent where they are not known, or its kind does not grow. */
  readonly growths?: readonly GrowthView[] | undefined;
};

/** The most characters of Kueue's words. */
const longest = 500;

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** Returns the words of a condition, after its reason where that adds to them. */
const wordsOf = (condition: Json | undefined, withReason: boolean): string => {
  const { reason, message } = condition ?? {};
  return [withReason ? text(reason) : "", text(message)].filter((one) => one !== "").join(": ");
};

/** The admission checks that are not ready, with what their controllers say. */
const openChecks = (workload: Stored): string =>
  recordsIn(fieldsOf(workload.status)["admissionChecks"])
    .filter(({ state }) => state !== "Ready")
    .map(({ name, state, message }) =>
      [`admission check ${text(name)} is ${text(state) || "Pending"}`, text(message)]
        .filter((one) => one !== "")
        .join(": "),
    )
    .join("; ");

/** The pod sets of which Kueue has admitted fewer pods than were asked for. */
const partsIn = (workload: Stored): readonly string[] => {
  const assigned = new Map(assignmentsIn(workload).map(({ name, count }) => [name, count]));
  return recordsIn(fieldsOf(workload.spec)["podSets"]).flatMap(({ name, count }) => {
    const got = assigned.get(name);
    const isPart = typeof got === "number" && typeof count === "number" && got < count;
    return isPart ? [`with ${got} of ${counted(count, "pod")} of ${text(name)}`] : [];
  });
};

type Standing = Pick<KueueView, "state" | "message"> & { readonly by: Json | undefined };

/** Returns the state of a Workload, and the condition that tells since when. */
const standingOf = (workload: Stored): Standing => {
  const [reserved, evicted] = ["QuotaReserved", "Evicted"].map((type) => conditionIn(workload, type));
  const finished = conditionIn(workload, "Finished");
  if (isTrue(workload, "Finished")) return { state: "finished", by: finished, message: wordsOf(finished, false) };
  if (isTrue(workload, "Evicted")) {
    const waits = isTrue(workload, "QuotaReserved") ? "" : wordsOf(reserved, false);
    const words = [wordsOf(evicted, true), waits].filter((one, at, all) => one !== "" && all.indexOf(one) === at);
    return { state: "evicted", by: evicted, message: words.join("; ") };
  }
  if (!isActive(workload)) return { state: "held", by: undefined, message: "its Workload is deactivated" };
  const admitted = conditionIn(workload, "Admitted");
  if (isTrue(workload, "Admitted")) {
    const words = [wordsOf(admitted, false), ...partsIn(workload)].filter((one) => one !== "");
    return { state: "admitted", by: admitted, message: words.join("; ") };
  }
  if (isTrue(workload, "QuotaReserved")) return { state: "held", by: reserved, message: openChecks(workload) };
  return { state: "held", by: reserved, message: wordsOf(reserved, false) };
};

const viewOf = (queue: string, workload: Stored): KueueView => {
  const { state, by, message } = standingOf(workload);
  const { name, creationTimestamp } = workload.metadata;
  const since = instantOf(text(by?.["lastTransitionTime"])) ?? instantOf(creationTimestamp);
  return {
    ...{ queue, state, workload: name },
    since: since === undefined ? undefined : timeText(since),
    message: oneLine(message).slice(0, longest),
  };
};

const flavorsIn = (workload: Stored, podSet?: string): string => flavorsOf(workload, podSet).toSorted().join(",");

/** Returns what a Workload grants of this pod set; {} while it grants nothing. */
const baseOf = (workload: Stored, podSet: string): Pick<KueueView, "base"> => {
  const count = assignmentsIn(workload).find(({ name }) => name === podSet)?.["count"];
  if (growthStateOf(workload) !== "granted" || typeof count !== "number") return {};
  return { base: { executors: count, flavors: flavorsIn(workload, podSet) } };
};

/** Reads the growths of an application; undefined where they cannot be listed. */
const growthsOf = async (transport: Transport, queue: string, object: Stored): Promise<KueueView["growths"]> => {
  const { uid, namespace = "default" } = object.metadata;
  const labels = { ...ownWorkloads, [appUidLabel]: uid };
  const { value } = await openCluster(transport).list({ do: "list", resource: workloads, namespace, labels });
  return value
    .filter((one) => isGrowthOf(one, uid))
    .flatMap((one): readonly GrowthView[] => {
      const state = growthStateOf(one);
      if (state === "over") return [];
      const { name, creationTimestamp } = one.metadata;
      const { since, message } = viewOf(queue, one);
      const { executors } = growthCountsOf(one);
      return [
        {
          ...{ workload: name, state, executors, flavors: flavorsIn(one) },
          ...{ askedAt: creationTimestamp, since, message },
        },
      ];
    });
};

/** The executors of an application's growths, and the time since when the one that waits was asked for. */
export type GrowthSums = {
  readonly granted: number;
  readonly waiting: number;
  readonly waitingSince: string | undefined;
};

/** Adds up the growths of a namespace ("": of all) by the UID of their application; undefined where none can be listed. */
export const growthSumsIn = async (
  transport: Transport,
  namespace: string,
): Promise<ReadonlyMap<string, GrowthSums> | undefined> => {
  try {
    const { value } = await openCluster(transport).list({
      ...{ do: "list", resource: workloads, namespace, labels: ownWorkloads },
    });
    const byApp = Map.groupBy(value.filter(isGrowth), ({ metadata }) => metadata.labels?.[appUidLabel] ?? "");
    const sumsOf = (growths: readonly Stored[]): GrowthSums => {
      const inState = (state: GrowthState) => growths.filter((one) => growthStateOf(one) === state);
      const sum = (some: readonly Stored[]) => some.reduce((all, one) => all + growthCountsOf(one).executors, 0);
      const waiting = inState("waiting");
      const [waitingSince] = waiting.map(({ metadata }) => metadata.creationTimestamp ?? "").sort();
      return { granted: sum(inState("granted")), waiting: sum(waiting), waitingSince };
    };
    return new Map([...byApp].map(([uid, growths]) => [uid, sumsOf(growths)]));
  } catch (cause) {
    if (withoutAnswer(cause) !== undefined) return undefined;
    throw cause;
  }
};

const served = `${workloads.group}/${workloads.version}`;

/** Returns the view where Workloads cannot be listed; undefined for a failure of another kind. */
const withoutAnswer = (cause: unknown): Pick<KueueView, "state" | "message"> | undefined => {
  if (!(cause instanceof ApiError)) return undefined;
  if (notServed(cause))
    return { state: "held", message: `nobody admits it: the cluster does not serve Workloads of Kueue (${served})` };
  const message = `its Workload cannot be read: ${oneLine(cause.message)}`;
  return cause.status === 403 ? { state: "unknown", message } : undefined;
};

/** Reads what Kueue says of an object; undefined without its label, and for a kind that it does not admit. */
export const kueueOf = async (
  transport: Transport,
  { kueue: admits }: Pick<Kind, "kueue">,
  object: Stored,
): Promise<KueueView | undefined> => {
  const queue = localQueueOf(object);
  const { uid, namespace = "default" } = object.metadata;
  if (queue === undefined || admits === undefined || !isLabelValue(uid)) return undefined;
  const none = { queue, workload: undefined, since: undefined } as const;
  try {
    const labels = { [jobUidLabel]: uid };
    const { value } = await openCluster(transport).list({ do: "list", resource: workloads, namespace, labels });
    const own = value.find((one) => ownedBy(one, uid));
    const view: KueueView =
      own === undefined ? { ...none, state: "held", message: admits.absence } : viewOf(queue, own);
    const { grows } = admits;
    if (grows === undefined) return view;
    const base = own === undefined ? {} : baseOf(own, grows);
    return { ...view, ...base, growths: await growthsOf(transport, queue, object) };
  } catch (cause) {
    const view = withoutAnswer(cause);
    if (view === undefined) throw cause;
    return { ...none, ...view };
  }
};

const states: Readonly<Record<KueueState, string>> = {
  held: "held",
  admitted: "admitted",
  evicted: "evicted, waits to be admitted again",
  finished: "finished",
  unknown: "not known",
};

const growthStates: Readonly<Record<GrowthView["state"], string>> = {
  granted: "granted beyond its base",
  waiting: "asked for",
  evicted: "evicted",
};

type When = (instant: number) => string;

const sinceText = (since: string | undefined, when: When): string =>
  since === undefined ? "" : ` since ${when(Date.parse(since))}`;

/** Returns the executors of growths in each state; those that wait or are evicted with Kueue's words. */
const growthsText = (growths: readonly GrowthView[], when: When): string => {
  const granted = growths.filter(({ state }) => state === "granted").reduce((sum, { executors }) => sum + executors, 0);
  const others = growths
    .filter(({ state }) => state !== "granted")
    .map(({ state, executors, since, askedAt, message }) => {
      const from = sinceText(state === "waiting" ? askedAt : since, when);
      return `${executors} ${growthStates[state]}${from}${message === "" ? "" : `: ${message}`}`;
    });
  return [...(granted === 0 ? [] : [`${counted(granted, "executor")} ${growthStates.granted}`]), ...others].join(", ");
};

/** Returns the text about an object in one line. `when`: writes an instant. */
export const kueueText = ({ queue, state, since, message, growths = [] }: KueueView, when: When): string => {
  const own = `LocalQueue ${queue}: ${states[state]}${sinceText(since, when)}${message === "" ? "" : `: ${message}`}`;
  const grown = growthsText(growths, when);
  return grown === "" ? own : `${own}; ${grown}`;
};
