/** `spec.runtimeVersions`, which both kinds of `spark.apache.org` have. */
import * as z from "zod";
import { isLabelValue } from "../../../core/object.ts";
import type { Limit } from "../../../kube/limits.ts";

export const versionsSchema = z.looseObject({
  sparkVersion: z.string(),
  scalaVersion: z.string().optional(),
  jdkVersion: z.string().optional(),
});

type Versions = z.infer<typeof versionsSchema>;

export const versionLimits: readonly Limit[] = ["sparkVersion", "scalaVersion", "jdkVersion"].map((name) => ({
  field: `runtimeVersions.${name}`,
  characters: 63,
  why: "a version is the value of a label",
}));

export const versionRules = ({ sparkVersion }: Versions): readonly string[] =>
  sparkVersion !== "" && isLabelValue(sparkVersion)
    ? []
    : [
        `spec.runtimeVersions.sparkVersion ${JSON.stringify(sparkVersion)} becomes a label of pods: write a version such as "4.2.0"`,
      ];

export const versionWarnings = (versions: Versions): readonly string[] =>
  (["scalaVersion", "jdkVersion"] as const)
    .filter((name) => versions[name] !== undefined)
    .map((name) => `spec.runtimeVersions.${name} has no effect: the image decides it`);
