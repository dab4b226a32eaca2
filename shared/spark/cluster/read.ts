/** Reads the spec of Apache's SparkCluster: limits, types, and the rules without which none of its objects could exist. */
import { labelErrors } from "../../kube/names.ts";
import { specReader } from "../apache/spec/reader.ts";
import { versionRules, versionWarnings } from "../apache/spec/versions.ts";
import { type ClusterSpec, clusterLimits, clusterSpecSchema } from "./schema.ts";

/** Longest name, characters: a label of the pods of StatefulSet `NAME-worker` adds eleven to that. */
const longestName = 45;

const nameRules = (name: string): readonly string[] =>
  labelErrors(name).length === 0 && name.length <= longestName
    ? []
    : [
        `metadata.name ${JSON.stringify(name)} is also a label and the start of the names of Services: use at most ${longestName} lower case letters, digits and "-", and no "-" at its ends`,
      ];

/** An autoscaler needs bounds in their order, with at least one worker. */
const workerRules = ({ clusterTolerations: { instanceConfig } }: ClusterSpec): readonly string[] => {
  const { minWorkers, maxWorkers } = instanceConfig;
  return minWorkers < maxWorkers && minWorkers < 1
    ? ["spec.clusterTolerations.instanceConfig.minWorkers: an autoscaler keeps at least 1 worker; write 1 or more"]
    : [];
};

const warningsOf = ({ runtimeVersions, clusterTolerations: { instanceConfig } }: ClusterSpec): readonly string[] => {
  const { initWorkers, minWorkers, maxWorkers } = instanceConfig;
  return [
    ...versionWarnings(runtimeVersions),
    ...(minWorkers > maxWorkers || initWorkers > Math.max(maxWorkers, minWorkers)
      ? [
          `spec.clusterTolerations.instanceConfig: it starts with initWorkers, ${initWorkers}, and no autoscaler keeps it between ${minWorkers} and ${maxWorkers}`,
        ]
      : []),
  ];
};

const rulesOf = (name: string, spec: ClusterSpec): readonly string[] => [
  ...nameRules(name),
  ...versionRules(spec.runtimeVersions),
  ...workerRules(spec),
];

export const readCluster = specReader({ limits: clusterLimits, schema: clusterSpecSchema, rulesOf, warningsOf });
