/** The labels by which Spark finds its driver, and the user's. */
import type { Conf, Texts } from "../configuration/conf.ts";
import { below } from "../configuration/conf.ts";
import type { Rules } from "../configuration/versions.ts";
import type { Identity } from "./steps/identity.ts";
import { labelOf } from "./steps/identity.ts";
import { withIds } from "./steps/step.ts";

const prefix = "spark.kubernetes.driver.label.";

/** Labels that a user may not set, because Spark identifies its pods by them. */
export const reservedLabels: readonly string[] = [
  "spark-version",
  "spark-app-selector",
  "spark-app-name",
  "spark-role",
];

export const userLabels = (conf: Conf): Texts => below(conf, prefix);

export const driverLabels = (
  submission: { readonly conf: Conf; readonly sparkVersion: string; readonly identity: Identity },
  rules: Rules,
  appName: string,
): Texts => {
  const { conf, identity, sparkVersion } = submission;
  const own = userLabels(conf);
  return {
    ...(rules.idsInLabels ? withIds(own, identity.applicationId) : own),
    "spark-version": sparkVersion,
    "spark-app-selector": identity.applicationId,
    "spark-app-name": labelOf(appName),
    "spark-role": "driver",
  };
};
