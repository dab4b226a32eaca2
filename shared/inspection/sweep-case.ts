/**
 * A case for the sweep, made from recorded decisions about a SparkApplication: its first spec, what its users did, and how
 * its drivers and executors ended. Times count from the first recorded decision. Pure.
 */
import { recordUntil } from "../core/annotation.ts";
import { fieldsOf, mergePatch, recordsIn } from "../core/json.ts";
import { keyKindOf, type Stored } from "../core/object.ts";
import { instantOf } from "../core/time.ts";
import { labelOf, ownedBy } from "../kube/pods.ts";
import { Refused } from "./io/refusal.ts";
import { usual } from "./kinds/all.ts";

/** The objects that a recorded decision read. `at`: the API server's clock, epoch ms. */
export type SeenByDecision = {
  readonly at: number;
  readonly object: Stored | undefined;
  /** The pods among the answers to its reads. */
  readonly pods: readonly Stored[];
  /** The phase that its plan saves; "" for a kind without one. */
  readonly phase: string;
};

/** The course of a pod. Times in ms. */
type Course = { readonly runMs?: number; readonly exitCode?: number; readonly reason?: string };

type Driver = Course & {
  readonly jobMs?: number;
  readonly executors?: Readonly<Record<string, Course>>;
};

type Action = { readonly afterMs: number; readonly patch?: unknown; readonly delete?: true };

export type SweepCase = {
  readonly version: 1;
  readonly kind: string;
  /** Namespace and name in the recording. */
  readonly of: string;
  readonly spec: Readonly<Record<string, unknown>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** By attempt, the first one first. */
  readonly drivers: readonly Driver[];
  readonly actions: readonly Action[];
  /** The state in which the recording ends, if it is an end. */
  readonly ends?: string;
};

/** The longest time of a course; a longer one shows nothing new. */
const longestMs = 600_000;
/** The time of a course whose end was not recorded. */
const usualMs = 10_000;

const ends: ReadonlySet<string> = new Set(["COMPLETED", "FAILED"]);

const spanOf = (from: string | undefined, to: string | undefined): number => {
  const [began, ended] = [from, to].map((text) => (text === undefined ? undefined : instantOf(text)));
  const took = began === undefined || ended === undefined ? usualMs : ended - began;
  return Math.min(longestMs, Math.max(1_000, took));
};

const textIn = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

type End = { readonly ms: number; readonly exitCode: number; readonly reason: string | undefined };

/** The end of a pod's first container; undefined where it was not seen to end. */
const endOf = (pod: Stored): End | undefined => {
  const [container] = recordsIn(fieldsOf(pod.status)["containerStatuses"]);
  const { terminated } = fieldsOf(container?.["state"]);
  const { exitCode, startedAt, finishedAt, reason } = fieldsOf(terminated);
  if (typeof exitCode !== "number") return undefined;
  return { ms: spanOf(textIn(startedAt), textIn(finishedAt)), exitCode, reason: textIn(reason) };
};

const exitOf = ({ exitCode, reason }: End): Pick<Course, "exitCode" | "reason"> => ({
  ...(exitCode === 0 ? {} : { exitCode }),
  ...(exitCode === 0 || reason === undefined ? {} : { reason }),
});

/** The newest sight of each pod, in the order of their first. */
const podsIn = (seen: readonly SeenByDecision[]): readonly Stored[] => {
  const pods = new Map<string, Stored>();
  for (const pod of seen.flatMap((one) => one.pods)) {
    const known = pods.get(pod.metadata.uid);
    if (known === undefined || endOf(known) === undefined) pods.set(pod.metadata.uid, pod);
  }
  return [...pods.values()];
};

/** Executors that failed by themselves: not those that ended with their driver, or by a signal of Kubernetes. */
const failedExecutors = (pods: readonly Stored[], driver: Stored): Readonly<Record<string, Course>> =>
  Object.fromEntries(
    pods.flatMap((pod) => {
      const id = labelOf(pod, "spark-exec-id");
      const end = endOf(pod);
      if (
        id === undefined ||
        !ownedBy(pod, driver.metadata.uid) ||
        end === undefined ||
        end.exitCode === 0 ||
        end.exitCode === 143
      )
        return [];
      return [[id, { runMs: end.ms, ...exitOf(end) }] as const];
    }),
  );

const driverOf = (pods: readonly Stored[], driver: Stored): Driver => {
  const end = endOf(driver);
  const executors = failedExecutors(pods, driver);
  return {
    jobMs: end?.ms ?? usualMs,
    ...(end === undefined ? {} : exitOf(end)),
    ...(Object.keys(executors).length === 0 ? {} : { executors }),
  };
};

const isAsked = (name: string): boolean => name.startsWith("rekindle.dev/") && name !== recordUntil;

/** The changes of the spec and the deletion, as decisions saw them. */
const actionsIn = (seen: readonly SeenByDecision[]): readonly Action[] => {
  const began = seen[0]?.at ?? 0;
  const actions: Action[] = [];
  let spec: unknown;
  for (const { at, object } of seen) {
    const afterMs = Math.min(longestMs, Math.max(0, at - began));
    if (object === undefined || object.metadata.deletionTimestamp !== undefined)
      return spec === undefined ? actions : [...actions, { afterMs, delete: true }];
    const patch = spec === undefined ? undefined : mergePatch(spec, object.spec);
    if (patch !== undefined) actions.push({ afterMs, patch });
    spec = object.spec;
  }
  return actions;
};

/** Makes the case. Throws where the recording shows no application, or no driver of it. */
export const sweepCaseOf = (of: string, given: readonly SeenByDecision[]): SweepCase => {
  const seen = given.toSorted((a, b) => a.at - b.at);
  const first = seen.find(({ object }) => object !== undefined)?.object;
  if (first === undefined) throw new Refused(`no recorded decision about ${of} saw it: nothing can be exported`);
  const pods = podsIn(seen);
  const drivers = pods.filter((pod) => labelOf(pod, "spark-role") === "driver");
  const last = seen.at(-1)?.phase ?? "";
  const annotations = Object.entries(first.metadata.annotations ?? {}).filter(([name]) => isAsked(name));
  return {
    ...{ version: 1, kind: keyKindOf(usual.resource), of, spec: fieldsOf(first.spec) },
    annotations: Object.fromEntries(annotations),
    drivers: drivers.length === 0 ? [{ jobMs: usualMs }] : drivers.map((driver) => driverOf(pods, driver)),
    actions: actionsIn(seen),
    ...(ends.has(last) ? { ends: last } : {}),
  };
};
