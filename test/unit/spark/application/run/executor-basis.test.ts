/** Executors are built from the present spec of their run, whatever other runs the process knows. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../../shared/core/object.ts";
import { wholeOf } from "../../../../../shared/core/plan.ts";
import { decide } from "../../../../../shared/spark/application/decide.ts";
import { relevant } from "../../../../../shared/spark/application/state/memory.ts";
import { newAllotment } from "../../../../../shared/spark/executors/allotment.ts";
import { resultOf } from "../../../../support/decisions.ts";
import { application, driver, eight, key, pod, remembered, settings, spec } from "../fixtures.ts";

const owned = (image: string, labels: Readonly<Record<string, string>> = {}): Stored =>
  application({
    metadata: { annotations: { "rekindle.dev/executors": "own" }, labels },
    spec: { ...spec, image, executor: { instances: 2, cores: 1, memory: "512m" } },
    status: { applicationState: { state: "RUNNING" }, submissionID: "submission-1" },
  });

/** Returns the pod that replaces the one executor that is missing. */
const replacementIn = (object: Stored): Stored => {
  const allotment = { ...newAllotment(1, "p", undefined), listens: true, next: 1003, alive: "1001-1002" };
  const memory = remembered({ driver, spec: relevant(object, true), allotment });
  const one = pod({ role: "executor", owner: "driver-1", executor: 1001, name: "p-exec-1001", uid: "u-1001" });
  const failed = { role: "executor", owner: "driver-1", executor: 1002, name: "p-exec-1002", uid: "u-1002" };
  const other = pod({ ...failed, phase: "Failed", exitCode: 137, finishedAt: "2026-11-02T07:59:59Z" });
  const view = { object, uid: "app-1", memory, now: eight, refused: [] };
  // A process has the same settings in all its decisions.
  const plan = resultOf(decide(settings, key, view), { objects: () => [pod(), one, other] });
  const [made] = plan.stages
    .flat()
    .flatMap((effect) => (effect.do === "create" && effect.object.kind === "Pod" ? [wholeOf(effect)] : []));
  assert.ok(made);
  return made as Stored;
};

const imageOf = ({ spec: of }: Stored): unknown => Object(Object(of)["containers"])[0]?.image;

describe("a replacement", () => {
  test("has the image of its application's present spec", () => {
    const images = ["spark:a", "spark:b", "spark:a"];
    assert.deepEqual(
      images.map((image) => imageOf(replacementIn(owned(image)))),
      images,
    );
  });

  test("is the same however many other applications had theirs since", () => {
    const first = replacementIn(owned("spark:first"));
    for (let at = 0; at < 40; at += 1) replacementIn(owned(`spark:${at}`));
    assert.deepEqual(replacementIn(owned("spark:first")), first);
  });
});
