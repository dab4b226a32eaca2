/** `spec.executor` in confs. */

import type { Pair } from "./pairs.ts";
import { each, given } from "./pairs.ts";
import { amounts, operatorLabels, secretKeys, secrets, words } from "./pod.ts";
import { scratch } from "./scratch.ts";
import type { Subject } from "./subject.ts";

export const executorConfs = (subject: Subject): Pair[] => {
  const { spec } = subject;
  const { executor } = spec;
  return [
    ...operatorLabels("executor", subject),
    ...given("spark.executor.instances", executor.instances),
    ...amounts("executor", executor, spec),
    ...given("spark.kubernetes.executor.deleteOnTermination", executor.deleteOnTermination),
    ...words("executor", executor, subject),
    ...secretKeys("executor", executor),
    ...given("spark.executor.extraJavaOptions", executor.javaOptions),
    ...each("spark.executorEnv.", executor.envVars),
    ...secrets("executor", executor),
    ...scratch("executor", spec),
  ];
};
