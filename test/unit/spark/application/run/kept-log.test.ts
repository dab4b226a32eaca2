/** The end of a driver's log is kept before each deletion of its pod, where the deployment asks for it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Effect, Plan } from "../../../../../shared/core/plan.ts";
import { sparkApplication } from "../../../../../shared/spark/application/decide.ts";
import type { Memory } from "../../../../../shared/spark/application/state/memory.ts";
import { defaultOptions } from "../../../../../shared/spark/auxiliary-objects/options.ts";
import { application, decided, driver, eight, pod, remembered, said, settings, spec, type World } from "../fixtures.ts";

const options = { keepLogsMs: 3_600_000 };

const stagesOf = (plan: Plan<Memory>): readonly (readonly string[])[] =>
  plan.stages
    .map((stage) => stage.filter(({ do: act }) => act !== "record").map(said))
    .filter(({ length }) => length > 0);

const kept = "keep the log of spark-pi-driver, attempt 1";

const over = { phase: "Failed", exitCode: 1, finishedAt: "2026-11-02T07:59:00Z" } as const;

const failing = remembered({
  driver,
  state: { phase: "FAILING", endedAt: eight - 60_000, error: "exit 1", retryAt: eight - 1_000, cause: "application" },
});

/** Each way in which Rekindle deletes a driver's pod. */
const deletions: Readonly<Record<string, World>> = {
  "a retry": { object: application(), memory: failing, pods: [pod(over)] },
  "a suspension": {
    object: application({ spec: { ...spec, suspend: true } }),
    memory: remembered({ driver }),
    pods: [pod()],
  },
  "a changed spec": {
    object: application({ spec: { ...spec, mainClass: "Other" }, metadata: { generation: 2 } }),
    memory: remembered({ driver }),
    pods: [pod()],
  },
  "a run that was given up": {
    object: application(),
    memory: remembered({
      driver,
      state: { phase: "FAILED", endedAt: eight - 1_000, error: "late", cause: "executorStart" },
    }),
    pods: [pod()],
  },
};

const isRemoval = (effect: Effect): boolean => effect.do === "delete" && effect.uid === "driver-1";

describe("before the driver's pod is deleted", () => {
  for (const [name, world] of Object.entries(deletions)) {
    test(`by ${name}, its log is kept`, () => {
      const { plan } = decided({ ...world, options });
      const at = plan.stages.findIndex((stage) => stage.some(isRemoval));
      assert.notEqual(at, -1, JSON.stringify(stagesOf(plan)));
      assert.deepEqual(plan.stages[at - 1]?.map(said), [kept]);
    });

    test(`by ${name}, nothing is kept without the setting`, () => {
      const { plan } = decided(world);
      assert.ok(plan.stages.flat().some(isRemoval));
      assert.equal(
        plan.stages.flat().some(({ do: act }) => act === "keepLog"),
        false,
      );
    });
  }

  test("with its application, whose time to live is over, its log is kept beyond it", () => {
    const ended = remembered({ driver, state: { phase: "COMPLETED", endedAt: eight - 60_000 } });
    const { plan } = decided({
      object: application({
        spec: { ...spec, timeToLiveSeconds: 10 },
        status: { applicationState: { state: "COMPLETED" } },
      }),
      memory: { ...ended, spec: ended.spec },
      pods: [pod({ phase: "Succeeded", exitCode: 0 })],
      options,
    });
    assert.deepEqual(stagesOf(plan).slice(-2), [
      [`${kept}, beyond its application`],
      ["delete sparkapplications spark-pi if it is app-1 at 100"],
    ]);
  });

  test("its log is not kept once the pod is being deleted", () => {
    const { plan } = decided({
      object: application(),
      memory: failing,
      pods: [pod({ ...over, ending: true })],
      options,
    });
    assert.deepEqual(stagesOf(plan), []);
  });

  test("a cleanup keeps its log, and none of other pods", () => {
    const { recovery } = sparkApplication({ ...settings, options: { ...defaultOptions, ...options } });
    assert.deepEqual(recovery?.logOf?.(pod()), {
      container: "spark-kubernetes-driver",
      attempt: 1,
      keepMs: options.keepLogsMs,
    });
    assert.equal(recovery?.logOf?.(pod({ role: "executor" })), undefined);
    assert.equal(sparkApplication(settings).recovery?.logOf?.(pod()), undefined);
  });
});
