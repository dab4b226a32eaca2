/** The kinds that a scenario may be about: where they stand in the API, and who judges what is done about them. */
import { openConnectOracle } from "./connects.ts";
import { type Oracle, openOracle, type Subject } from "./oracle.ts";
import { openScheduleOracle } from "./schedules.ts";

export type SweptName = "SparkApplication" | "ScheduledSparkApplication" | "SparkConnect";

export type Swept = {
  readonly kind: SweptName;
  readonly version: string;
  readonly plural: string;
  /** The simulator's table of its objects. */
  readonly table: string;
  readonly judge: (subject: Subject) => Oracle;
};

const swept = (kind: SweptName, version: string, judge: (subject: Subject) => Oracle): Swept => {
  const plural = `${kind.toLowerCase()}s`;
  return { kind, version, plural, table: `${plural}.sparkoperator.k8s.io`, judge };
};

const kinds: Readonly<Record<SweptName, Swept>> = {
  SparkApplication: swept("SparkApplication", "v1beta2", openOracle),
  ScheduledSparkApplication: swept("ScheduledSparkApplication", "v1beta2", openScheduleOracle),
  SparkConnect: swept("SparkConnect", "v1alpha1", openConnectOracle),
};

/** The kind of a scenario. */
export const sweptOf = ({ kind = "SparkApplication" }: { readonly kind?: SweptName }): Swept => kinds[kind];
