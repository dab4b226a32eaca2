/** Executors that are read by name: a pod of another owner under that name does not count. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../../shared/core/object.ts";
import { relevant } from "../../../../../shared/spark/application/state/memory.ts";
import { begun } from "../../../../../shared/spark/executors/allotment.ts";
import { application, decided, driver, pod, remembered, said, spec } from "../fixtures.ts";

const object = application({
  metadata: { annotations: { "rekindle.dev/executors": "own" }, generation: 1 },
  spec: { ...spec, executor: { instances: 2, cores: 1, memory: "512m" } },
});
const allotment = { ...begun(1, "spark-pi-1", undefined), listens: true, next: 1003, alive: "1001-1002" };
const memory = remembered({ driver, allotment, spec: relevant(object, true) });

const executor = (id: number, owner: string): Stored =>
  pod({ role: "executor", owner, executor: id, name: `spark-pi-1-exec-${id}`, uid: `u-${id}-${owner}` });

describe("a step reads an executor that is not listed by name", () => {
  const rows: readonly (readonly [what: string, owner: string, does: RegExp | undefined])[] = [
    ["and keeps it if the driver owns the pod", "driver-1", undefined],
    ["and keeps it if the application owns the pod", "app-1", undefined],
    ["and replaces it if another object owns the pod, which is left alone", "app-2", /^create pods .*-1003 /],
  ];
  for (const [what, owner, does] of rows)
    test(what, () => {
      const listed = [pod(), executor(1001, "driver-1")];
      const { plan } = decided({ object, memory, pods: listed, live: [...listed, executor(1002, owner)] });
      const done = plan.stages
        .flat()
        .map(said)
        .filter((line) => /^(create|delete)/.test(line));
      assert.equal(done.length, does === undefined ? 0 : 1);
      assert.match(done.join(), does ?? /^$/);
    });
});
