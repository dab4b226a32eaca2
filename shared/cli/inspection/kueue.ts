/**
 * An object with Kueue's queue label, as `rekindle status` and the page show it: its LocalQueue, and whether Kueue holds it,
 * has admitted or evicted it, since when, and in which words its Workload says so.
 */
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { ApiError, type Transport } from "../../core/http.ts";
import { fieldsOf, recordsIn } from "../../core/json.ts";
import { isLabelValue, type Stored } from "../../core/object.ts";
import { counted, oneLine } from "../../core/text.ts";
import { instantOf, timeText } from "../../core/time.ts";
import { conditionIn, isActive, isTrue, jobUidLabel, localQueueOf, ownWorkloads, workloads } from "../../kube/kueue.ts";
import { type GrowthState, growthCountsOf, growthStateOf } from "../../kube/kueue-growth.ts";
import { ownedBy } from "../../kube/pods.ts";
import type { Json } from "../../kube/responses.ts";
import { notServed } from "../io/tools.ts";
import type { Kind } from "../kinds/kind.ts";

export type KueueState = "held" | "admitted" | "evicted" | "finished" | "unknown";

/** A Workload by which an application grows beyond its base. */
type GrowthView = {
  readonly workload: string;
  readonly state: Exclude<GrowthState, "over">;
  /** Those that it grants or asks for, less those whose quota was given back. */
  readonly executors: number;
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
  if (isTrue(workload, "Admitted")) return { state: "admitted", by: admitted, message: wordsOf(admitted, false) };
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

/** Reads the growths of an application; undefined where they cannot be listed. */
const growthsOf = async (transport: Transport, queue: string, object: Stored): Promise<KueueView["growths"]> => {
  const { uid, namespace = "default" } = object.metadata;
  const labels = { ...ownWorkloads, "rekindle.dev/app-uid": uid };
  const { value } = await openCluster(transport).list({ do: "list", resource: workloads, namespace, labels });
  return value
    .filter((one) => ownedBy(one, uid))
    .flatMap((one): readonly GrowthView[] => {
      const state = growthStateOf(one);
      if (state === "over") return [];
      const { name, creationTimestamp } = one.metadata;
      const { since, message } = viewOf(queue, one);
      return [
        { workload: name, state, executors: growthCountsOf(one).executors, askedAt: creationTimestamp, since, message },
      ];
    });
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

/** A kind whose objects Kueue admits: SparkApplications by its own integration, Volcano Jobs by Rekindle's. */
const admits = ({ resource: { kind } }: Kind): boolean => kind === "SparkApplication" || kind === "Job";

const absence = ({ resource: { kind } }: Kind): string =>
  kind === "Job"
    ? "no Workload of it exists yet"
    : "no Workload of it exists: Kueue creates one where its integration sparkoperator.k8s.io/sparkapplication is on";

/** Reads what Kueue says of an object; undefined without its label, and for a kind that it does not admit. */
export const kueueOf = async (transport: Transport, kind: Kind, object: Stored): Promise<KueueView | undefined> => {
  const queue = localQueueOf(object);
  const { uid, namespace = "default" } = object.metadata;
  if (queue === undefined || !admits(kind) || !isLabelValue(uid)) return undefined;
  const none = { queue, workload: undefined, since: undefined } as const;
  const grows = kind.resource.kind === "SparkApplication";
  try {
    const labels = { [jobUidLabel]: uid };
    const { value } = await openCluster(transport).list({ do: "list", resource: workloads, namespace, labels });
    const own = value.find((one) => ownedBy(one, uid));
    const view: KueueView = own === undefined ? { ...none, state: "held", message: absence(kind) } : viewOf(queue, own);
    return grows ? { ...view, growths: await growthsOf(transport, queue, object) } : view;
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
