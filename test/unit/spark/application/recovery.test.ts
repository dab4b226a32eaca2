/** Recovery of SparkApplications: damaged memories, other clusters, runs, and the recovery window. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import type { Stored } from "../../../../shared/core/object.ts";
import { recovery } from "../../../../shared/spark/application/recovery.ts";
import { type Memory, parseMemory } from "../../../../shared/spark/application/state/memory.ts";
import { waitIn } from "../../../support/plans.ts";
import { application, decided, driver, eight, key, pod, remembered, said } from "./fixtures.ts";

const running = remembered({ driver });

const rebuilt = (stored: unknown, { status, pods = [] }: { status?: unknown; pods?: readonly Stored[] } = {}) => {
  const object = application(status === undefined ? {} : { status });
  return recovery.rebuild({ key, object, found: [pods], now: eight, stored });
};

const told = { applicationState: { state: "RUNNING" }, submissionID: "submission-1", submissionAttempts: 1 };
const executor = pod({ name: "e", uid: "e", role: "executor", owner: "driver-1", executor: 7, attempt: "4" });
const done = { state: { phase: "COMPLETED" as const, endedAt: 1 } };

describe("a damaged memory", () => {
  const rows: readonly {
    readonly name: string;
    readonly stored: unknown;
    readonly world?: Parameters<typeof rebuilt>[1];
    readonly want: Readonly<Record<string, unknown>>;
    readonly problems?: number;
  }[] = [
    { name: "that is whole stays as it is", stored: running, want: { ...running } },
    {
      name: "without its state: the driver that is known is followed",
      stored: { ...running, state: { phase: "NO" } },
      want: { state: { phase: "SUBMITTED" }, driver, attempt: 1 },
      problems: 1,
    },
    {
      name: "without its state, the status tells it, if it is about the same run",
      stored: { ...running, state: 7 },
      world: { status: { ...told, applicationState: { state: "COMPLETED" }, terminationTime: "2026-11-02T07:00:00Z" } },
      want: { state: { phase: "COMPLETED", endedAt: eight - 3_600_000 } },
      problems: 1,
    },
    {
      name: "without its state, a status of an earlier run tells nothing of this one",
      stored: { ...running, state: 7 },
      world: { status: { ...told, submissionID: "submission-0", applicationState: { state: "FAILED" } } },
      want: { state: { phase: "SUBMITTED" } },
      problems: 1,
    },
    {
      name: "without its driver: the one that lives",
      stored: { ...running, driver: "x" },
      world: { status: told, pods: [pod()] },
      want: { driver: { ...driver, applicationId: undefined, submittedAt: 0 }, state: { phase: "RUNNING" } },
      problems: 1,
    },
    {
      name: "that never had a driver gets none from an old status",
      stored: { ...remembered({ state: { phase: "PENDING_RERUN" } }), history: 7 },
      world: { status: told },
      want: { driver: undefined, state: { phase: "PENDING_RERUN" } },
      problems: 1,
    },
    {
      name: "without its attempt: the highest that anything tells of",
      stored: { ...running, attempt: "3" },
      world: { status: { ...told, submissionAttempts: 2 }, pods: [executor] },
      want: { attempt: 4 },
      problems: 1,
    },
    {
      name: "without its spec: taken in as it is, and nobody is restarted",
      stored: { ...running, spec: 7 },
      want: { normaliser: 0, spec: "" },
      problems: 1,
    },
    {
      name: "without the newest plan: the next driver keeps its distance from now",
      stored: { ...running, plannedAt: "x" },
      want: { plannedAt: eight },
      problems: 1,
    },
    {
      name: "without the count of executors' ids: they go on far beyond any that was seen",
      stored: { ...running, allotment: { next: "x" } },
      world: { pods: [executor] },
      want: { allotment: { attempt: 0, prefix: "", next: 20_000, alive: "", underway: [] } },
      problems: 5,
    },
    {
      name: "of nothing, and nothing there: as new",
      stored: 7,
      want: { state: { phase: "" }, attempt: 0 },
      problems: 1,
    },
    {
      name: "of nothing, but a driver lives: adopted",
      stored: undefined,
      world: { pods: [pod({ attempt: "2" })] },
      want: { attempt: 2, state: { phase: "SUBMITTED" } },
    },
  ];
  for (const { name, stored, world, want, problems = 0 } of rows)
    test(name, () => {
      const { memory, problems: found } = rebuilt(stored, world);
      const fields: Readonly<Record<string, unknown>> = JSON.parse(JSON.stringify(memory));
      const wanted = JSON.parse(JSON.stringify(want));
      assert.deepEqual(Object.fromEntries(Object.keys(want).map((one) => [one, fields[one]])), { ...want, ...wanted });
      assert.equal(found.length, problems);
    });

  test("whatever is stored, what comes of it can be stored and read again", () => {
    const names = [
      "generation",
      "spec",
      "attempt",
      "plannedAt",
      "driver",
      "state",
      "history",
      "untold",
      "rare",
      "executors",
      "allotment",
    ];
    const spoiled = fc.dictionary(fc.constantFrom(...names), fc.jsonValue(), { noNullPrototype: true });
    const pods = fc.subarray([pod({ attempt: "3" }), executor]);
    const status = fc.option(fc.constantFrom(told, { applicationState: { state: "FAILED" } }, {}), { nil: undefined });
    fc.assert(
      fc.property(spoiled, pods, status, (fields, found, of) => {
        const { memory } = rebuilt({ ...running, ...fields }, { pods: found, status: of });
        const read = parseMemory(JSON.parse(JSON.stringify(memory)));
        assert.ok(read.ok, JSON.stringify(read));
        assert.ok(memory.attempt >= (found.length === 0 ? 0 : 3));
      }),
    );
  });
});

describe("in another cluster", () => {
  const rows: readonly { readonly name: string; readonly memory: Memory; readonly want: Partial<Memory> }[] = [
    ...(["SUBMITTED", "RUNNING", "UNKNOWN"] as const).map((phase) => ({
      name: `${phase} becomes the next attempt, and spends no retry`,
      memory: remembered({ driver, state: { phase } }),
      want: { state: { phase: "PENDING_RERUN" as const }, forgiven: 1, attempt: 1 },
    })),
    { name: "completed stays so", memory: remembered({ driver, ...done }), want: done },
    {
      name: "waiting for its next try, it waits on",
      memory: remembered({ driver, state: { phase: "FAILING", endedAt: 1, error: "x", retryAt: 9 } }),
      want: { state: { phase: "FAILING", endedAt: 1, error: "x", retryAt: 9 } },
    },
    {
      name: "suspended stays so",
      memory: remembered({ state: { phase: "SUSPENDED" } }),
      want: { state: { phase: "SUSPENDED" } },
    },
  ];
  for (const { name, memory, want } of rows)
    test(name, () => {
      const voided = recovery.voided(memory);
      assert.deepEqual({ ...voided, ...want }, voided);
      assert.equal(voided.driver?.uid, undefined);
    });

  test("a spec that is another there is seen, whatever its generation", () => {
    const memory = recovery.voided(remembered({ driver, ...done }));
    const changed = application({ spec: { ...Object(application()["spec"]), arguments: ["2"] } });
    assert.equal(decided({ object: changed, memory }).plan.memory.state.phase === "COMPLETED", false);
    assert.equal(decided({ object: application(), memory }).plan.memory.state.phase, "COMPLETED");
  });
});

describe("a run that is over", () => {
  const next = remembered({ attempt: 2, driver: { ...driver, attempt: 2 }, state: { phase: "SUBMITTED" } });
  const { driver: _, ...bare } = running;
  const failing = { phase: "FAILING", endedAt: eight - 5, error: "exit 1" } as const;
  const rows = [
    { name: "goes on", before: running, after: running, want: undefined },
    { name: "never had a driver", before: bare, after: next, want: undefined },
    { name: "failed", before: { ...running, state: failing }, after: next, want: ["failed", eight - 5, "exit 1"] },
    { name: "completed", before: { ...running, ...done }, after: next, want: ["completed", 1, undefined] },
    {
      name: "was suspended",
      before: remembered({ driver, state: { phase: "SUSPENDING" } }),
      after: bare,
      want: ["suspended", eight, undefined],
    },
    {
      name: "ended and began anew within one step",
      before: running,
      after: { ...next, history: [{ phase: "FAILING", attempt: 1, at: 1 }] },
      want: ["failed", eight, undefined],
    },
  ];
  for (const { name, before, after, want } of rows)
    test(name, () => {
      const past = recovery.past?.(before, after, eight);
      assert.deepEqual(past && [past.outcome, past.endedAt, past.error], want);
    });

  const accounts: readonly { name: string; executors: Memory["executors"]; want: number | undefined }[] = [
    { name: "all that were lost", executors: { attempt: 1, lost: { failed: 2, deleted: 1, removed: 1 } }, want: 4 },
    {
      name: "none that was done, one too many or ended with its driver",
      executors: { attempt: 1, lost: { finished: 3, dismissed: 2, driverEnded: 1, failed: 1 } },
      want: 1,
    },
    { name: "nobody, if all were done", executors: { attempt: 1, lost: { finished: 3 } }, want: undefined },
    { name: "nobody, if nobody was lost", executors: { attempt: 1, live: "1", marks: "00000001" }, want: undefined },
    { name: "nobody, if nobody looked", executors: undefined, want: undefined },
    { name: "nobody of another attempt", executors: { attempt: 9, lost: { failed: 1 } }, want: undefined },
  ];
  for (const { name, executors, want } of accounts)
    test(`counts ${name} among the lost executors`, () => {
      const before: Memory = { ...running, ...(executors === undefined ? {} : { executors }) };
      assert.equal(recovery.past?.(before, next, eight)?.losses, want);
    });
});

describe("the window in which what is missing may come back", () => {
  const open = { since: eight - 1_000, until: eight + 29_000, ends: true };
  const over = { since: eight - 30_000, until: eight };
  const pending = pod({ name: "e", uid: "e", role: "executor", owner: "driver-1", executor: 1, phase: "Pending" });
  const up = pod({ name: "f", uid: "f", role: "executor", owner: "driver-1", executor: 2 });

  test("a driver that is missing is not lost before it ends, and looked for meanwhile", () => {
    const { plan } = decided({ object: application(), memory: running, returning: open });
    const { memory } = plan;
    const { returning, wakeAt, pollMs } = waitIn(plan);
    assert.deepEqual([memory.state.phase, returning, wakeAt, pollMs], ["RUNNING", true, eight + 29_000, 5_000]);
  });

  for (const [name, returning] of [
    ["after it", over],
    ["without one", undefined],
  ] as const)
    test(`${name}, it is`, () => {
      const world = { object: application(), memory: running, ...(returning === undefined ? {} : { returning }) };
      assert.notEqual(decided(world).plan.memory.state.phase, "RUNNING");
    });

  const ended = (returning: typeof open | typeof over): readonly string[] => {
    const { plan } = decided({ object: application(), memory: running, pods: [pod(), pending, up], returning });
    return plan.stages
      .flat()
      .map(said)
      .filter((line) => line.startsWith("delete"));
  };

  test("executors that are on their way have their time; then they are ended, and nobody else", () => {
    assert.deepEqual(ended(open), []);
    assert.equal(ended({ ...open, until: eight }).length, 1);
  });

  test("of a record that was only missing nothing is ended", () => assert.deepEqual(ended(over), []));

  test("is closed as soon as all are up", () => {
    const { plan } = decided({ object: application(), memory: running, pods: [pod(), up], returning: open });
    assert.equal(waitIn(plan).returning, undefined);
  });
});
