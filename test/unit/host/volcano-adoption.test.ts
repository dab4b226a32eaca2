/** Jobs of Volcano's controllers in each phase that a host takes over: nothing is ended or run again for it. */
import assert from "node:assert/strict";
import { describe } from "node:test";
import {
  admitting,
  counters,
  counting,
  ended,
  leave,
  type Parts,
  runs,
  schedulers,
  shown,
  status,
  uids,
} from "./left.ts";
import { itOnStand, type Stand } from "./stand.ts";

type Row = {
  readonly left: string;
  readonly parts: Parts;
  readonly told: ReturnType<typeof status>;
  /** The final phase, and the objects that are created on the way. */
  readonly ends: string;
  readonly makes?: readonly string[];
  /** The version and the retries at the end. */
  readonly counts?: readonly [number, number];
};

const second = { version: 2, retryCount: 1 };
const slow = [{ stopMs: 20_000 }, { stopMs: 20_000 }];
const shared = ["configmaps", "networkpolicies", "secrets", "services"];
const pods = ["pods", "pods"];

/** Jobs that the host only follows: their pods, groups and shared objects are the same at the end. */
const followed: readonly Row[] = [
  {
    left: "Pending, its group not let in",
    parts: { group: "Pending", shared: true },
    told: status("Pending"),
    ends: "Pending",
  },
  {
    left: "Pending, one pod of two made",
    parts: { group: "Inqueue", shared: true, lives: [{}] },
    told: status("Pending", { pending: 1 }),
    ends: "Running",
    makes: ["pods"],
  },
  {
    left: "Pending although all of it runs",
    parts: { group: "Running", shared: true, lives: runs },
    told: status("Pending", { pending: 2 }),
    ends: "Running",
  },
  {
    left: "Running, in its third version",
    parts: { group: "Running", shared: true, lives: runs, standing: second },
    told: status("Running", { running: 2, ...second }),
    ends: "Running",
    counts: [2, 1],
  },
  {
    left: "Running in a group of an earlier version's name",
    parts: { group: "Running", shared: true, lives: runs, standing: { legacy: true } },
    told: status("Running", { running: 2 }),
    ends: "Running",
  },
  {
    left: "Running, a pod of it done",
    parts: { group: "Running", shared: true, lives: [{ runMs: 1_000 }, {}] },
    told: status("Running", { running: 1, succeeded: 1 }),
    ends: "Running",
  },
  {
    left: "Running, a pod of it failed, and no policy about that",
    parts: { group: "Running", shared: true, lives: [{ runMs: 1_000, exitCode: 3 }, {}] },
    told: status("Running", { running: 1, failed: 1 }),
    ends: "Running",
  },
  {
    left: "Running, as upstream was told to restart it on failures, and nothing has failed",
    parts: {
      ...{ group: "Running", shared: true, lives: runs },
      spec: { policies: [{ event: "*", action: "RestartJob" }] },
    },
    told: status("Running", { running: 2 }),
    ends: "Running",
  },
  { left: "Aborted", parts: {}, told: status("Aborted", { version: 1 }), ends: "Aborted", counts: [1, 0] },
  {
    left: "Aborted, with a pod that had finished",
    parts: { lives: [{ runMs: 1_000 }], standing: { version: 0 } },
    told: status("Aborted", { version: 1, succeeded: 1 }),
    ends: "Aborted",
    counts: [1, 0],
  },
  {
    left: "Completed",
    parts: { lives: [{ runMs: 1_000 }, { runMs: 1_000 }] },
    told: status("Completed", { succeeded: 2, version: 1 }),
    ends: "Completed",
    counts: [1, 0],
  },
  {
    left: "Failed, its retries spent",
    parts: { lives: [{ runMs: 1_000, exitCode: 1 }], standing: { version: 2, retryCount: 2 } },
    told: status("Failed", { failed: 1, version: 3, retryCount: 3 }),
    ends: "Failed",
    counts: [3, 3],
  },
  {
    left: "Terminated",
    parts: {},
    told: status("Terminated", { version: 1 }),
    ends: "Terminated",
    counts: [1, 0],
  },
];

/** Jobs whose pods upstream had deleted. */
const going: readonly Row[] = [
  {
    left: "Restarting",
    parts: { lives: slow, ending: true },
    told: status("Restarting", { terminating: 2, version: 1, retryCount: 1 }),
    ends: "Running",
    makes: [...shared, "podgroups", ...pods],
    counts: [1, 1],
  },
  {
    left: "Restarting a part: one pod on its way out, its group kept",
    parts: { lives: slow, ending: true, group: "Running", shared: true },
    told: status("Restarting", { terminating: 2, retryCount: 1 }),
    ends: "Running",
    makes: pods,
    counts: [0, 1],
  },
  ...["Aborting", "Completing", "Terminating"].map(
    (phase): Row => ({
      left: phase,
      parts: { lives: slow, ending: true },
      told: status(phase, { terminating: 2, version: 1 }),
      ends: { Aborting: "Aborted", Completing: "Completed", Terminating: "Terminated" }[phase] ?? "",
      counts: [1, 0],
    }),
  ),
];

const adopted = async (stand: Stand, row: Row): Promise<void> => {
  await leave(stand, row.parts, row.told);
  admitting(stand);
  const made = counting(stand);
  await stand.host({ gang: "scheduler" });
  await stand.until(`it is ${row.ends}`, () => shown(stand) === row.ends);
  await stand.turn(90_000);
  assert.equal(shown(stand), row.ends);
  assert.deepEqual(ended(stand), []);
  assert.deepEqual([...made].sort(), [...(row.makes ?? [])].sort());
  assert.deepEqual(counters(stand), row.counts ?? [0, 0]);
};

const it = itOnStand(schedulers);

describe("a host that comes after Volcano's controllers", () => {
  for (const row of followed)
    it(`${row.left}: is ${row.ends}, with its pods, its group and its keys as they were`, async (stand) => {
      let before: readonly string[] = [];
      const kinds = ["Pod", "PodGroup", "Secret", "ConfigMap", "Service"];
      const all = (): readonly string[] => kinds.flatMap((kind) => uids(stand, kind));
      const seen: typeof row.told = (now) => {
        before = all();
        return row.told(now);
      };
      await adopted(stand, { ...row, told: seen });
      const after = new Set(all());
      assert.deepEqual(
        before.filter((uid) => !after.has(uid)),
        [],
      );
      assert.equal(after.size - before.length, row.makes?.length ?? 0);
    });

  for (const row of going) it(`${row.left}: its pods end, and it is ${row.ends}`, (stand) => adopted(stand, row));
});
