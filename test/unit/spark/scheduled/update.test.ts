/** Status updates about a schedule, and the listener of its runs. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { statusUpdate } from "../../../../shared/spark/scheduled/decide.ts";
import { at, type Given, planned, schedule, waiting } from "./fixtures.ts";

const now = at("08:30:00");

describe("the status update of a schedule", () => {
  const refusal = "run nightly-1 was refused: no such field";
  const rows: readonly (readonly [what: string, given: Given, state: string, message?: string])[] = [
    ["has the state Scheduled", { memory: waiting, now }, "Scheduled"],
    ["has the refusal of the last run", { memory: { ...waiting, refusal }, now }, "RunRefused", refusal],
  ];
  for (const [what, given, state, message] of rows)
    test(what, () => {
      assert.deepEqual(statusUpdate(planned(given)), {
        ...{ state, attempt: 0, terminal: false },
        ...(message === undefined ? {} : { message }),
      });
    });

  test("has the state FailedValidation and the reason for an invalid spec", () => {
    const { state, message = "" } = statusUpdate(planned({ object: schedule({ schedule: "often" }), now })) ?? {};
    assert.equal(state, "FailedValidation");
    assert.match(message, /^spec.schedule: a schedule has 5 fields/);
  });

  test("does not exist while the schedule is being deleted", () => {
    const gone = schedule();
    const metadata = { ...gone.metadata, deletionTimestamp: "2026-11-02T08:29:00Z" };
    assert.equal(statusUpdate(planned({ object: { ...gone, metadata }, memory: waiting, now })), undefined);
  });
});

test("a run has the listener annotation of its schedule, and no other annotation", () => {
  const plain = schedule();
  const annotations = { "rekindle.dev/updates-to": "events", "example.com/note": "mine" };
  const metadata = { ...plain.metadata, annotations };
  const plan = planned({ object: { ...plain, metadata }, memory: waiting, now: at("09:00:00") });
  const made = plan.stages.flat().flatMap((effect) => (effect.do === "create" ? [effect.object.metadata] : []));
  assert.deepEqual(
    made.map((run) => run.annotations),
    [{ "rekindle.dev/updates-to": "events" }],
  );
});
