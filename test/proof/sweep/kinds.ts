/** The kinds of scenarios: their place in the API, and the judge of each. */
import type { DeclaredKind } from "../../../shared/kube/declared-kind.ts";
import { sparkApplication } from "../../../shared/spark/application/kind.ts";
import { sparkConnect } from "../../../shared/spark/connect/kind.ts";
import { scheduledSparkApplication } from "../../../shared/spark/scheduled/kind.ts";
import { cronJob } from "../../../shared/volcano/cron/kind.ts";
import { jobFlow } from "../../../shared/volcano/flow/kind.ts";
import { job } from "../../../shared/volcano/job/kind.ts";
import { queue } from "../../../shared/volcano/queue/kind.ts";
import { openConnectOracle } from "./connects.ts";
import { type Oracle, openOracle, type Subject } from "./oracle.ts";
import { openScheduleOracle } from "./schedules.ts";
import { openCronOracle } from "./volcano/cron/judge.ts";
import { openFlowOracle } from "./volcano/flow/judge.ts";
import { openJobOracle } from "./volcano/judge.ts";
import { openQueueOracle } from "./volcano/queue/judge.ts";

export type SweptName = "SparkApplication" | "ScheduledSparkApplication" | "SparkConnect" | VolcanoName;
export type VolcanoName = "Job" | "JobFlow" | "CronJob" | "Queue";

export type Swept = {
  readonly kind: SweptName;
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
};

/** A kind by its declaration; `alone` as above. */
const swept = (
  kind: SweptName,
  { resource: { group, version, plural }, scope }: DeclaredKind,
  rest: Pick<Swept, "alone" | "judge">,
): Swept => ({ kind, group, version, plural, ...rest, everywhere: scope === "Cluster", table: `${plural}.${group}` });

const kinds: Readonly<Record<SweptName, Swept>> = {
  SparkApplication: swept("SparkApplication", sparkApplication, { alone: true, judge: openOracle }),
  ScheduledSparkApplication: swept("ScheduledSparkApplication", scheduledSparkApplication, {
    ...{ alone: false, judge: openScheduleOracle },
  }),
  SparkConnect: swept("SparkConnect", sparkConnect, { alone: false, judge: openConnectOracle }),
  Job: swept("Job", job, { alone: true, judge: openJobOracle }),
  JobFlow: swept("JobFlow", jobFlow, { alone: false, judge: openFlowOracle }),
  CronJob: swept("CronJob", cronJob, { alone: false, judge: openCronOracle }),
  Queue: swept("Queue", queue, { alone: true, judge: openQueueOracle }),
};

/** Every kind of the sweep. */
export const sweptKinds: readonly SweptName[] = Object.values(kinds).map(({ kind }) => kind);

/** The store's key of an object of a kind. */
export const placeOf = ({ everywhere }: Swept, namespace: string, name: string): string =>
  everywhere ? name : `${namespace}/${name}`;

/** The kind of a scenario. */
export const sweptOf = ({ kind = "SparkApplication" }: { readonly kind?: SweptName }): Swept => kinds[kind];
