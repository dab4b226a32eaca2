/** The comparison leaves out ids, instants and the order of maps, and nothing else. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { dataDir, skipWithoutData } from "../../support/data.ts";
import type { Json } from "./compare.ts";
import { differences, isRecord } from "./compare.ts";
import { normal } from "./normal.ts";
import { ofApplication, ofDriver } from "./ownership.ts";
import { subtracted } from "./subtracted.ts";

type Path = readonly (string | number)[];

/** Lists the paths of all leaves of a value. */
const leaves = (value: unknown, path: Path = []): readonly Path[] => {
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(isRecord(value) ? value : {});
  return entries.length === 0 ? [path] : entries.flatMap(([key, item]) => leaves(item, [...path, key]));
};

/** Returns the value with a changed leaf. */
const changed = (value: unknown, [key, ...rest]: Path): unknown => {
  if (key === undefined) return "~";
  if (Array.isArray(value)) return value.map((item, at) => (at === key ? changed(item, rest) : item));
  return isRecord(value) ? { ...value, [key]: changed(value[key], rest) } : value;
};

const bodiesOf = (folder: string): readonly Json[] => {
  const all: unknown = JSON.parse(readFileSync(join(dataDir ?? "", folder, "normalized.json"), "utf8"));
  return (Array.isArray(all) ? all : []).flatMap((one: unknown) => {
    const body = isRecord(one) ? one["body"] : undefined;
    return isRecord(body) ? [body] : [];
  });
};

describe("the comparison of recordings", {
  skip: skipWithoutData,
}, () => {
  const folders = [
    "spark-submit/4.1.1/18-template-driver",
    "spark-submit/4.1.1/33-local-dir-volume",
    "spark-submit/4.1.1/44-driver-credentials",
    "spark-submit/3.5.8/01-basic",
    "spark-submit-executors/s411/19-template-both-container-name",
    "spark-submit-executors/s411/09x-exec-pvc-ondemand",
  ];
  for (const folder of folders) {
    test(`sees a change in any place of ${folder}`, () => {
      const bodies = dataDir === undefined ? [] : bodiesOf(folder);
      const unseen = bodies.flatMap((body) =>
        leaves(body)
          .filter((path) => differences(normal(changedObject(body, path)), normal(body)).length === 0)
          .map((path) => path.join("/")),
      );
      assert.ok(bodies.length > 0);
      assert.deepEqual(unseen, []);
    });
  }
});

const changedObject = (body: Json, path: Path): Json => {
  const one = changed(body, path);
  return isRecord(one) ? one : {};
};

const map = (metadata: Json, data: Json = {}): Json => ({ apiVersion: "v1", kind: "ConfigMap", metadata, data });

const pod = { apiVersion: "v1", kind: "Pod", name: "d", uid: "<UUID>", controller: true };
const application = { apiVersion: "sparkoperator.k8s.io/v1beta2", kind: "SparkApplication", name: "a", uid: "<UUID>" };

describe("ownership", () => {
  test("is left aside where it is exactly the driver's, or the application's in its place", () => {
    assert.deepEqual(ofDriver(map({ name: "m", ownerReferences: [pod] }), "d"), map({ name: "m" }));
    const ours = map({ name: "m", ownerReferences: [{ ...application, controller: true }] });
    assert.deepEqual(ofApplication(ours, "a"), map({ name: "m" }));
  });

  const others: readonly (readonly [why: string, owners: unknown])[] = [
    ["of another pod", [{ ...pod, name: "e" }]],
    ["with a field more", [{ ...pod, blockOwnerDeletion: true }]],
    ["beside another", [pod, pod]],
    ["by nobody", undefined],
  ];
  for (const [why, owners] of others) {
    test(`stays where it is ${why}`, () => {
      const object = map({ name: "m", ownerReferences: owners });
      assert.deepEqual(ofDriver(object, "d"), object);
    });
  }
});

describe("what Rekindle adds", () => {
  const kept = "spark.kubernetes.executor.deleteOnTermination";

  test("is taken away, and nothing beside it", () => {
    const labels = { "rekindle.dev/app-uid": "u", "rekindle.dev/attempt": "1", other: "x", "rekindle.dev/more": "y" };
    const object = map({ name: "m", labels }, { "spark.properties": { [kept]: "false", "spark.x": "1" } });
    const plain = map(
      { name: "m", labels: { other: "x", "rekindle.dev/more": "y" } },
      { "spark.properties": { "spark.x": "1" } },
    );
    assert.deepEqual(subtracted(object, "a", new Set()), plain);
  });

  test("stays where the user said it", () => {
    const object = map({ name: "m" }, { "spark.properties": { [kept]: "false" } });
    assert.deepEqual(subtracted(object, "a", new Set([kept])), object);
  });

  test("pods keep the operator's labels, which upstream gives them too", () => {
    const labels = { "sparkoperator.k8s.io/app-name": "a" };
    const object = { apiVersion: "v1", kind: "Pod", metadata: { name: "p", labels } };
    assert.deepEqual(subtracted(object, "a", new Set()), object);
  });
});
