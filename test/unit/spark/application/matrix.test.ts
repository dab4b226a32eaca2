/**
 * Every phase under every evidence of the driver, with and without interrupts: the next phase and the effects, as
 * tables.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { acts, suspendable } from "../../../../shared/spark/application/state/machine.ts";
import type { Phase, State } from "../../../../shared/spark/application/state/memory.ts";
import { application, decided, digested, driver, eight, pod, remembered, spec } from "./fixtures.ts";

const evidence = {
  absent: [],
  pending: [pod({ phase: "Pending" })],
  running: [pod()],
  completed: [pod({ phase: "Succeeded", exitCode: 0 })],
  failed: [pod({ phase: "Failed", exitCode: 1 })],
  unknown: [pod({ phase: "Unknown" })],
  ending: [pod({ ending: true })],
} as const;

type Evidence = keyof typeof evidence;

const columns: readonly Evidence[] = ["absent", "pending", "running", "completed", "failed", "unknown", "ending"];

const ended = { endedAt: eight - 5_000, error: "broken" };

const states: Readonly<Record<Phase, State>> = {
  "": { phase: "" },
  SUBMITTED: { phase: "SUBMITTED" },
  RUNNING: { phase: "RUNNING" },
  UNKNOWN: { phase: "UNKNOWN" },
  SUCCEEDING: { phase: "SUCCEEDING", endedAt: ended.endedAt },
  FAILING: { phase: "FAILING", ...ended },
  SUBMISSION_FAILED: { phase: "SUBMISSION_FAILED", ...ended },
  INVALIDATING: { phase: "INVALIDATING" },
  PENDING_RERUN: { phase: "PENDING_RERUN" },
  SUSPENDING: { phase: "SUSPENDING" },
  SUSPENDED: { phase: "SUSPENDED" },
  RESUMING: { phase: "RESUMING" },
  COMPLETED: { phase: "COMPLETED", endedAt: ended.endedAt },
  FAILED: { phase: "FAILED", ...ended },
};

/** Every state that upstream writes. */
const phases: readonly Phase[] = [
  "",
  "SUBMITTED",
  "RUNNING",
  "COMPLETED",
  "FAILED",
  "SUBMISSION_FAILED",
  "PENDING_RERUN",
  "INVALIDATING",
  "SUCCEEDING",
  "FAILING",
  "SUSPENDING",
  "SUSPENDED",
  "RESUMING",
  "UNKNOWN",
];

/** Phases whose memory has no driver: every pod of the application is unexpected. */
const bare: ReadonlySet<Phase> = new Set(["", "SUBMISSION_FAILED", "PENDING_RERUN", "SUSPENDED", "RESUMING"]);

type Variant = {
  readonly seen: boolean;
  readonly spec: Readonly<Record<string, unknown>>;
  readonly generation: number;
};

/** Returns the phase after the decision, then + for a new driver and - for deleted pods. */
const cell = (phase: Phase, column: Evidence, variant: Variant): string => {
  const { uid, ...unseen } = driver;
  const known = variant.seen ? { ...unseen, uid } : unseen;
  const memory = remembered({ state: states[phase], ...(bare.has(phase) ? {} : { driver: known }) });
  const object = application({ spec: variant.spec, metadata: { generation: variant.generation } });
  const { plan } = decided({ object, memory, pods: evidence[column] });
  const effects = plan.stages.flat();
  const creates = effects.some((effect) => effect.do === "create" && effect.resource.plural === "pods");
  const deletes = effects.some((effect) => effect.do === "delete" && effect.ref.resource.plural === "pods");
  assert.ok(!creates || plan.safety?.fenced, "a driver is created by a fenced plan only");
  return `${plan.memory.state.phase}${creates ? " +" : ""}${deletes ? " -" : ""}`;
};

const check = (table: Readonly<Partial<Record<Phase, readonly string[]>>>, variant: Variant): void => {
  for (const phase of phases) {
    const row = table[phase] ?? [];

    for (const [index, column] of columns.slice(0, row.length).entries()) {
      test(`${phase || "new"}, driver ${column}: ${row[index]}`, () =>
        assert.equal(cell(phase, column, variant), row[index]));
    }
  }
};

const same = (words: string): readonly string[] => columns.map(() => words);

/** A run that ends with nothing to wait for reaches its final phase in the same step. */
const following = ["FAILED", "SUBMITTED", "RUNNING", "COMPLETED", "FAILED", "UNKNOWN", "RUNNING"];
const clearing = (then: string, phase: string): readonly string[] => [
  then,
  ...columns.slice(1, -1).map(() => `${phase} -`),
  phase,
];
const resting = (phase: string): readonly string[] => [phase, ...columns.slice(1, -1).map(() => `${phase} -`), phase];

describe("with a driver that was seen before", () => {
  check(
    {
      "": same("SUBMITTED +"),
      SUBMITTED: following,
      RUNNING: following,
      UNKNOWN: following,
      SUCCEEDING: same("COMPLETED"),
      FAILING: same("FAILED"),
      SUBMISSION_FAILED: resting("FAILED"),
      INVALIDATING: clearing("PENDING_RERUN", "INVALIDATING"),
      PENDING_RERUN: clearing("SUBMITTED +", "PENDING_RERUN"),
      SUSPENDING: clearing("SUSPENDED", "SUSPENDING"),
      SUSPENDED: clearing("SUBMITTED +", "RESUMING"),
      RESUMING: clearing("SUBMITTED +", "RESUMING"),
      COMPLETED: same("COMPLETED"),
      FAILED: same("FAILED"),
    },
    { seen: true, spec, generation: 1 },
  );
});

describe("with a driver that was never seen", () => {
  const created = ["SUBMITTED +", ...following.slice(1)];
  check({ SUBMITTED: created, RUNNING: created, UNKNOWN: created }, { seen: false, spec, generation: 1 });
});

describe("with a suspended spec", () => {
  const ends = clearing("SUSPENDED", "SUSPENDING");
  check(
    {
      "": ends,
      SUBMITTED: ends,
      RUNNING: ends,
      UNKNOWN: ends,
      SUCCEEDING: ends,
      FAILING: ends,
      SUBMISSION_FAILED: ends,
      INVALIDATING: ends,
      PENDING_RERUN: ends,
      SUSPENDING: ends,
      SUSPENDED: resting("SUSPENDED"),
      RESUMING: ends,
      COMPLETED: same("COMPLETED"),
      FAILED: same("FAILED"),
    },
    { seen: true, spec: { ...spec, suspend: true }, generation: 1 },
  );
});

describe("with a changed spec", () => {
  const ends = clearing("PENDING_RERUN", "INVALIDATING");
  check(
    {
      "": same("SUBMITTED +"),
      SUBMITTED: ends,
      RUNNING: ends,
      UNKNOWN: ends,
      SUCCEEDING: ends,
      FAILING: ends,
      SUBMISSION_FAILED: ends,
      INVALIDATING: ends,
      PENDING_RERUN: ends,
      SUSPENDING: ends,
      SUSPENDED: clearing("SUBMITTED +", "RESUMING"),
      RESUMING: ends,
      COMPLETED: ends,
      FAILED: ends,
    },
    { seen: true, spec: { ...spec, image: "spark:4.1.1" }, generation: 2 },
  );
});

describe("the tables", () => {
  test("have every state that upstream writes, and no other", () => {
    assert.deepEqual(Object.keys(acts).sort(), [...phases].sort());
    assert.deepEqual(Object.keys(suspendable).sort(), [...phases].sort());
  });

  test("ignore changes of suspend and timeToLiveSeconds in a running application", () => {
    for (const more of [{ suspend: false }, { timeToLiveSeconds: 5 }])
      assert.equal(digested({ ...spec, ...more }), digested(spec));
    assert.notEqual(digested({ ...spec, mainClass: "other" }), digested(spec));
  });
});
