/** Properties of every decision, for arbitrary memories and pods. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { same } from "../../../../shared/core/json.ts";
import type { Stored } from "../../../../shared/core/object.ts";
import type { Effect } from "../../../../shared/core/plan.ts";
import { ownedBy } from "../../../../shared/kube/pods.ts";
import { type Memory, parseMemory } from "../../../../shared/spark/application/state/memory.ts";
import { does, waitIn } from "../../../support/plans.ts";
import { crowds, memories } from "./arbitrary.ts";
import { application, decided, eight, remembered, settings, spec } from "./fixtures.ts";

const specs = fc.constantFrom<unknown>(
  spec,
  { ...spec, suspend: true },
  { ...spec, restartPolicy: { type: "Always" } },
  { ...spec, restartPolicy: { type: "OnFailure", onFailureRetries: 3, onSubmissionFailureRetries: 3 } },
  { ...spec, timeToLiveSeconds: 0 },
  { ...spec, driver: undefined },
  null,
);

const statuses = fc.constantFrom<unknown>(
  undefined,
  null,
  "odd",
  { applicationState: { state: "RUNNING" }, executorState: { "exec-1": "RUNNING" }, submissionID: "submission-1" },
  { applicationState: { state: "SLEEPING" }, executorState: 5, driverInfo: "odd" },
  { applicationState: { state: "FAILED", errorMessage: null }, terminationTime: null },
);

const objects = fc
  .record({ spec: specs, status: statuses, generation: fc.constantFrom(1, 2), ending: fc.boolean() })
  .map(({ spec: given, status, generation, ending }) =>
    application({
      status,
      metadata: { generation, ...(ending ? { deletionTimestamp: "2026-11-02T07:59:00Z" } : {}) },
      spec: given,
    }),
  );

type World = {
  readonly object: Stored | undefined;
  readonly memory: Memory | undefined;
  readonly pods: readonly Stored[];
};

const worlds: fc.Arbitrary<World> = fc.record({
  object: fc.option(objects, { nil: undefined }),
  memory: fc.option(memories, { nil: undefined }),
  pods: crowds,
});

const planned = ({ object, memory, pods }: World) =>
  decided({ object, pods, ...(memory === undefined ? {} : { memory }) }).plan;

const podDeletes = (stages: readonly (readonly Effect[])[]): readonly Extract<Effect, { do: "delete" }>[] =>
  stages.flat().flatMap((effect) => (effect.do === "delete" && effect.ref.resource.plural === "pods" ? [effect] : []));

const runs = { numRuns: 400 };

describe("every decision", () => {
  test("leads to a plan whose memory can be stored and parsed, and is the same when it is repeated", () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const plan = planned(world);
        const stored: unknown = JSON.parse(JSON.stringify(plan.memory));
        const read = parseMemory(stored);
        assert.ok(read.ok && same(read.memory, stored));
        assert.ok(same(planned(world), plan));
      }),
      runs,
    );
  });

  test("deletes only existing pods of the application that are not being deleted, by UID", () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const ours = new Set([
          "app-1",
          world.memory?.driver?.uid,
          ...world.pods.filter((pod) => ownedBy(pod, "app-1")).map(({ metadata }) => metadata.uid),
        ]);
        for (const effect of podDeletes(planned(world).stages)) {
          const pod = world.pods.find(
            ({ metadata }) => metadata.uid === effect.uid && metadata.name === effect.ref.name,
          );
          assert.ok(pod !== undefined && pod.metadata.deletionTimestamp === undefined);
          assert.ok([...ours].some((uid) => uid !== undefined && ownedBy(pod, uid)));
        }
      }),
      runs,
    );
  });

  test("creates a driver only with a fence, a saved attempt and a saved time, and never beside another pod", () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const plan = planned(world);
        const creates = plan.stages.flat().filter((effect) => effect.do === "create");
        if (creates.length === 0) return;
        const { memory } = plan;
        assert.equal(plan.safety?.fenced, true);
        // A second save that plans the same driver has a later time than the first.
        const again = world.memory?.driver?.submissionId === memory.driver?.submissionId;
        const plannedAt = again ? Math.max(eight, (memory.driver?.submittedAt ?? 0) + 1) : eight;
        assert.deepEqual([memory.state.phase, memory.plannedAt], ["SUBMITTED", plannedAt]);
        assert.ok(memory.driver !== undefined && memory.driver.uid === undefined);
        assert.ok(memory.attempt >= (world.memory?.attempt ?? 0));
        const bare = world.memory === undefined || world.memory.state.phase === "";
        assert.ok(bare || !world.pods.some((pod) => ownedBy(pod, "app-1")));
      }),
      runs,
    );
  });

  test("assigns a new attempt only when no write of the last attempt can still arrive", () => {
    fc.assert(
      fc.property(worlds, ({ object, memory, pods }) => {
        const plan = planned({ object, memory, pods });
        if (memory?.plannedAt === undefined || memory.state.phase === "" || plan.memory.attempt === memory.attempt)
          return;
        assert.ok(eight >= memory.plannedAt + settings.settledMs);
        assert.equal(plan.memory.attempt, memory.attempt + 1);
      }),
      runs,
    );
  });

  test("that rests or forgets leaves no deletion and no write that could still arrive", () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const plan = planned(world);
        if (does(plan, "rest") !== true && does(plan, "forget") !== true) return;
        assert.deepEqual(podDeletes(plan.stages), []);
        assert.ok(eight >= (plan.memory.plannedAt ?? 0) + settings.settledMs);
        assert.equal(does(plan, "again"), undefined);
      }),
      runs,
    );
  });

  test("that does not rest has a next step: by an event, a timer, a poll or at once", () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const plan = planned(world);
        const returns =
          does(plan, "rest") ??
          does(plan, "forget") ??
          does(plan, "again") ??
          waitIn(plan).wakeAt ??
          waitIn(plan).pollMs;
        const events = world.pods.length > 0 || plan.safety?.fenced === true;
        assert.ok(returns !== undefined || events, JSON.stringify(plan));
      }),
      runs,
    );
  });

  test("of a settled application has no effects once its status is written", () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const plan = planned(world);
        if (does(plan, "rest") !== true || world.object === undefined) return;
        const told: Stored = { ...world.object, status: plan.status };
        const again = planned({ ...world, object: told, memory: plan.memory });
        assert.deepEqual(
          [again.stages.flat(), same(again.status, plan.status), same(again.memory, plan.memory)],
          [[], true, true],
        );
      }),
      runs,
    );
  });
});

describe("the drivers of many attempts", () => {
  test("have distinct submission ids and application ids", () => {
    const drivers = Array.from({ length: 20 }, (_, attempt) => {
      const memory = remembered({ attempt, state: { phase: "PENDING_RERUN" } });
      return decided({ object: application(), memory }).plan.memory.driver;
    });
    assert.equal(new Set(drivers.map((driver) => driver?.submissionId)).size, 20);
    assert.equal(new Set(drivers.map((driver) => driver?.applicationId)).size, 20);
  });
});
