/** Each conf of the user's that the driver does not get is told: which, by what, and what to write instead. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { submit } from "../../../../shared/spark/submission/submit.ts";
import { parseProperties } from "../../../proof/compat/properties.ts";
import { good } from "../admission/reviews.ts";

type Texts = Readonly<Record<string, string>>;

const outcome = (sparkConf: Texts, changes: object = {}, annotations: Texts = {}) =>
  submit({
    app: { name: "app", namespace: "team", uid: "00000000-0000-0000-0000-000000000000", annotations },
    spec: { ...good, ...changes, sparkConf },
    ...{ attempt: 1, submittedAt: 0, apiServer: "https://kubernetes.default.svc" },
  });

const made = (sparkConf: Texts, changes?: object, annotations?: Texts) => {
  const found = outcome(sparkConf, changes, annotations);
  if ("refused" in found) throw new Error(found.refused);
  return found;
};

const rich = {
  ...{
    imagePullPolicy: "Always",
    memoryOverheadFactor: "0.2",
    hadoopConf: { "fs.x": "y" },
    nodeSelector: { zone: "a" },
  },
  deps: { jars: ["local:///a.jar"], packages: ["a:b:1"] },
  dynamicAllocation: { enabled: true, initialExecutors: 2, minExecutors: 1, maxExecutors: 4 },
  monitoring: {
    ...{ exposeDriverMetrics: true, exposeExecutorMetrics: true },
    prometheus: { jmxExporterJar: "/prometheus/jmx.jar", port: 8090 },
  },
  driver: {
    cores: 2,
    memory: "1g",
    javaOptions: "-Da=b",
    labels: { team: "a" },
    podName: "own",
    serviceAccount: "spark",
  },
  executor: { cores: 2, memory: "1g", javaOptions: "-Da=b", instances: 2, envVars: { A: "b" } },
};

/** The confs that the driver reads. */
const confsOf = ({ before }: ReturnType<typeof made>): Texts => {
  const files = before.flatMap(({ data }) => Object.entries(data ?? {}));
  return parseProperties(`${files.find(([name]) => name === "spark.properties")?.[1]}`);
};

describe("a conf that the submission replaces", () => {
  /** Whether the driver lacks the user's value of a conf, and whether a note says so; absent: it is refused. */
  const fateOf = (key: string, changes: object) => {
    const found = outcome({ [key]: "7" }, changes);
    if ("refused" in found) return [];
    const isLost = !`${confsOf(found)[key]},`.startsWith("7,");
    const isTold = found.notes().some((note) => note.startsWith(`spec.sparkConf["${key}"] has no effect: `));
    return [{ key, isLost, isTold }];
  };

  for (const changes of [{}, rich]) {
    test(`is told, whichever it is (${Object.keys(changes).length} more fields)`, () => {
      const fates = Object.keys(confsOf(made({}, changes))).flatMap((key) => fateOf(key, changes));
      assert.deepEqual(
        fates.filter(({ isLost, isTold }) => isLost !== isTold),
        [],
      );
      assert.ok(fates.filter(({ isLost }) => isLost).length >= 15);
    });
  }

  const cases: readonly (readonly [string, string, object, string])[] = [
    [
      "spark.kubernetes.executor.podTemplateFile",
      "s3a://b/t.yaml",
      {},
      "Rekindle, which writes the pod templates from the spec, sets it to",
    ],
    [
      "spark.driver.extraJavaOptions",
      "-Dx",
      { driver: { javaOptions: "-Dy" } },
      'a field of spec.driver sets it to "-Dy"; write the value in spec.driver',
    ],
    ["spark.app.name", "mine", {}, 'metadata.name sets it to "app"; name the application so, or remove the conf'],
    ["spark.executor.instances", "3", {}, 'a field of spec.executor sets it to "1"'],
    ["spark.jars.packages", "a:b:1", { deps: { packages: ["c:d:2"] } }, "a field of spec.deps sets it to"],
    ["spark.metrics.conf", "/x", rich, "a field of spec.monitoring sets it to"],
    ["hive.x", "1", {}, "Spark reads only keys that begin with spark."],
    [
      "spark.kubernetes.driver.label.sparkoperator.k8s.io/app-name",
      "x",
      {},
      "Rekindle, which finds its pods by it, sets it to",
    ],
  ];
  for (const [key, value, changes, says] of cases) {
    test(`names its source: ${key}`, () => {
      const notes = made({ [key]: value }, changes).notes();
      assert.ok(
        notes.some((note) => note.includes(key) && note.includes(says)),
        notes.join("\n"),
      );
    });
  }

  const silent: readonly (readonly [string, string, Texts])[] = [
    ["spark.sql.ansi.enabled", "on", {}],
    ["spark.jars", "local:///b.jar, local:///c.jar", {}],
    ["spark.executor.instances", "1", {}],
    ["spark.dynamicAllocation.minExecutors", "1", { "rekindle.dev/executors": "own" }],
  ];
  for (const [key, value, annotations] of silent) {
    test(`is not told where it has its effect: ${key}`, () => {
      assert.deepEqual(
        made({ [key]: value }, {}, annotations)
          .notes()
          .filter((note) => note.includes("has no effect")),
        [],
      );
    });
  }
});
