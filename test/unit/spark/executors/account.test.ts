/** The account of executors: each loss counts exactly once, as its pod shows it, within a bounded size. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import {
  type Account,
  account,
  afterDriversEnd,
  countedIn,
  freshLedger,
  isOver,
  type Ledger,
  ledgerShape,
  livingIn,
} from "../../../../shared/spark/executors/ledger.ts";
import { executor, uidOf } from "./pods.ts";

/** 2026-11-02T08:00:00Z. */
const now = Date.UTC(2026, 10, 2, 8);
const later = "2026-11-02T07:59:30Z";

const look = (ledger: Ledger, pods: readonly Stored[], more = {}): Account =>
  account(ledger, { pods, now, certain: true, ...more });

/** Returns the account after these lists of pods, with the ledger stored and parsed between them. */
const after = (...looks: readonly (readonly Stored[])[]): Account => {
  let last: Account = { ledger: freshLedger(1), lost: [], missing: [], unclear: 0 };
  for (const pods of looks) last = look(ledgerShape.parse(JSON.parse(JSON.stringify(last.ledger))), pods);
  return last;
};

const alive = (...ids: readonly number[]): readonly Stored[] => ids.map((id) => executor({ id }));
const dead = executor({ id: 2, phase: "Failed", exit: 137, because: "OOMKilled", finishedAt: later, node: "node-7" });

describe("an executor loss", () => {
  test("is recorded with reason, node, exit code and time of its pod", () => {
    const { ledger, lost } = after(alive(1, 2), [...alive(1), dead]);
    const loss = {
      ...{ id: 2, uid: uidOf(2), pod: "pi-exec-2", reason: "memory", node: "node-7", exitCode: 137 },
      at: Date.parse(later),
    };
    assert.deepEqual(lost, [loss]);
    assert.deepEqual(ledger, {
      ...{ attempt: 1, live: "1", marks: "00000001", over: "2", lost: { memory: 1 }, losses: [loss] },
      ...{ lifetimes: [[2, Date.parse("2026-11-02T07:50:00Z") / 1_000, -1, 570, "node-7", "memory"]], ran: [0, 0] },
    });
  });

  test("is recorded once, also while its pod is kept, when the pod is gone, and after a stale list", () => {
    const { ledger, lost } = after(alive(1, 2), [...alive(1), dead], [...alive(1), dead], alive(1, 2), alive(1));
    assert.deepEqual([lost, ledger.lost, ledger.live], [[], { memory: 1 }, "1"]);
  });

  test("is recorded if the executor started and failed between two steps", () => {
    assert.deepEqual(after([dead]).ledger.lost, { memory: 1 });
  });

  test("without a pod has the reason deleted and no further fields", () => {
    const { lost } = after(alive(1, 2), alive(1));
    assert.deepEqual(lost, [{ id: 2, uid: "00000002", reason: "deleted", at: now }]);
  });

  test("without a pod is only missing until a second list confirms it", () => {
    const { ledger } = after(alive(1, 2));
    const once = look(ledger, alive(1), { certain: false });
    assert.deepEqual([once.missing, once.lost, once.ledger], [[2], [], ledger]);
    assert.deepEqual(look(once.ledger, alive(1, 2)).lost, []);
  });

  test("is only counted where Spark deletes the pods", () => {
    const { ledger } = after(alive(1, 2));
    const { ledger: then } = look(ledger, alive(1), { missing: "removed" });
    assert.deepEqual([then.lost, then.losses], [{ removed: 1 }, undefined]);
  });

  test("is the first pod's if a second pod has its name, and the second pod is no executor", () => {
    const again = executor({ id: 2, uid: "ffffffff-0000" });
    const { ledger, lost } = after(alive(1, 2), [...alive(1), again], [...alive(1), again]);
    assert.deepEqual([lost, ledger.lost, ledger.live], [[], { deleted: 1 }, "1"]);
  });

  const doom = {
    id: 2,
    uid: uidOf(2),
    pod: "pi-exec-2",
    reason: "neverStarted",
    why: "Unschedulable",
    at: now,
  } as const;
  const dooms: readonly (readonly [what: string, pods: readonly Stored[], recorded: readonly string[]])[] = [
    ["is gone", [], ["neverStarted"]],
    ["is being deleted", [executor({ id: 2, deletion: "2026-11-02T08:00:30Z" })], ["neverStarted"]],
    ["runs by now: no loss", alive(2), []],
    ["failed by itself: that is the reason", [executor({ id: 2, phase: "Failed", exit: 1 })], ["failed"]],
  ];
  for (const [what, pods, recorded] of dooms)
    test(`of an executor that a step deletes, whose pod ${what}`, () => {
      const { lost, ledger } = look({ ...after(alive(1, 2)).ledger, doomed: [doom] }, [...alive(1), ...pods]);
      assert.deepEqual(
        lost.map(({ reason }) => reason),
        recorded,
      );
      assert.deepEqual([ledger.doomed, isOver(ledger, 2), isOver(ledger, 1)], [undefined, recorded.length > 0, false]);
    });

  test("of an executor that a step deletes has the step's reason, not that of the pod's status", () => {
    const said = executor({ id: 2, phase: "Failed", container: null, reason: "NodeLost" });
    const ours = { ...doom, reason: "node", why: "its node does not answer" } as const;
    const { lost } = look({ ...after(alive(1, 2)).ledger, doomed: [ours] }, [...alive(1), said]);
    assert.deepEqual(
      lost.map(({ reason, why }) => [reason, why]),
      [["node", "its node does not answer"]],
    );
  });

  test("without a reason in the pod is read three times, and then has the reason unknown", () => {
    const mute = executor({ id: 1, phase: "Failed", container: null });
    const checks = [1, 2, 3, 4].map((looks) => after(...Array.from({ length: looks }, () => [mute])));
    assert.deepEqual(
      checks.map(({ unclear, ledger }) => [unclear, ledger.lost ?? {}]),
      [
        [1, {}],
        [1, {}],
        [1, {}],
        [0, { unknown: 1 }],
      ],
    );
    assert.equal(
      after([mute], [mute], [executor({ id: 1, phase: "Failed", reason: "Evicted" })]).lost[0]?.reason,
      "evicted",
    );
  });
});

describe("the ledger", () => {
  test("counts against the application only losses that it caused", () => {
    const evicted = executor({ id: 3, phase: "Failed", reason: "Evicted", container: null });
    const { ledger } = after([dead, evicted, executor({ id: 4, phase: "Failed", exit: 1 })]);
    assert.deepEqual([ledger.lost, countedIn(ledger)], [{ failed: 1, memory: 1, evicted: 1 }, 2]);
  });

  test("ignores an executor without an id", () => {
    assert.deepEqual(after([executor({ id: "EXECID", phase: "Failed", exit: 1 })]).ledger, freshLedger(1));
  });

  test("stays as it is after the same list", () => {
    const once = after(alive(1, 3, 5), [...alive(1, 3), dead]);
    assert.deepEqual(look(once.ledger, [...alive(1, 3), dead]).ledger, once.ledger);
  });

  test("of 10,000 lost and replaced executors is below 100 kB: the latest 20 losses whole, all as counts", () => {
    const many = Array.from({ length: 10_000 }, (_, at) => at + 1);
    const dying = many.map((id) => executor({ id, phase: "Failed", exit: 1 }));
    const { ledger } = after(alive(...many), [...dying, ...alive(...many.map((id) => id + 10_000))]);
    assert.deepEqual([livingIn(ledger), ledger.over, ledger.lost], [10_000, "1-10000", { failed: 10_000 }]);
    assert.deepEqual([ledger.losses?.length, ledger.losses?.at(-1)?.id], [20, 10_000]);
    assert.ok(JSON.stringify(ledger).length < 100_000);
  });

  test("records no further loss when the driver has ended", () => {
    const { ledger } = after(alive(1, 2), [...alive(1), dead]);
    assert.deepEqual(look(afterDriversEnd(ledger), []).lost, []);
  });

  test("keeps of the driver's answers what it last reported, once it has ended", () => {
    const words = { executors: 2, running: 0, failed: 1, shuffle: 7, heap: 9 };
    const pulse = { at: 5, tasks: 40, movedAt: 4, idle: true, words };
    const stuck = { times: 1, last: 2 };
    const kept = { pulse: { at: 5, tasks: 40, movedAt: 4, words } };
    assert.deepEqual(afterDriversEnd({ attempt: 1, live: "1", care: { stuck, pulse } }), { attempt: 1, care: kept });
    assert.deepEqual(afterDriversEnd({ attempt: 1, care: { stuck, pulse: { at: 5, tasks: 40, movedAt: 4 } } }), {
      attempt: 1,
    });
  });
});

describe("a stored ledger", () => {
  const broken: readonly (readonly [what: string, ledger: object])[] = [
    ["ids in another form", { live: "1..3" }],
    ["a billion executors", { live: "1-999999999" }],
    ["an invalid mark", { marks: "xyz" }],
    ["an unknown reason", { losses: [{ id: 1, uid: "", reason: "boredom", at: 0 }] }],
  ];
  for (const [what, ledger] of broken)
    test(`with ${what} is rejected`, () =>
      assert.equal(ledgerShape.safeParse({ attempt: 1, ...ledger }).success, false));

  test("with missing parts is parsed with empty parts", () => {
    assert.deepEqual(look(ledgerShape.parse({ attempt: 1, live: "1-2" }), []).ledger.lost, { deleted: 2 });
  });
});
