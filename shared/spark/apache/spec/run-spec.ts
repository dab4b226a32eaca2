/**
 * The spec of Apache's SparkApplication as the cares for executors read one: its confs, its version, and how many executors it
 * wants; and the digest of the fields that a running driver was made from.
 */
import { digestOf, omit } from "../../../core/json.ts";
import { countIn } from "../../configuration/conf.ts";
import { executorsWanted } from "../../executors/owner.ts";
import type { SparkApplicationSpec } from "../../schema/application.ts";
import { growthCause, isDynamic } from "../../schema/rules.ts";
import { tolerationsOf } from "./read.ts";
import type { ApacheSpec } from "./schema.ts";

export const deletesConf = "spark.kubernetes.executor.deleteOnTermination";

/** True where ended executors stay: by the user's conf, else as upstream decides it. The garbage collector removes them with their driver. */
export const keepsExecutors = (spec: ApacheSpec): boolean => {
  const given = spec.sparkConf?.[deletesConf];
  if (given !== undefined) return given.trim().toLowerCase() !== "true";
  const { restart, executors } = tolerationsOf(spec);
  return restart.policy === "Never" && !executors.dynamic;
};

const instancesConf = "spark.executor.instances";

/** Spark's own number of executors, where no conf states one. */
const usual = 2;

/** The executors that a spec states: by its conf, else Spark's own number; undefined where its driver's demand decides. */
export const statedExecutors = ({ sparkConf = {} }: ApacheSpec): number | undefined => {
  if (isDynamic({ sparkConf })) return undefined;
  const text = sparkConf[instancesConf]?.trim() ?? "";
  return /^\d{1,9}$/.test(text) ? Number(text) : usual;
};

const boundConf = "spark.dynamicAllocation.maxExecutors";
const leastConf = "spark.dynamicAllocation.minExecutors";

/** The most executors that an attempt has at once; undefined where only the demand of its driver bounds them. */
export const mostExecutorsOf = ({ sparkConf = {}, ...spec }: ApacheSpec): number | undefined => {
  if (sparkConf["spark.kubernetes.driver.master"]?.trim().startsWith("local") === true) return 0;
  if (isDynamic({ sparkConf })) return countIn(sparkConf, boundConf);
  return growthCause({ sparkConf }) === undefined ? statedExecutors({ ...spec, sparkConf }) : undefined;
};

/** The executors with which an attempt begins; with dynamic allocation the initial ones. */
export const initialExecutorsOf = (spec: ApacheSpec): number =>
  mostExecutorsOf(spec) === 0 ? 0 : executorsWanted(runSpecOf(spec, false));

/** A run with no more executors than these, whatever its spec says by now. */
export const bounded = (spec: SparkApplicationSpec, most: number): SparkApplicationSpec => {
  const { sparkConf = {}, executor } = spec;
  const bound = (name: string): string => `${Math.min(most, countIn(sparkConf, name) ?? 0)}`;
  return {
    ...spec,
    sparkConf: isDynamic(spec) ? { ...sparkConf, [boundConf]: `${most}`, [leastConf]: bound(leastConf) } : sparkConf,
    executor:
      executor.instances === undefined ? executor : { ...executor, instances: Math.min(executor.instances, most) },
  };
};

/** `own`: ended executors are Rekindle's to keep or to delete, unless a conf decides. */
export const runSpecOf = (spec: ApacheSpec, own: boolean): SparkApplicationSpec => {
  const instances = statedExecutors(spec);
  return {
    ...{ type: "Scala", mainApplicationFile: "", sparkVersion: spec.runtimeVersions.sparkVersion, driver: {} },
    sparkConf: spec.sparkConf ?? {},
    executor: {
      ...(instances === undefined ? {} : { instances }),
      ...(own ? {} : { deleteOnTermination: !keepsExecutors(spec) }),
    },
  };
};

/** Confs by which a running application may change how many executors it has. */
const counts = [
  instancesConf,
  ...["minExecutors", "maxExecutors", "initialExecutors"].map((name) => `spark.dynamicAllocation.${name}`),
];

/** The digest of the fields that executors are built from, without their number: later executors fit their driver while it is the same. */
export const builtFrom = ({ runtimeVersions, sparkConf = {}, executorSpec, proxyUser }: ApacheSpec): string =>
  digestOf({ runtimeVersions, sparkConf: omit(sparkConf, ...counts), executorSpec, proxyUser });
