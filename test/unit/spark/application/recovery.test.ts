/** Recovery of SparkApplications: damaged memories, other clusters, runs, and the recovery window. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { fieldsOf } from "../../../../shared/core/json.ts";
import type { Stored } from "../../../../shared/core/object.ts";
import { recovery } from "../../../../shared/spark/application/recovery.ts";
import { type Memory, parseMemory } from "../../../../shared/spark/application/state/memory.ts";
import type { Lifetime } from "../../../../shared/spark/executors/lifetimes.ts";
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
    { name: "that is whole is kept", stored: running, want: { ...running } },
    {
      name: "without its state gets SUBMITTED and keeps its driver",
      stored: { ...running, state: { phase: "NO" } },
      want: { state: { phase: "SUBMITTED" }, driver, attempt: 1 },
      problems: 1,
    },
    {
      name: "without its state gets the state of the status, if that is of the same run",
      stored: { ...running, state: 7 },
      world: { status: { ...told, applicationState: { state: "COMPLETED" }, terminationTime: "2026-11-02T07:00:00Z" } },
      want: { state: { phase: "COMPLETED", endedAt: eight - 3_600_000 } },
      problems: 1,
    },
    {
      name: "without its state does not use a status of an earlier run",
      stored: { ...running, state: 7 },
      world: { status: { ...told, submissionID: "submission-0", applicationState: { state: "FAILED" } } },
      want: { state: { phase: "SUBMITTED" } },
      problems: 1,
    },
    {
      name: "without its driver gets the live driver pod",
      stored: { ...running, driver: "x" },
      world: { status: told, pods: [pod()] },
      want: { driver: { ...driver, applicationId: undefined, submittedAt: 0 }, state: { phase: "RUNNING" } },
      problems: 1,
    },
    {
      name: "without a driver gets none from an old status",
      stored: { ...remembered({ state: { phase: "PENDING_RERUN" } }), history: 7 },
      world: { status: told },
      want: { driver: undefined, state: { phase: "PENDING_RERUN" } },
      problems: 1,
    },
    {
      name: "without its attempt gets the highest attempt of status and pods",
      stored: { ...running, attempt: "3" },
      world: { status: { ...told, submissionAttempts: 2 }, pods: [executor] },
      want: { attempt: 4 },
      problems: 1,
    },
    {
      name: "without its spec digest accepts the present spec, without a restart",
      stored: { ...running, spec: 7 },
      want: { normaliser: 0, spec: "" },
      problems: 1,
    },
    {
      name: "without plannedAt gets the present time",
      stored: { ...running, plannedAt: "x" },
      want: { plannedAt: eight },
      problems: 1,
    },
    {
      name: "without the next executor id gets an id far beyond every known one",
      stored: { ...running, allotment: { next: "x" } },
      world: { pods: [executor] },
      want: { allotment: { attempt: 0, prefix: "", next: 20_000, alive: "", underway: [] } },
      problems: 5,
    },
    {
      name: "that is unreadable, without pods, starts as new",
      stored: 7,
      want: { state: { phase: "" }, attempt: 0 },
      problems: 1,
    },
    {
      name: "that is missing adopts a live driver",
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

  test("with arbitrary fields is rebuilt to a memory that can be stored and parsed", () => {
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

describe("a memory of another cluster", () => {
  const rows: readonly { readonly name: string; readonly memory: Memory; readonly want: Partial<Memory> }[] = [
    ...(["SUBMITTED", "RUNNING", "UNKNOWN"] as const).map((phase) => ({
      name: `in ${phase} leads to the next attempt, without a retry`,
      memory: remembered({ driver, state: { phase } }),
      want: { state: { phase: "PENDING_RERUN" as const }, forgiven: 1, attempt: 1 },
    })),
    { name: "in COMPLETED stays so", memory: remembered({ driver, ...done }), want: done },
    {
      name: "in FAILING keeps the time of its retry",
      memory: remembered({ driver, state: { phase: "FAILING", endedAt: 1, error: "x", retryAt: 9 } }),
      want: { state: { phase: "FAILING", endedAt: 1, error: "x", retryAt: 9 } },
    },
    {
      name: "in SUSPENDED stays so",
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

  test("leads to a new run if the spec differs, whatever its generation", () => {
    const memory = recovery.voided(remembered({ driver, ...done }));
    const changed = application({ spec: { ...Object(application()["spec"]), arguments: ["2"] } });
    assert.equal(decided({ object: changed, memory }).plan.memory.state.phase === "COMPLETED", false);
    assert.equal(decided({ object: application(), memory }).plan.memory.state.phase, "COMPLETED");
  });
});

describe("the past run in a step", () => {
  const next = remembered({ attempt: 2, driver: { ...driver, attempt: 2 }, state: { phase: "SUBMITTED" } });
  const { driver: _, ...bare } = running;
  const failing = { phase: "FAILING", endedAt: eight - 5, error: "exit 1" } as const;
  const rows = [
    { name: "is none while the run continues", before: running, after: running, want: undefined },
    { name: "is none without a driver", before: bare, after: next, want: undefined },
    {
      name: "has the outcome failed",
      before: { ...running, state: failing },
      after: next,
      want: ["failed", eight - 5, "exit 1"],
    },
    {
      name: "has the outcome completed",
      before: { ...running, ...done },
      after: next,
      want: ["completed", 1, undefined],
    },
    {
      name: "has the outcome suspended",
      before: remembered({ driver, state: { phase: "SUSPENDING" } }),
      after: bare,
      want: ["suspended", eight, undefined],
    },
    {
      name: "has the outcome failed if the next run begins in the same step",
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

  test("keeps the requests of the run, the driver's node, the sum of its executors, and at most 4 KiB of the latest", () => {
    const needs: [number, number, number, number] = [1_000, 1_408, 2_000, 4_096];
    const lifetimes = Array.from(
      { length: 200 },
      (_, id): Lifetime => [id, 1_700_000_000, 5, 60, "node-1", "finished"],
    );
    const before: Memory = {
      ...running,
      driver: { ...driver, needs, node: "node-9" },
      executors: { attempt: 1, lifetimes, ran: [11_000, 0] },
    };
    const account = fieldsOf(recovery.past?.(before, next, eight)?.account);
    const kept = account["lifetimes"];
    assert.deepEqual([account["needs"], account["node"], account["ran"]], [needs, "node-9", [11_000, 0]]);
    assert.ok(Array.isArray(kept) && kept.length > 50 && JSON.stringify(kept).length <= 4_096);
    assert.deepEqual(kept.at(-1), lifetimes.at(-1));
    assert.equal(recovery.past?.(running, next, eight)?.account, undefined);
  });

  test("a memory that has to become smaller loses the lifetimes, and keeps the losses", () => {
    const executors: Memory["executors"] = {
      ...{ attempt: 1, lost: { failed: 1 }, ran: [60, 60] },
      lifetimes: [[1, 1_700_000_000, 5, 65, "node-1", "failed"]],
    };
    assert.deepEqual(recovery.trimmed?.({ ...running, executors }).executors, {
      ...{ attempt: 1, lost: { failed: 1 }, ran: [60, 60] },
    });
  });

  const accounts: readonly { name: string; executors: Memory["executors"]; want: number | undefined }[] = [
    { name: "every loss", executors: { attempt: 1, lost: { failed: 2, deleted: 1, removed: 1 } }, want: 4 },
    {
      name: "no executor that finished, was dismissed or ended with its driver",
      executors: { attempt: 1, lost: { finished: 3, dismissed: 2, driverEnded: 1, failed: 1 } },
      want: 1,
    },
    { name: "no executor if all finished", executors: { attempt: 1, lost: { finished: 3 } }, want: undefined },
    { name: "no executor if none was lost", executors: { attempt: 1, live: "1", marks: "00000001" }, want: undefined },
    { name: "no executor without a ledger", executors: undefined, want: undefined },
    { name: "no executor of another attempt", executors: { attempt: 9, lost: { failed: 1 } }, want: undefined },
  ];
  for (const { name, executors, want } of accounts)
    test(`counts ${name} among the lost executors`, () => {
      const before: Memory = { ...running, ...(executors === undefined ? {} : { executors }) };
      assert.equal(recovery.past?.(before, next, eight)?.losses, want);
    });
});

describe("the recovery window", () => {
  const open = { since: eight - 1_000, until: eight + 29_000, ends: true };
  const over = { since: eight - 30_000, until: eight };
  const pending = pod({ name: "e", uid: "e", role: "executor", owner: "driver-1", executor: 1, phase: "Pending" });
  const up = pod({ name: "f", uid: "f", role: "executor", owner: "driver-1", executor: 2 });

  test("delays the loss of a missing driver until its end, and the step polls", () => {
    const { plan } = decided({ object: application(), memory: running, returning: open });
    const { memory } = plan;
    const { returning, wakeAt, pollMs } = waitIn(plan);
    assert.deepEqual([memory.state.phase, returning, wakeAt, pollMs], ["RUNNING", true, eight + 29_000, 5_000]);
  });

  for (const [name, returning] of [
    ["that is over", over],
    ["that is absent", undefined],
  ] as const)
    test(`${name} does not delay the loss of a missing driver`, () => {
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

  test("lets Pending executors start, and after it they alone are deleted", () => {
    assert.deepEqual(ended(open), []);
    assert.equal(ended({ ...open, until: eight }).length, 1);
  });

  test("of a missing record leads to no deletion", () => assert.deepEqual(ended(over), []));

  test("ends as soon as all pods run", () => {
    const { plan } = decided({ object: application(), memory: running, pods: [pod(), up], returning: open });
    assert.equal(waitIn(plan).returning, undefined);
  });
});
