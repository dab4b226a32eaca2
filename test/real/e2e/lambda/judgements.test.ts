/** The judgements of `npm run e2e -- --lambda`: each detects its own fault. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { driverFaults, forwardFaults, quietFaults, stormFaults } from "./judgements.ts";

describe("drivers", () => {
  const account = (drivers: Readonly<Record<string, readonly string[]>>, mostAlive = 1) => ({
    drivers: new Map(Object.entries(drivers).map(([id, uids]) => [id, new Set(uids)])),
    mostAlive,
  });
  const rows = [
    { name: "one of each attempt", seen: account({ s1: ["a"], s2: ["b"] }), attempts: 2, faults: [] },
    { name: "two of one attempt", seen: account({ s1: ["a", "b"] }), attempts: 1, faults: ["s1: 2 drivers"] },
    {
      name: "of too many attempts",
      seen: account({ s1: ["a"], s2: ["b"] }),
      attempts: 1,
      faults: ["2 attempts had drivers, expected 1"],
    },
    { name: "none", seen: account({}, 0), attempts: 1, faults: ["0 attempts had drivers, expected 1"] },
    {
      name: "two at once",
      seen: account({ s1: ["a"], s2: ["b"] }, 2),
      attempts: 2,
      faults: ["2 drivers were alive at once"],
    },
  ];
  for (const { name, seen, attempts, faults } of rows)
    test(name, () => assert.deepEqual(driverFaults(seen, attempts), faults));
});

describe("a storm", () => {
  const kill = { name: "reconcile", when: "middle" } as const;
  const storm = { kills: [kill, kill], stalls: ["wake"], twice: 1, late: 1, dead: 0 };
  const rows = [
    { name: "that is one", more: {}, faults: [] },
    { name: "of too few kills", more: { kills: [kill] }, faults: ["1 kills, 2 are needed"] },
    { name: "without a stall", more: { stalls: [] }, faults: ["nothing was stopped in the middle"] },
    { name: "without doubles", more: { twice: 0 }, faults: ["no message came twice"] },
    { name: "without delays", more: { late: 0 }, faults: ["no message came late"] },
    { name: "that lost something", more: { dead: 3 }, faults: ["3 messages ended in the dead-letter queue"] },
  ];
  for (const { name, more, faults } of rows)
    test(name, () => assert.deepEqual(stormFaults({ ...storm, ...more }, 2), faults));
});

describe("a forwarder", () => {
  const changes = Array.from({ length: 20 }, (_, at) => ({ name: `a${at % 2}`, what: `change ${at}`, since: at }));
  const sent = [0, 1].map((at) => ({ name: `a${at}`, reason: `Pod a${at}-driver changed`, at: 100 }));
  const windows = [{ ended: "died", initMs: 100 } as const];
  const seen = { changes, sent, windows };
  const silent = changes.filter(({ name }) => name === "a1").map(({ what }) => `never forwarded: ${what}`);
  const rows = [
    { name: "that told everything", more: {}, faults: [] },
    { name: "that said nothing of an application", more: { sent: sent.slice(0, 1) }, faults: silent },
    {
      name: "that said nothing since its last change",
      more: { sent: sent.map((one) => ({ ...one, at: 18 })) },
      faults: ["never forwarded: change 19"],
    },
    {
      name: "that was silent while a resync and timers were not",
      more: {
        sent: [
          ...sent.slice(0, 1),
          ...["orphaned", "unrecorded", "timer"].map((reason) => ({ name: "a1", reason, at: 100 })),
        ],
      },
      faults: silent,
    },
    { name: "that had little to tell", more: { changes: changes.slice(0, 3) }, faults: ["only 3 changes"] },
    {
      name: "that went on for a second window",
      more: { windows: [...windows, { ended: "answered" } as const] },
      faults: ["a forwarder lived for more than one window"],
    },
  ];
  for (const { name, more, faults } of rows)
    test(name, () => assert.deepEqual(forwardFaults({ ...seen, ...more }), faults));
});

describe("the quiet", () => {
  const answered = { name: "resync", ended: "answered" } as const;
  const died = { name: "forward", ended: "died" } as const;
  test("has neither writes nor failures", () => assert.deepEqual(quietFaults([], [answered, answered]), []));
  test("is broken by a write", () =>
    assert.deepEqual(quietFaults([{ verb: "patch" }], [answered]), ['1 writes: [{"verb":"patch"}]']));
  test("is broken by a failure", () =>
    assert.deepEqual(quietFaults([], [answered, died, died]), ["an invocation of forward died"]));
});
