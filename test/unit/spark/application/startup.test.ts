/** A driver or executors that do not start: what the record waits for, and the warning, once for each reason. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import type { Memory } from "../../../../shared/spark/application/state/memory.ts";
import { waitIn } from "../../../support/plans.ts";
import { application, asked, type Decided, decided, driver, eight, pod, remembered, said } from "./fixtures.ts";

const created = { creationTimestamp: "2026-11-02T07:59:00Z" };

const young = (one: Stored): Stored => ({
  ...one,
  metadata: { ...one.metadata, creationTimestamp: "2026-11-02T07:59:50Z" },
});

const on = (one: Stored, spec: object): Stored => ({ ...one, metadata: { ...one.metadata, ...created }, spec });

const creating = on(pod({ phase: "Pending", waiting: "ContainerCreating" }), { nodeName: "node-1" });

const unplaced = on({ ...pod({ phase: "Pending" }), status: { phase: "Pending" } }, { schedulerName: "volcano" });

const executor = on(
  pod({
    ...{ name: "pi-exec-1", uid: "exec-1", role: "executor", owner: "driver-1", executor: 1, phase: "Pending" },
    waiting: "ContainerCreating",
  }),
  { nodeName: "node-1" },
);

const event = (reason: string, message: string, type = "Warning"): Stored => ({
  apiVersion: "v1",
  kind: "Event",
  metadata: { name: `e-${reason}`, uid: `e-${reason}`, resourceVersion: "1" },
  ...{ type, reason, message, lastTimestamp: "2026-11-02T07:59:10Z" },
});

const mountFails = event("FailedMount", 'MountVolume.SetUp failed for volume "c" : configmap "app" not found');

const phaseOf = (phase: "SUBMITTED" | "RUNNING", held?: readonly string[]): Memory =>
  remembered({ state: { phase }, plannedAt: 0, driver, ...(held === undefined ? {} : { held: [...held] }) });

type Given = { readonly pods: readonly Stored[]; readonly memory: Memory; readonly events?: readonly Stored[] };

const stepOf = ({ pods, memory, events = [] }: Given): Decided =>
  decided({ object: application(), memory, pods, others: { events } });

const warnings = ({ before, plan }: Decided): readonly string[] =>
  [...before, ...plan.stages.flat()].map(said).filter((line) => /PodNotStarting/.test(line));

const looksAtEvents = ({ looks }: Decided): number => looks.filter((query) => asked(query) === "list events").length;

describe("a driver that does not start", () => {
  test("has the reason of its events in waitsFor, and a warning Event gives the remedy", () => {
    const step = stepOf({ pods: [creating], memory: phaseOf("SUBMITTED"), events: [mountFails] });
    assert.match(
      waitIn(step.plan).waitsFor ?? "",
      /^the driver to start \(FailedMount: MountVolume.* configmap "app" not found\)$/,
    );
    assert.deepEqual(warnings(step), [
      'tell Warning PodNotStarting (1 driver FailedMount): driver pod spark-pi-driver does not start: FailedMount: MountVolume.SetUp failed for volume "c" : configmap "app" not found; create configmap app in namespace default, or correct the name',
    ]);
    assert.deepEqual([looksAtEvents(step), waitIn(step.plan).pollMs], [1, 30_000]);
  });

  test("leads to the warning before the record has it, so that a step that dies in between loses none", () => {
    const { earlier, plan } = stepOf({ pods: [creating], memory: phaseOf("SUBMITTED"), events: [mountFails] });
    assert.deepEqual(
      [earlier.map(({ memory }) => memory.held), plan.memory.held],
      [[undefined], ["1 driver FailedMount"]],
    );
  });

  test("leads to one warning for each reason", () => {
    const memory = phaseOf("SUBMITTED", ["1 driver FailedMount"]);
    const same = stepOf({ pods: [creating], memory, events: [mountFails] });
    assert.deepEqual([warnings(same), same.plan.memory.held], [[], memory.held]);
    const other = stepOf({ pods: [creating], memory, events: [event("FailedCreatePodSandBox", "no network")] });
    assert.equal(warnings(other).length, 1);
    assert.deepEqual(other.plan.memory.held, ["1 driver FailedMount", "1 driver FailedCreatePodSandBox"]);
  });

  test("leads to the warning again in another attempt", () => {
    const step = stepOf({
      pods: [creating],
      memory: phaseOf("SUBMITTED", ["0 driver FailedMount"]),
      events: [mountFails],
    });
    assert.deepEqual([warnings(step).length, step.plan.memory.held], [1, ["1 driver FailedMount"]]);
  });

  test("waits for its scheduler if none has read the pod", () => {
    const step = stepOf({ pods: [unplaced], memory: phaseOf("SUBMITTED") });
    assert.match(waitIn(step.plan).waitsFor ?? "", /NotScheduled: no scheduler named volcano has looked at it/);
    assert.equal(warnings(step).length, 1);
  });

  test("for 10 s needs no read of events, and is polled", () => {
    const step = stepOf({ pods: [young(creating)], memory: phaseOf("SUBMITTED"), events: [mountFails] });
    assert.deepEqual([looksAtEvents(step), warnings(step), waitIn(step.plan).pollMs], [0, [], 30_000]);
  });

  test("while its image is pulled leads to no warning", () => {
    const pulling = event("Pulling", 'Pulling image "spark:4"', "Normal");
    const step = stepOf({ pods: [creating], memory: phaseOf("SUBMITTED"), events: [pulling] });
    assert.match(waitIn(step.plan).waitsFor ?? "", /Pulling: Pulling image/);
    assert.deepEqual([warnings(step), step.plan.memory.held], [[], undefined]);
  });

  test("is polled less and less often, and in the end by resyncs alone", () => {
    const polls = [1, 5, 15].map((minutes) => {
      const world = { object: application(), memory: phaseOf("SUBMITTED"), pods: [creating] };
      return waitIn(decided({ ...world, now: eight + minutes * 60_000, others: { events: [mountFails] } }).plan).pollMs;
    });
    assert.deepEqual(polls, [30_000, 60_000, undefined]);
  });
});

describe("executors that do not start", () => {
  const running = young(pod());

  test("stand in waitsFor beside the driver, and lead to a warning Event", () => {
    const step = stepOf({ pods: [running, executor], memory: phaseOf("RUNNING"), events: [mountFails] });
    assert.match(
      waitIn(step.plan).waitsFor ?? "",
      /^the driver to finish; executor pod pi-exec-1 does not start \(FailedMount: /,
    );
    assert.match(
      warnings(step).join(),
      /^tell Warning PodNotStarting \(1 executor FailedMount\): executor pod pi-exec-1/,
    );
  });

  test("need one read of events, however many they are", () => {
    const others = [2, 3, 4].map((id) => {
      const labels = { ...executor.metadata.labels, "spark-exec-id": `${id}` };
      return { ...executor, metadata: { ...executor.metadata, name: `pi-exec-${id}`, uid: `exec-${id}`, labels } };
    });
    const step = stepOf({ pods: [running, executor, ...others], memory: phaseOf("RUNNING"), events: [mountFails] });
    assert.deepEqual([looksAtEvents(step), warnings(step).length], [1, 1]);
  });

  test("need no read, poll or warning once all run", () => {
    const step = stepOf({ pods: [running], memory: phaseOf("RUNNING") });
    assert.deepEqual([looksAtEvents(step), warnings(step), waitIn(step.plan).pollMs], [0, [], undefined]);
  });
});
