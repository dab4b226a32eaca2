/** The kinds that a scenario may be about: where they stand in the API, and who judges what is done about them. */
import { openConnectOracle } from "./connects.ts";
import { type Oracle, openOracle, type Subject } from "./oracle.ts";
import { openScheduleOracle } from "./schedules.ts";
import { openJobOracle } from "./volcano/judge.ts";

export type SweptName = "SparkApplication" | "ScheduledSparkApplication" | "SparkConnect" | "Job";

export type Swept = {
  readonly kind: SweptName;
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** The simulator's table of its objects. */
  readonly table: string;
  /** What makes steps only of its own, so that all calls of a run are about it. */
  readonly alone: boolean;
  readonly judge: (subject: Subject) => Oracle;
};

type Place = Pick<Swept, "kind" | "group" | "version" | "alone">;

const swept = (place: Place, judge: (subject: Subject) => Oracle): Swept => {
  const plural = `${place.kind.toLowerCase()}s`;
  return { ...place, plural, table: `${plural}.${place.group}`, judge };
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
};

/** The kind of a scenario. */
export const sweptOf = ({ kind = "SparkApplication" }: { readonly kind?: SweptName }): Swept => kinds[kind];
