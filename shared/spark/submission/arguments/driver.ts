/** `spec.driver` in confs. */

import type { Pair } from "./pairs.ts";
import { each, given } from "./pairs.ts";
import { amounts, operatorLabels, secretKeys, secrets, words } from "./pod.ts";
import { scratch } from "./scratch.ts";
import type { Subject } from "./subject.ts";

export const driverConfs = (subject: Subject): Pair[] => {
  const { spec } = subject;
  const { driver } = spec;
  return [
    ...operatorLabels("driver", subject),
    ...amounts("driver", driver, spec),
    ...given("spark.driver.extraJavaOptions", driver.javaOptions),
    ...given("spark.kubernetes.driver.master", driver.kubernetesMaster),
    ...words("driver", driver, subject),
    ...each("spark.kubernetes.driver.service.label.", driver.serviceLabels),
    ...each("spark.kubernetes.driver.service.annotation.", driver.serviceAnnotations),
    ...secretKeys("driver", driver),
    ...each("spark.kubernetes.driverEnv.", driver.envVars),
    ...secrets("driver", driver),
    ...scratch("driver", spec),
  ];
};
