/** The kinds of scenarios: their place in the API, and the judge of each. */
import { keyKindOf } from "../../../shared/core/object.ts";
import type { DeclaredKind } from "../../../shared/kube/declared-kind.ts";
import type { Change } from "../../../shared/simulator/storage/store.ts";
import { apacheSparkApplication } from "../../../shared/spark/apache/kind.ts";
import { sparkApplication } from "../../../shared/spark/application/kind.ts";
import { sparkCluster } from "../../../shared/spark/cluster/kind.ts";
import { sparkConnect } from "../../../shared/spark/connect/kind.ts";
import { scheduledSparkApplication } from "../../../shared/spark/scheduled/kind.ts";
import { cronJob } from "../../../shared/volcano/cron/kind.ts";
import { jobFlow } from "../../../shared/volcano/flow/kind.ts";
import { job } from "../../../shared/volcano/job/kind.ts";
import { queue } from "../../../shared/volcano/queue/kind.ts";
import { openClusterOracle } from "./apache/cluster-judge.ts";
import { openApacheOracle } from "./apache/judge.ts";
import { openConnectOracle } from "./connects.ts";
import { at, textAt } from "./fields.ts";
import { type Oracle, openOracle, type Subject } from "./oracle.ts";
import { openScheduleOracle } from "./schedules.ts";
import { openCronOracle } from "./volcano/cron/judge.ts";
import { openFlowOracle } from "./volcano/flow/judge.ts";
import { openJobOracle } from "./volcano/judge.ts";
import { openQueueOracle } from "./volcano/queue/judge.ts";

type Item = Change["object"];

/** How listeners see objects of a kind, by the oracle's own table: the state that each shows, and the states that end it. */
type Shown = {
  readonly state: (object: Item) => string | undefined;
  readonly ends?: readonly string[];
};

export type Swept = {
  /** The kind in keys, records and updates. */
  readonly kind: string;
  /** The kind in the API: two groups have one of the same name. */
  readonly apiKind: string;
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** True for a cluster-scoped kind. */
  readonly everywhere: boolean;
  /** The simulator's table of its objects. */
  readonly table: string;
  /** True for a kind whose objects cause only steps of their own, so that all calls of a run are about it. */
  readonly alone: boolean;
  readonly judge: (subject: Subject) => Oracle;
  readonly shown: Shown;
};

const stateOfCron = (object: Item): string => {
  if (at(object, "spec", "suspend") === true) return "Suspended";
  const active = at(object, "status", "active");
  return Array.isArray(active) && active.length > 0 ? "Active" : "Scheduled";
};

/** The state at this place of an object's status. */
const stateAt =
  (...path: readonly string[]) =>
  (object: Item): string | undefined =>
    textAt(object, "status", ...path);

/** A kind by its declaration; the rest as above. */
const swept = ({ resource, scope }: DeclaredKind, rest: Pick<Swept, "alone" | "judge" | "shown">): Swept => {
  const { group, version, plural, kind: apiKind } = resource;
  return {
    ...{ kind: keyKindOf(resource), apiKind, group, version, plural },
    ...{ ...rest, everywhere: scope === "Cluster", table: `${plural}.${group}` },
  };
};

const kinds = {
  SparkApplication: swept(sparkApplication, {
    ...{ alone: true, judge: openOracle },
    shown: { state: stateAt("applicationState", "state"), ends: ["COMPLETED", "FAILED"] },
  }),
  ApacheSparkApplication: swept(apacheSparkApplication, {
    ...{ alone: true, judge: openApacheOracle },
    shown: {
      state: stateAt("currentState", "currentStateSummary"),
      ends: ["ResourceReleased", "TerminatedWithoutReleaseResources"],
    },
  }),
  SparkCluster: swept(sparkCluster, {
    ...{ alone: true, judge: openClusterOracle },
    shown: { state: stateAt("currentState", "currentStateSummary") },
  }),
  ScheduledSparkApplication: swept(scheduledSparkApplication, {
    ...{ alone: false, judge: openScheduleOracle },
    shown: { state: stateAt("scheduleState") },
  }),
  SparkConnect: swept(sparkConnect, {
    ...{ alone: false, judge: openConnectOracle },
    shown: { state: stateAt("state") },
  }),
  Job: swept(job, {
    ...{ alone: true, judge: openJobOracle },
    shown: { state: stateAt("state", "phase"), ends: ["Completed", "Terminated", "Failed"] },
  }),
  JobFlow: swept(jobFlow, {
    ...{ alone: false, judge: openFlowOracle },
    shown: { state: stateAt("state", "phase"), ends: ["Succeed", "Failed"] },
  }),
  CronJob: swept(cronJob, { alone: false, judge: openCronOracle, shown: { state: stateOfCron } }),
  Queue: swept(queue, { alone: true, judge: openQueueOracle, shown: { state: stateAt("state") } }),
} as const satisfies Readonly<Record<string, Swept>>;

export type SweptName = keyof typeof kinds;

/** Every kind of the sweep. */
export const sweptKinds: readonly string[] = Object.keys(kinds);

/** The store's key of an object of a kind. */
export const placeOf = ({ everywhere }: Swept, namespace: string, name: string): string =>
  everywhere ? name : `${namespace}/${name}`;

/** The kind of a scenario. */
export const sweptOf = ({ kind = "SparkApplication" }: { readonly kind?: SweptName }): Swept => kinds[kind];
