/** The differences between the submission clients of Spark versions, as a table; later versions extend earlier ones. */

export type Rules = {
  /** The driver offers the Spark Connect port: "named" with its protocol for meshes. */
  readonly connectPort: "none" | "plain" | "named";
  /** `{{APP_ID}}` is replaced in labels too, not only in annotations. */
  readonly idsInLabels: boolean;
  /** `{{SPARK_VERSION}}` is replaced in image names. */
  readonly versionInImage: boolean;
  /** Volumes have `mount.subPathExpr`, hostPath types, labels and annotations of claims; sizes are checked. */
  readonly richVolumes: boolean;
  /** `spark.driver.minMemoryOverhead` is read; before, it is always 384 MiB. */
  readonly minOverheadConf: boolean;
  /** `spark.kubernetes.driver.pod.excludedFeatureSteps` is read. */
  readonly excludableSteps: boolean;
  /** Executors take their grace period from a conf and overwrite the template's. */
  readonly executorGraceConf: boolean;
  /** Executors accept connections from their own application only: the submission creates a NetworkPolicy. */
  readonly networkPolicy: boolean;
  /** Both roles' containers get `allowPrivilegeEscalation`, and the driver's service `publishNotReadyAddresses`. */
  readonly securityContext: boolean;
  /** Claims are ReadWriteOnce, unless a conf says otherwise; in later versions ReadWriteOncePod. */
  readonly claimsPerNode: boolean;
  /** Sizes may be written with `Ki`, `Mi` and so on. */
  readonly binaryUnits: boolean;
  readonly executors: ExecutorRules;
};

export type ExecutorRules = {
  /** Executors connect to the driver pod's IP unless a conf says otherwise; undefined where no conf exists. */
  readonly callPodIp: boolean | undefined;
  /** Executors get TLS confs on the command line, and the ids that their log page needs. */
  readonly tlsAndLogs: boolean;
  /** A cpu limit below the request is refused. */
  readonly limited: boolean;
  /** `spark.kubernetes.allocation.maximum` is read. */
  readonly maximum: boolean;
  /** Executors can be resized while they run, get a library path, and run a single task in recovery mode. */
  readonly resizable: boolean;
  /** Options of every executor's JVM, between the user's default and extra options. */
  readonly javaOptions: readonly string[];
};

const opened = [
  ...[
    "lang",
    "lang.invoke",
    "lang.reflect",
    "io",
    "net",
    "nio",
    "util",
    "util.concurrent",
    "util.concurrent.atomic",
  ].map((name) => `java.base/java.${name}`),
  ...["jdk.internal.ref", "sun.nio.ch", "sun.nio.cs", "sun.security.action", "sun.util.calendar"].map(
    (name) => `java.base/${name}`,
  ),
  "java.security.jgss/sun.security.krb5",
].map((name) => `--add-opens=${name}=ALL-UNNAMED`);

const lenient = "-XX:+IgnoreUnrecognizedVMOptions";
const direct = "-Djdk.reflect.useDirectMethodHandle=false";
const vectors = "--add-modules=jdk.incubator.vector";
const reflective = "-Dio.netty.tryReflectionSetAccessible=true";
const netty = ["-Dio.netty.allocator.type=pooled", "-Dio.netty.handler.ssl.defaultEndpointVerificationAlgorithm=NONE"];
const native = "--enable-native-access=ALL-UNNAMED";

const spark35: Rules = {
  connectPort: "none",
  idsInLabels: false,
  versionInImage: false,
  richVolumes: false,
  minOverheadConf: false,
  excludableSteps: false,
  executorGraceConf: false,
  networkPolicy: false,
  securityContext: false,
  claimsPerNode: true,
  binaryUnits: false,
  executors: {
    callPodIp: undefined,
    tlsAndLogs: false,
    limited: false,
    maximum: false,
    resizable: false,
    javaOptions: [lenient, ...opened, direct],
  },
};

const spark40: Rules = {
  ...spark35,
  idsInLabels: true,
  richVolumes: true,
  minOverheadConf: true,
  claimsPerNode: false,
  executors: { ...spark35.executors, tlsAndLogs: true, javaOptions: [lenient, vectors, ...opened, direct, reflective] },
};

const spark41: Rules = {
  ...spark40,
  connectPort: "plain",
  versionInImage: true,
  excludableSteps: true,
  executorGraceConf: true,
  executors: {
    ...spark40.executors,
    callPodIp: false,
    limited: true,
    maximum: true,
    javaOptions: [...spark40.executors.javaOptions, ...netty, native],
  },
};

const spark42: Rules = {
  ...spark41,
  connectPort: "named",
  networkPolicy: true,
  binaryUnits: true,
  executors: {
    ...spark41.executors,
    resizable: true,
    javaOptions: [
      ...[lenient, vectors, ...opened, reflective, ...netty],
      ...["--sun-misc-unsafe-memory-access=allow", native],
    ],
  },
};

const spark43: Rules = {
  ...spark42,
  securityContext: true,
  executors: { ...spark42.executors, callPodIp: true },
};

const versions: readonly { readonly from: readonly [number, number]; readonly rules: Rules }[] = [
  { from: [4, 3], rules: spark43 },
  { from: [4, 2], rules: spark42 },
  { from: [4, 1], rules: spark41 },
  { from: [4, 0], rules: spark40 },
  { from: [3, 5], rules: spark35 },
];

const numbersOf = (version: string): readonly [number, number] => {
  const [major = 0, minor = 0] = version.split(".").map((part) => Number.parseInt(part, 10) || 0);
  return [major, minor];
};

const rowFor = (version: string): (typeof versions)[number] | undefined => {
  const [major, minor] = numbersOf(version);
  return versions.find(({ from }) => major > from[0] || (major === from[0] && minor >= from[1]));
};

/** The newest known rules that are not above a version; a text that is no version gets the oldest. */
export const rulesFor = (version: string): Rules => rowFor(version)?.rules ?? spark35;

/** Names the version whose rules stand in for an unknown version; undefined for a known one. */
export const standIn = (version: string): string | undefined => {
  const [major, minor] = numbersOf(version);
  const [givenMajor, givenMinor] = rowFor(version)?.from ?? [3, 5];
  if (major === givenMajor && minor === givenMinor) return undefined;
  return `spec.sparkVersion ${version}: its own rules are unknown to this version of Rekindle, so those of Spark ${givenMajor}.${givenMinor} are used`;
};
