/** Specs of the wrong shape: B01 to B03, B22, B23, B27 of the catalogue. */
import { changed, inDriver, type Row, refuses, runs } from "./row.ts";

const whole = (name: string, spec: unknown, says: RegExp): Row => ({ name, spec, says, door: "refuses" });

const wholes: readonly Row[] = [
  whole("B01 no spec", undefined, /^spec is missing: add it \(an object\)$/),
  whole("B01 null", null, /^spec must be an object, not null$/),
  whole("B01 a list", [], /^spec must be an object, not an array$/),
  whole("B01 a text", "run it", /^spec must be an object, not a string$/),
  whole("B01 a number", 5, /^spec must be an object, not a number$/),
  whole("B01 true", true, /^spec must be an object, not a boolean$/),
  whole("B01 an empty object", {}, /^spec\.type .*; spec\.sparkVersion is missing.*; and \d more$/),
];

const missing: readonly Row[] = ["sparkVersion", "mainApplicationFile", "driver", "executor"].map((field) =>
  refuses(`B01 no ${field}`, { [field]: undefined }, new RegExp(`^spec\\.${field} is missing: add it`)),
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
    `B03 executor.instances ${text}`,
    { executor: { instances: value } },
    new RegExp(`^spec\\.executor\\.instances ${says.source.replace(/^executor\\\.instances /, "")}`),
  ),
);

const numbers: readonly Row[] = [
  refuses("B03 driver.cores 0", { driver: { cores: 0 } }, /^spec\.driver\.cores must be at least 1$/),
  refuses("B03 driver.cores 1.5", { driver: { cores: 1.5 } }, /^spec\.driver\.cores must be a whole number/),
  refuses(
    "B03 executor.cores text",
    { executor: { cores: "2" } },
    /^spec\.executor\.cores must be a number, not a string$/,
  ),
  refuses(
    "B03 retries below 0",
    { restartPolicy: { type: "OnFailure", onFailureRetries: -1 } },
    /^spec\.restartPolicy\.onFailureRetries must be at least 0$/,
  ),
  refuses(
    "B03 an interval of 0",
    { restartPolicy: { type: "OnFailure", onFailureRetries: 1, onFailureRetryInterval: 0 } },
    /^spec\.restartPolicy\.onFailureRetryInterval must be at least 1$/,
  ),
  refuses(
    "B03 an interval of a submission as text",
    { restartPolicy: { type: "Always", onSubmissionFailureRetryInterval: "5s" } },
    /^spec\.restartPolicy\.onSubmissionFailureRetryInterval must be a number, not a string$/,
  ),
  refuses("B03 a time to live in words", { timeToLiveSeconds: "1h" }, /^spec\.timeToLiveSeconds must be a number/),
  refuses("B03 half a second to live", { timeToLiveSeconds: 0.5 }, /^spec\.timeToLiveSeconds must be a whole number/),
  refuses(
    "B03 a port of the exporter below 1024",
    {
      monitoring: {
        ...{ exposeDriverMetrics: true, exposeExecutorMetrics: true },
        prometheus: { jmxExporterJar: "/a.jar", port: 80 },
      },
    },
    /^spec\.monitoring\.prometheus\.port must be at least 1024$/,
  ),
  refuses(
    "B03 shuffle tracking for half a millisecond",
    { dynamicAllocation: { enabled: true, shuffleTrackingTimeout: 0.5 } },
    /^spec\.dynamicAllocation\.shuffleTrackingTimeout must be a whole number/,
  ),
  runs("B03 a time to live below 0 is over at once", { timeToLiveSeconds: -1 }, () => true),
];

const kinds: readonly Row[] = [
  refuses("B27 type in lower case", { type: "scala" }, /^spec\.type must be one of Java, Python, Scala, R$/),
  refuses("B27 an unknown type", { type: "Cobol" }, /^spec\.type must be one of/),
  refuses("B27 an unknown mode", { mode: "yarn" }, /^spec\.mode must be one of cluster, client$/),
  refuses("B27 pythonVersion 4", { pythonVersion: "4" }, /^spec\.pythonVersion must be one of 2, 3$/),
  refuses(
    "B27 sparkVersion without quotes",
    { sparkVersion: 4.1 },
    /^spec\.sparkVersion must be a string, not a number: put it in quotes$/,
  ),
  refuses("B27 suspend: yes", { suspend: "yes" }, /^spec\.suspend must be a boolean, not a string$/),
  refuses(
    "B27 a restart policy of its own",
    { restartPolicy: { type: "Sometimes" } },
    /^spec\.restartPolicy\.type must be one of Never, Always, OnFailure$/,
  ),
  refuses(
    "B27 a restart policy as text",
    { restartPolicy: "Never" },
    /^spec\.restartPolicy must be an object, not a string$/,
  ),
  refuses(
    "B27 a conf that is a number",
    { sparkConf: { "spark.ui.port": 4040 } },
    /^spec\.sparkConf\["spark\.ui\.port"\] must be a string, not a number: put it in quotes$/,
  ),
  refuses(
    "B27 a conf that is true",
    { sparkConf: { "spark.eventLog.enabled": true } },
    /must be a string, not a boolean: put it in quotes$/,
  ),
  refuses(
    "B27 a conf that is nothing",
    { sparkConf: { "spark.x": null } },
    /^spec\.sparkConf\["spark\.x"\] must be a string, not null$/,
  ),
  refuses("B27 confs as a list", { sparkConf: ["spark.x=1"] }, /^spec\.sparkConf must be an object, not an array$/),
  refuses(
    "B27 a Hadoop conf that is a number",
    { hadoopConf: { "fs.x": 1 } },
    /^spec\.hadoopConf\["fs\.x"\] must be a string/,
  ),
  refuses(
    "B27 arguments that are numbers",
    { arguments: [1, 2] },
    /^spec\.arguments\[0\] must be a string, not a number: put it in quotes; spec\.arguments\[1\]/,
  ),
  refuses("B27 arguments in one text", { arguments: "a b" }, /^spec\.arguments must be an array, not a string$/),
  refuses(
    "B27 jars in one text",
    { deps: { jars: "a.jar,b.jar" } },
    /^spec\.deps\.jars must be an array, not a string$/,
  ),
  refuses("B27 volumes by name", { volumes: ["data"] }, /^spec\.volumes\[0\] must be an object, not a string$/),
  refuses("B27 env as pairs", { driver: { env: "A=B" } }, /^spec\.driver\.env must be an array, not a string$/),
  refuses(
    "B27 a node selector that is a list",
    { nodeSelector: [] },
    /^spec\.nodeSelector must be an object, not an array$/,
  ),
  refuses(
    "B27 labels that are numbers",
    { driver: { labels: { a: 1 } } },
    /^spec\.driver\.labels\.a must be a string, not a number: put it in quotes$/,
  ),
  refuses(
    "B27 a proxy user by number",
    { proxyUser: 1000 },
    /^spec\.proxyUser must be a string, not a number: put it in quotes$/,
  ),
  refuses("B27 a driver that is a list", { driver: [] }, /^spec\.driver must be an object, not an array$/),
  refuses(
    "B27 a secret without its type",
    { driver: { secrets: [{ name: "a", path: "/a" }] } },
    /^spec\.driver\.secrets\[0\]\.secretType is missing/,
  ),
  refuses(
    "B27 a config map without a path",
    { executor: { configMaps: [{ name: "a" }] } },
    /^spec\.executor\.configMaps\[0\]\.path is missing/,
  ),
  refuses(
    "B27 a port without a name",
    { driver: { ports: [{ containerPort: 80, protocol: "TCP" }] } },
    /^spec\.driver\.ports\[0\]\.name is missing/,
  ),
  refuses(
    "B27 a driver's ingress without a port",
    { driverIngressOptions: [{ ingressURLFormat: "a" }] },
    /^spec\.driverIngressOptions\[0\]\.servicePort is missing/,
  ),
];

const others: readonly Row[] = [
  runs(
    "B02 unknown fields are kept",
    { future: { field: [1] }, driver: { memory: "1g", newField: 1 } },
    (made) => inDriver(made, "metadata", "name") === '"app-driver"',
  ),
  {
    ...runs("B22 times of the far future in a status", {}, () => true),
    status: { applicationState: { state: "" }, lastSubmissionAttemptTime: "9999-12-31T23:59:59Z" },
  },
  {
    ...runs("B23 a status of nobody's", {}, () => true),
    status: { applicationState: { state: "NONSENSE" }, driverInfo: 5 },
  },
  { ...runs("B23 a status that is a text", {}, () => true), status: "RUNNING" },
  refuses(
    "B08 a million arguments that are numbers",
    { arguments: Array.from({ length: 1_000_000 }, () => 1) },
    /^spec holds more than 50,000 values/,
  ),
  refuses(
    "B08 100,000 variables",
    { driver: { env: Array.from({ length: 100_000 }, () => ({ name: "V" })) } },
    /^spec holds more than 50,000 values/,
  ),
  refuses(
    "B08 40,000 arguments that are numbers",
    { arguments: Array.from({ length: 40_000 }, () => 1) },
    /^spec\.arguments holds 40000 entries: keep at most 10000/,
  ),
  refuses(
    "B08 10,000 arguments that are numbers",
    { arguments: Array.from({ length: 10_000 }, () => 1) },
    /^spec\.arguments\[0\] must be a string.*; and 9997 more$/,
  ),
  {
    name: "B08 5,000 objects within each other",
    spec: changed({ driver: { template: JSON.parse(`${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`) } }),
    says: /^spec holds more than 50,000 values/,
    door: "refuses",
  },
];

export const shapes: readonly Row[] = [...wholes, ...missing, ...instances, ...numbers, ...kinds, ...others];
