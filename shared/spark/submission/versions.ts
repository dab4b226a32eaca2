/** What one Spark version's own submission client does differently from another's: a table, newest rules last. */

export type Rules = {
  /** The driver offers the Spark Connect port: "named" with its protocol for meshes. */
  readonly connectPort: "none" | "plain" | "named";
  /** `{{APP_ID}}` is filled into labels too, not only into annotations. */
  readonly idsInLabels: boolean;
  /** `{{SPARK_VERSION}}` is filled into image names. */
  readonly versionInImage: boolean;
  /** Volumes know `mount.subPathExpr`, hostPath types, labels and annotations of claims, and sizes are checked. */
  readonly richVolumes: boolean;
  /** `spark.driver.minMemoryOverhead` is read; before, it is always 384 MiB. */
  readonly minOverheadConf: boolean;
  /** `spark.kubernetes.driver.pod.excludedFeatureSteps` is read. */
  readonly excludableSteps: boolean;
  /** Executors take their grace period from a conf and overwrite the template's. */
  readonly executorGraceConf: boolean;
  /** Executors are shielded by a NetworkPolicy, the driver's container by its security context. */
  readonly shielded: boolean;
};

const spark35: Rules = {
  connectPort: "none",
  idsInLabels: false,
  versionInImage: false,
  richVolumes: false,
  minOverheadConf: false,
  excludableSteps: false,
  executorGraceConf: false,
  shielded: false,
};

const spark40: Rules = { ...spark35, idsInLabels: true, richVolumes: true, minOverheadConf: true };

const spark41: Rules = {
  ...spark40,
  connectPort: "plain",
  versionInImage: true,
  excludableSteps: true,
  executorGraceConf: true,
};

const spark43: Rules = { ...spark41, connectPort: "named", shielded: true };

const known: readonly { readonly from: readonly [number, number]; readonly rules: Rules }[] = [
  { from: [4, 3], rules: spark43 },
  { from: [4, 1], rules: spark41 },
  { from: [4, 0], rules: spark40 },
  { from: [0, 0], rules: spark35 },
];

/** The newest known rules that are not above a version; what is no version at all gets the oldest. */
export const rulesFor = (version: string): Rules => {
  const [major = 0, minor = 0] = version.split(".").map((part) => Number.parseInt(part, 10) || 0);
  const row = known.find(({ from }) => major > from[0] || (major === from[0] && minor >= from[1]));
  return row?.rules ?? spark35;
};
