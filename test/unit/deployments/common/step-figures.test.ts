/** The metrics of steps in functions, down to the line that CloudWatch reads. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { emfMeter } from "../../../../shared/adapters/telemetry/emf.ts";
import { stepFigures } from "../../../../shared/deployments/common/step-dependencies.ts";
import type { EndedStep } from "../../../../shared/engine/context/world.ts";

const step: EndedStep = {
  message: { cluster: "c", kind: "Toy", namespace: "ns", name: "a", reason: "watch" },
  ending: { did: "step", writes: 2 },
  tookMs: 250,
  sentAt: 1_000,
};

/** Returns the lines of one ended step, at 5 s. */
const linesOf = (ended: EndedStep): readonly Record<string, unknown>[] => {
  const lines: string[] = [];
  const print = (line: string): void => void lines.push(line);
  stepFigures(
    emfMeter(print, "prod", () => 5_000),
    () => 5_000,
  )(ended);
  return lines.map((line) => JSON.parse(line));
};

test("a step's metrics are one line: its outcome, its duration, and the age of its oldest message", () => {
  const [line, ...more] = linesOf(step);
  assert.deepEqual(more, []);
  const { _aws, ...rest } = line ?? {};
  assert.deepEqual(rest, {
    ...{ cluster: "prod", namespace: "ns", labels: { kind: "Toy", ending: "step" } },
    ...{ rekindle_steps_total: 1, rekindle_step_duration_seconds: 0.25, rekindle_queue_age_seconds: 3.75 },
  });
  assert.match(JSON.stringify(_aws), /"Dimensions":\[\["cluster"\],\["cluster","namespace"\]\]/);
});

test("a step that threw counts as failed, and a step without a time of sending has no age", () => {
  const [line] = linesOf({ ...step, ending: undefined, sentAt: undefined });
  assert.deepEqual(line?.["labels"], { kind: "Toy", ending: "failed" });
  assert.equal(line?.["rekindle_queue_age_seconds"], undefined);
});

test("a step whose clock is behind the queue's has the age 0", () => {
  const [line] = linesOf({ ...step, sentAt: 9_000 });
  assert.equal(line?.["rekindle_queue_age_seconds"], 0);
});
