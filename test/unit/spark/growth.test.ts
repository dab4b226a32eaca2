/**
 * Work grows in proportion to a spec's text, in admission and in reconcile: a text of eight times the length takes
 * about eight times as long.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertLinear } from "../../support/growth.ts";
import { creating, good, said } from "./admission/reviews.ts";
import { storedOf, walk } from "./input/path.ts";

type Spec = Readonly<Record<string, unknown>>;

const conf = (sparkConf: Readonly<Record<string, string>>): Spec => ({ ...good, sparkConf });

const numbered = (n: number, pair: (at: number) => readonly (readonly [string, string])[]): Spec =>
  conf(Object.fromEntries(Array.from({ length: n }, (_, at) => pair(at)).flat()));

const secret = (path: string): Spec => ({
  ...good,
  driver: { secrets: [{ name: "s", path, secretType: "GCPServiceAccount" }] },
});

const key = (text: string): Spec => ({
  ...good,
  driver: { envSecretKeyRefs: { A: { name: "s", key: text } } },
});

const volume = (role: string, at: number): readonly (readonly [string, string])[] => {
  const start = `spark.kubernetes.${role}.volumes.hostPath.v${at}`;
  return [
    [`${start}.mount.path`, `/v${at}`],
    [`${start}.options.path`, `/v${at}`],
  ];
};

const ports = (n: number): readonly object[] =>
  Array.from({ length: n }, (_, at) => ({ name: "p".repeat(1 + (at % 15)), containerPort: at + 1, protocol: "TCP" }));

const env = (n: number): readonly object[] =>
  Array.from({ length: n }, (_, at) => ({ name: `V${at}`, value: `$(V${n - 1})` }));

const distinct = (n: number): readonly object[] =>
  Array.from({ length: n }, (_, at) => ({ name: `V${at}`, value: "x".repeat(60) }));

const rows: readonly (readonly [why: string, n: number, spec: (n: number) => Spec])[] = [
  ["references that never end", 1_000, (n) => conf({ "spark.x": "${spark.".repeat(n) })],
  ["references to one conf", 800, (n) => conf({ "spark.x": `$\{spark.y}`.repeat(n), "spark.y": "1" })],
  ["chains of references", 250, (n) => numbered(n, (at) => [[`spark.b${at}`, `$\{spark.b${at + 1}}`.repeat(2)]])],
  ["slashes in a secret's path", 500, (n) => secret(`${"/".repeat(n)}x`)],
  ["colons in a secret's key", 30, (n) => key(`${":".repeat(n)}x`)],
  ["volumes of the driver by conf", 125, (n) => numbered(n, (at) => volume("driver", at))],
  ["volumes of executors by conf", 125, (n) => numbered(n, (at) => volume("executor", at))],
  ["ports with one name", 100, (n) => ({ ...good, driver: { ...good.driver, ports: ports(n) } })],
  ["variables that refer to the last", 100, (n) => ({ ...good, executor: { ...good.executor, env: env(n) } })],
  ["wrong arguments", 6_000, (n) => ({ ...good, arguments: Array.from({ length: n }, () => 1) })],
  ["the name of a pod", 100_000, (n) => ({ ...good, driver: { ...good.driver, podName: "A".repeat(n) } })],
  ["a size", 100_000, (n) => ({ ...good, driver: { ...good.driver, memory: "1".repeat(n) } })],
  ["a ratio", 100_000, (n) => ({ ...good, memoryOverheadFactor: "1".repeat(n) })],
  ["variables of the driver", 1_000, (n) => ({ ...good, driver: { ...good.driver, env: distinct(n) } })],
  ["secrets by conf", 250, (n) => numbered(n, (at) => [[`spark.kubernetes.driver.secrets.s${at}`, `/s${at}`]])],
];

describe("the work for a SparkApplication grows linearly with its text", () => {
  for (const [why, n, spec] of rows) {
    test(`${why}: in admission`, () => assertLinear(n, spec, (given) => said(creating("SparkApplication", given))));
    test(`${why}: in a step`, () => assertLinear(n, spec, (given) => walk(storedOf({ spec: given }, 1))));
  }
});

describe("confs whose references double", () => {
  const spec = numbered(30, (at) => [[`spark.b${at}`, `$\{spark.b${at + 1}}`.repeat(2)]]);
  const says = /spark\.b\d+: its references make more than 1048576 characters/;
  const doubling = { ...spec, sparkConf: { ...Object(spec["sparkConf"]), "spark.b30": "x" } };

  test("lead to a warning of admission with the conf's name", () => {
    assert.match(said(creating("SparkApplication", doubling)), says);
  });

  test("lead to an error in the status, and no object is created", () => {
    const { made, error } = walk(storedOf({ spec: doubling }, 1));
    assert.equal(made, undefined);
    assert.match(error, says);
  });
});
