/** Specs of the wrong shape: missing, of another type, too deep, or too many. */
import { changed, enlarged, inDriver, type Row, refuses, runs } from "./row.ts";

const whole = (name: string, spec: unknown, says: RegExp): Row => ({ name, spec, says, door: "refuses" });

const wholes: readonly Row[] = [
  whole("no spec", undefined, /^spec is missing: add it \(an object\)$/),
  whole("null", null, /^spec must be an object, not null$/),
  whole("a list", [], /^spec must be an object, not an array$/),
  whole("a text", "run it", /^spec must be an object, not a string$/),
  whole("a number", 5, /^spec must be an object, not a number$/),
  whole("true", true, /^spec must be an object, not a boolean$/),
  whole("an empty object", {}, /^spec\.type .*; spec\.sparkVersion is missing.*; spec\.executor is missing/),
];

const missing: readonly Row[] = ["sparkVersion", "mainApplicationFile", "driver", "executor"].map((field) =>
  refuses(`no ${field}`, { [field]: undefined }, new RegExp(`^spec\\.${field} is missing: add it`)),
);

/** Some of these values have no form in JSON: they are what a parser makes of one. */
const counts: readonly (readonly [string, unknown, RegExp])[] = [
  ["0", 0, /must be at least 1$/],
  ["-1", -1, /must be at least 1$/],
  ["2^31", 2 ** 31, /is 2147483648: write at most 20000, because each step looks at every executor$/],
  ["20,001", 20_001, /is 20001: write at most 20000/],
  ["2^53+1", 2 ** 53 + 1, /executor\.instances must be/],
  ["1e309", JSON.parse("1e309"), /executor\.instances must be/],
  ["NaN", Number.NaN, /executor\.instances must be/],
  ['"3"', "3", /must be a number, not a string$/],
  ["3.7", 3.7, /must be a whole number/],
  ["true", true, /must be a number, not a boolean$/],
  ["null", null, /must be a number, not null$/],
  ["a list", [3], /must be a number, not an array$/],
];

const instances: readonly Row[] = counts.map(([text, value, says]) =>
  refuses(
    `executor.instances ${text}`,
    { executor: { instances: value } },
    new RegExp(`^spec\\.executor\\.instances ${says.source.replace(/^executor\\\.instances /, "")}`),
  ),
);

const numbers: readonly Row[] = [
  refuses("driver.cores 0", { driver: { cores: 0 } }, /^spec\.driver\.cores must be at least 1$/),
  refuses("driver.cores 1.5", { driver: { cores: 1.5 } }, /^spec\.driver\.cores must be a whole number/),
  refuses(
    "executor.cores text",
    { executor: { cores: "2" } },
    /^spec\.executor\.cores must be a number, not a string$/,
  ),
  refuses(
    "retries below 0",
    { restartPolicy: { type: "OnFailure", onFailureRetries: -1 } },
    /^spec\.restartPolicy\.onFailureRetries must be at least 0$/,
  ),
  refuses(
    "an interval of 0",
    { restartPolicy: { type: "OnFailure", onFailureRetries: 1, onFailureRetryInterval: 0 } },
    /^spec\.restartPolicy\.onFailureRetryInterval must be at least 1$/,
  ),
  refuses(
    "an interval of a submission as text",
    { restartPolicy: { type: "Always", onSubmissionFailureRetryInterval: "5s" } },
    /^spec\.restartPolicy\.onSubmissionFailureRetryInterval must be a number, not a string$/,
  ),
  refuses("a time to live in words", { timeToLiveSeconds: "1h" }, /^spec\.timeToLiveSeconds must be a number/),
  refuses("half a second to live", { timeToLiveSeconds: 0.5 }, /^spec\.timeToLiveSeconds must be a whole number/),
  refuses(
    "a port of the exporter below 1024",
    {
      monitoring: {
        ...{ exposeDriverMetrics: true, exposeExecutorMetrics: true },
        prometheus: { jmxExporterJar: "/a.jar", port: 80 },
      },
    },
    /^spec\.monitoring\.prometheus\.port must be at least 1024$/,
  ),
  refuses(
    "shuffle tracking for half a millisecond",
    { dynamicAllocation: { enabled: true, shuffleTrackingTimeout: 0.5 } },
    /^spec\.dynamicAllocation\.shuffleTrackingTimeout must be a whole number/,
  ),
  runs("a time to live below 0 is over at once", { timeToLiveSeconds: -1 }, () => true),
];

const kinds: readonly Row[] = [
  refuses("type in lower case", { type: "scala" }, /^spec\.type must be one of Java, Python, Scala, R$/),
  refuses("an unknown type", { type: "Cobol" }, /^spec\.type must be one of/),
  refuses("an unknown mode", { mode: "yarn" }, /^spec\.mode must be one of cluster, client$/),
  refuses("pythonVersion 4", { pythonVersion: "4" }, /^spec\.pythonVersion must be one of 2, 3$/),
  refuses(
    "sparkVersion without quotes",
    { sparkVersion: 4.1 },
    /^spec\.sparkVersion must be a string, not a number: put it in quotes$/,
  ),
  refuses("suspend: yes", { suspend: "yes" }, /^spec\.suspend must be a boolean, not a string$/),
  refuses(
    "a restart policy of its own",
    { restartPolicy: { type: "Sometimes" } },
    /^spec\.restartPolicy\.type must be one of Never, Always, OnFailure$/,
  ),
  refuses(
    "a restart policy as text",
    { restartPolicy: "Never" },
    /^spec\.restartPolicy must be an object, not a string$/,
  ),
  refuses(
    "a conf that is a number",
    { sparkConf: { "spark.ui.port": 4040 } },
    /^spec\.sparkConf\["spark\.ui\.port"\] must be a string, not a number: put it in quotes$/,
  ),
  refuses(
    "a conf that is true",
    { sparkConf: { "spark.eventLog.enabled": true } },
    /must be a string, not a boolean: put it in quotes$/,
  ),
  refuses(
    "a conf that is nothing",
    { sparkConf: { "spark.x": null } },
    /^spec\.sparkConf\["spark\.x"\] must be a string, not null$/,
  ),
  refuses("confs as a list", { sparkConf: ["spark.x=1"] }, /^spec\.sparkConf must be an object, not an array$/),
  refuses(
    "a Hadoop conf that is a number",
    { hadoopConf: { "fs.x": 1 } },
    /^spec\.hadoopConf\["fs\.x"\] must be a string/,
  ),
  refuses(
    "arguments that are numbers",
    { arguments: [1, 2] },
    /^spec\.arguments\[0\] must be a string, not a number: put it in quotes; spec\.arguments\[1\]/,
  ),
  refuses("arguments in one text", { arguments: "a b" }, /^spec\.arguments must be an array, not a string$/),
  refuses("jars in one text", { deps: { jars: "a.jar,b.jar" } }, /^spec\.deps\.jars must be an array, not a string$/),
  refuses("volumes by name", { volumes: ["data"] }, /^spec\.volumes\[0\] must be an object, not a string$/),
  refuses("env as pairs", { driver: { env: "A=B" } }, /^spec\.driver\.env must be an array, not a string$/),
  refuses(
    "a node selector that is a list",
    { nodeSelector: [] },
    /^spec\.nodeSelector must be an object, not an array$/,
  ),
  refuses(
    "labels that are numbers",
    { driver: { labels: { a: 1 } } },
    /^spec\.driver\.labels\.a must be a string, not a number: put it in quotes$/,
  ),
  refuses(
    "a proxy user by number",
    { proxyUser: 1000 },
    /^spec\.proxyUser must be a string, not a number: put it in quotes$/,
  ),
  refuses("a driver that is a list", { driver: [] }, /^spec\.driver must be an object, not an array$/),
  refuses(
    "a secret without its type",
    { driver: { secrets: [{ name: "a", path: "/a" }] } },
    /^spec\.driver\.secrets\[0\]\.secretType is missing/,
  ),
  refuses(
    "a config map without a path",
    { executor: { configMaps: [{ name: "a" }] } },
    /^spec\.executor\.configMaps\[0\]\.path is missing/,
  ),
  refuses(
    "a port without a name",
    { driver: { ports: [{ containerPort: 80, protocol: "TCP" }] } },
    /^spec\.driver\.ports\[0\]\.name is missing/,
  ),
  refuses(
    "a driver's ingress without a port",
    { driverIngressOptions: [{ ingressURLFormat: "a" }] },
    /^spec\.driverIngressOptions\[0\]\.servicePort is missing/,
  ),
];

const others: readonly Row[] = [
  runs(
    "unknown fields are kept",
    { future: { field: [1] }, driver: { memory: "1g", newField: 1 } },
    (made) => inDriver(made, "metadata", "name") === '"app-driver"',
  ),
  {
    ...runs("times of the far future in a status", {}, () => true),
    status: { applicationState: { state: "" }, lastSubmissionAttemptTime: "9999-12-31T23:59:59Z" },
  },
  {
    ...runs("a status of nobody's", {}, () => true),
    status: { applicationState: { state: "NONSENSE" }, driverInfo: 5 },
  },
  { ...runs("a status that is a text", {}, () => true), status: "RUNNING" },
];

const large: readonly Row[] = [
  refuses(
    "a million arguments that are numbers",
    { arguments: Array.from({ length: 1_000_000 }, () => 1) },
    /^spec holds more than 50,000 values/,
  ),
  refuses(
    "100,000 variables",
    { driver: { env: Array.from({ length: 100_000 }, () => ({ name: "V" })) } },
    /^spec holds more than 50,000 values/,
  ),
  refuses(
    "40,000 arguments that are numbers",
    { arguments: Array.from({ length: 40_000 }, () => 1) },
    /^spec\.arguments holds 40000 entries: keep at most 10000/,
  ),
  refuses(
    "10,000 arguments that are numbers",
    { arguments: Array.from({ length: 10_000 }, () => 1) },
    /^spec\.arguments\[0\] must be a string.*; and 9988 more$/,
  ),
  {
    name: "5,000 objects within each other",
    spec: changed({ driver: { template: JSON.parse(`${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`) } }),
    says: /^spec holds more than 50,000 values/,
    door: "refuses",
  },
];

export const shapes: readonly Row[] = [
  ...wholes,
  ...missing,
  ...instances,
  ...numbers,
  ...kinds,
  ...others,
  ...large.map(enlarged),
];
