/** The kinds of scenarios: their place in the API, and the judge of each. */
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

type Place = Pick<Swept, "kind" | "group" | "version" | "alone"> & { readonly everywhere?: boolean };

const swept = (place: Place, judge: (subject: Subject) => Oracle): Swept => {
  const plural = `${place.kind.toLowerCase()}s`;
  return { everywhere: false, ...place, plural, table: `${plural}.${place.group}`, judge };
};

const spark = "sparkoperator.k8s.io";

const kinds: Readonly<Record<SweptName, Swept>> = {
  SparkApplication: swept({ kind: "SparkApplication", group: spark, version: "v1beta2", alone: true }, openOracle),
  ScheduledSparkApplication: swept(
    { kind: "ScheduledSparkApplication", group: spark, version: "v1beta2", alone: false },
    openScheduleOracle,
  ),
  SparkConnect: swept({ kind: "SparkConnect", group: spark, version: "v1alpha1", alone: false }, openConnectOracle),
  Job: swept({ kind: "Job", group: "batch.volcano.sh", version: "v1alpha1", alone: true }, openJobOracle),
  JobFlow: swept({ kind: "JobFlow", group: "flow.volcano.sh", version: "v1alpha1", alone: false }, openFlowOracle),
  CronJob: swept({ kind: "CronJob", group: "batch.volcano.sh", version: "v1alpha1", alone: false }, openCronOracle),
  Queue: swept(
    { kind: "Queue", group: "scheduling.volcano.sh", version: "v1beta1", alone: true, everywhere: true },
    openQueueOracle,
  ),
};

/** Every kind of the sweep. */
export const sweptKinds: readonly SweptName[] = Object.values(kinds).map(({ kind }) => kind);

/** The store's key of an object of a kind. */
export const placeOf = ({ everywhere }: Swept, namespace: string, name: string): string =>
  everywhere ? name : `${namespace}/${name}`;

/** The kind of a scenario. */
export const sweptOf = ({ kind = "SparkApplication" }: { readonly kind?: SweptName }): Swept => kinds[kind];
