/** The defaults of upstream's webhook, applied where a spec is read: the stored object stays as its user wrote it. */
import type { RestartPolicy, SparkApplicationSpec } from "./application.ts";
import type { SparkPodSpec } from "./pod.ts";

const retrySeconds = 5;

const restartPolicy = (given: RestartPolicy | undefined): RestartPolicy => {
  const type = given?.type ?? "Never";
  if (type === "Never") return { ...given, type };
  return {
    ...given,
    type,
    onFailureRetryInterval: given?.onFailureRetryInterval ?? retrySeconds,
    onSubmissionFailureRetryInterval: given?.onSubmissionFailureRetryInterval ?? retrySeconds,
  };
};

type Sizes = Pick<SparkPodSpec, "cores" | "memory">;

/** The default cores and memory; a conf of the user's stands for the field. */
const sizes = (role: "driver" | "executor", pod: Sizes, conf: Readonly<Record<string, string>>): Sizes => {
  const cores = pod.cores ?? (conf[`spark.${role}.cores`] === undefined ? 1 : undefined);
  const memory = pod.memory ?? (conf[`spark.${role}.memory`] === undefined ? "1g" : undefined);
  return { ...(cores === undefined ? {} : { cores }), ...(memory === undefined ? {} : { memory }) };
};

const isDynamic = (spec: SparkApplicationSpec): boolean =>
  spec.dynamicAllocation?.enabled === true || spec.sparkConf?.["spark.dynamicAllocation.enabled"] === "true";

export const withDefaults = (spec: SparkApplicationSpec): SparkApplicationSpec => {
  const conf = spec.sparkConf ?? {};
  const counted = isDynamic(spec) || conf["spark.executor.instances"] !== undefined;
  const instances = spec.executor.instances ?? (counted ? undefined : 1);
  const dynamic = spec.dynamicAllocation;
  return {
    ...spec,
    mode: spec.mode ?? "cluster",
    restartPolicy: restartPolicy(spec.restartPolicy),
    driver: { ...spec.driver, ...sizes("driver", spec.driver, conf) },
    executor: {
      ...spec.executor,
      ...sizes("executor", spec.executor, conf),
      ...(instances === undefined ? {} : { instances }),
    },
    ...(dynamic?.enabled === true
      ? { dynamicAllocation: { ...dynamic, shuffleTrackingEnabled: dynamic.shuffleTrackingEnabled ?? true } }
      : {}),
  };
};
