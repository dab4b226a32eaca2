/** Bad ScheduledSparkApplications and SparkConnects. */
import { good } from "../admission/reviews.ts";

type Fields = Readonly<Record<string, unknown>>;

export type KindRow = {
  readonly name: string;
  readonly kind: "ScheduledSparkApplication" | "SparkConnect";
  readonly spec: unknown;
  readonly metadata: Fields;
  /** The message of admission, as a refusal or a warning, and in the status. */
  readonly says: RegExp;
};

export const goodSchedule: Fields = { schedule: "@every 5m", template: good };

const schedule = (name: string, changes: Fields, says: RegExp, named = "nightly"): KindRow => ({
  ...{ name, says, kind: "ScheduledSparkApplication", metadata: { name: named } },
  spec: { ...goodSchedule, ...changes },
});

const crons: readonly (readonly [string, string])[] = [
  ["nothing", ""],
  ["blanks", "   "],
  ["a word", "whenever"],
  ["four fields", "* * * *"],
  ["six fields", "0 0 0 * * *"],
  ["an ISO duration", "P1Y"],
  ["every -5m", "@every -5m"],
  ["every 1e9h", "@every 1e9h"],
  ["every so often", "@every sometimes"],
  ["30 February", "0 0 30 2 *"],
  ["minute 60", "60 * * * *"],
  ["hour 24", "0 24 * * *"],
  ["a step of 0", "*/0 * * * *"],
  ["a range backwards", "30-10 * * * *"],
  ["full-width digits", "５ * * * *"],
  ["a line break", "* * *\n* *x"],
  ["100,000 characters", "1,".repeat(50_000)],
];

const schedules: readonly KindRow[] = [
  ...crons.map(([what, text]) => schedule(`a schedule of ${what}`, { schedule: text }, /^spec\.schedule/)),
  schedule("no schedule", { schedule: undefined }, /^spec\.schedule is missing: add it \(a string\)$/),
  schedule("a schedule by number", { schedule: 5 }, /^spec\.schedule must be a string, not a number/),
  schedule("a time zone by path", { timeZone: "../../etc/passwd" }, /[Tt]ime ?[Zz]one/),
  schedule("a time zone of nowhere", { timeZone: "Mars/Olympus" }, /[Tt]ime ?[Zz]one/),
  schedule("a policy of its own", { concurrencyPolicy: "Queue" }, /^spec\.concurrencyPolicy must be /),
  schedule("a limit as text", { successfulRunHistoryLimit: "3" }, /^spec\.successfulRunHistoryLimit must be a number/),
  schedule("a name too long for its runs'", {}, /^metadata\.name is 60 characters long/, "a".repeat(60)),
];

export const goodConnect: Fields = { sparkVersion: "4.1.1", image: "spark:4.1.1", server: {}, executor: {} };

const connect = (name: string, changes: Fields, says: RegExp, named = "connect"): KindRow => ({
  ...{ name, says, kind: "SparkConnect", metadata: { name: named } },
  spec: { ...goodConnect, ...changes },
});

const whole = (name: string, spec: unknown, says: RegExp): KindRow => ({
  ...{ name, spec, says, kind: "SparkConnect", metadata: { name: "connect" } },
});

const deep: unknown = JSON.parse(`${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`);

const connects: readonly KindRow[] = [
  whole("no spec of a SparkConnect", undefined, /^spec is missing/),
  whole("a list for a SparkConnect", [], /^spec must be an object, not an array$/),
  connect("no server", { server: undefined }, /^spec\.server is missing/),
  connect("no executor", { executor: undefined }, /^spec\.executor is missing/),
  connect("no version", { sparkVersion: "" }, /^spec\.sparkVersion is empty/),
  connect("a version without quotes", { sparkVersion: 4.1 }, /^spec\.sparkVersion must be a string, not a number/),
  connect("a server's size", { server: { memory: "1Gi" } }, /^spec\.server\.memory: "1Gi" is not a size/),
  connect("executors' size", { executor: { memory: "1.5g" } }, /^spec\.executor\.memory: "1\.5g" is not a size/),
  connect(
    "fewer executors than none",
    { executor: { instances: -1 } },
    /^spec\.executor\.instances must be at least 0$/,
  ),
  connect("no image", { image: undefined }, /^image is not specified: set spec\.image/),
  connect("a master", { sparkConf: { "spark.master": "x" } }, /^sparkConf key "spark\.master" is not allowed/),
  connect(
    "another namespace",
    { sparkConf: { "spark.kubernetes.namespace": "x" } },
    /^sparkConf key "spark\.kubernetes\.namespace"/,
  ),
  connect(
    "bounds",
    { dynamicAllocation: { enabled: true, minExecutors: 3, maxExecutors: 2 } },
    /minExecutors \(3\) is greater/,
  ),
  connect("a template of Spark 2", { sparkVersion: "2.4.8", server: { template: {} } }, /^spec\.sparkVersion 2\.4\.8/),
  connect("5,000 objects within each other", { server: { template: deep } }, /^spec holds more than 50,000 values/),
  connect("dots", {}, /^metadata\.name "a\.b" must start/, "a.b"),
  connect("57 characters", {}, /^metadata\.name is 57 characters long/, "a".repeat(57)),
];

export const kindRows: readonly KindRow[] = [...schedules, ...connects];
