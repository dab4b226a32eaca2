/** Recovery of Volcano's kinds: the parts of a damaged memory that are kept, another cluster, and the end by order. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../shared/core/object.ts";
import { timingOf } from "../../../shared/kube/history.ts";
import { recovery as cron } from "../../../shared/volcano/cron/decide.ts";
import { recovery as flow } from "../../../shared/volcano/flow/decide.ts";
import { recovery as queue } from "../../../shared/volcano/queue/decide.ts";

const key = { cluster: "here", kind: "Any", namespace: "ns", name: "x" };
const minute = 60_000;
const eight = Date.UTC(2026, 10, 2, 8);

const object = (status: object = {}): Stored => ({
  apiVersion: "v1",
  kind: "Any",
  metadata: { name: "x", namespace: "ns", uid: "x-1", resourceVersion: "1", creationTimestamp: "2026-11-02T07:00:00Z" },
  spec: { schedule: "*/5 * * * *" },
  status,
});

const job = (name: string, phase: string, owner = "x-1"): Stored => ({
  apiVersion: "batch.volcano.sh/v1alpha1",
  kind: "Job",
  metadata: {
    ...{ name, namespace: "ns", uid: `uid-${name}`, resourceVersion: "1" },
    ownerReferences: [{ apiVersion: "v1", kind: "Any", name: "x", uid: owner }],
  },
  status: { state: { phase } },
});

describe("recovery of a JobFlow", () => {
  const jobs = [job("x-a", "Completed"), job("x-b", "Running"), job("x-c", "Completed", "stranger")];
  const rebuilt = (stored: unknown, status?: object) =>
    flow.rebuild({ key, object: object(status), found: [jobs], now: eight, stored });
  const history = { "x-a": [{ state: "Completed", at: eight }] };
  const rows = [
    {
      name: "whole gains the jobs that have completed since",
      stored: { phase: "Running", completed: ["x-z"], histories: history },
      want: { phase: "Running", completed: ["x-z", "x-a"], histories: history },
      problems: 0,
    },
    {
      name: "without its phase gets the phase of the status",
      stored: { phase: 7, completed: [], histories: history },
      want: { phase: "Running", completed: ["x-a"], histories: history },
      problems: 1,
    },
    {
      name: "unreadable is built from the status and the jobs",
      stored: 7,
      want: { phase: "Running", completed: ["x-a"], histories: {} },
      problems: 1,
    },
  ];
  for (const { name, stored, want, problems } of rows)
    test(`a JobFlow's memory that is ${name}`, () => {
      const { memory, problems: found } = rebuilt(stored, { state: { phase: "Running" } });
      assert.deepEqual([memory, found.length], [want, problems]);
    });

  test("drops from a memory of another cluster the jobs that were not complete, so that they are created again", () => {
    const before = {
      ...rebuilt(undefined).memory,
      histories: { ...history, "x-b": [{ state: "Running", at: eight }] },
    };
    assert.deepEqual(flow.voided(before), { ...before, histories: history });
    const over = { ...before, phase: "Failed" as const };
    assert.deepEqual(flow.voided(over), over);
  });

  test("sets the phase Failed when the JobFlow is ended by order, unless the JobFlow was over", () => {
    const { memory } = rebuilt(undefined);
    assert.deepEqual(flow.ended?.(memory, eight, "why"), { ...memory, phase: "Failed", warned: "why" });
    assert.equal(flow.ended?.({ ...memory, phase: "Succeed" }, eight, "why").phase, "Succeed");
  });

  test("counts only jobs that have not finished as live, which an order ends", () => {
    assert.deepEqual(jobs.map(flow.isLive), [false, true, false]);
  });
});

describe("recovery of a CronJob", () => {
  const timing = timingOf(object());
  const tick = eight + 5 * minute;
  const jobs = [job(`x-${tick / minute}`, "Running"), job(`x-${(tick + 5 * minute) / minute}`, "Running", "stranger")];
  const rows = [
    {
      name: "whole stays as it is, except that a time whose job exists is taken",
      stored: { timing, since: eight, taken: eight, succeeded: eight },
      want: { timing, since: tick, taken: tick, succeeded: eight },
    },
    {
      name: "without its times gets the times of its jobs",
      stored: { timing, since: "x" },
      want: { timing, since: tick, taken: tick },
    },
    { name: "unreadable gets the times of its jobs", stored: 7, want: { timing, since: tick, taken: tick } },
    {
      name: "about to create a job still creates it",
      stored: { timing, since: tick, starting: { name: "x-1", tick: tick + minute } },
      want: { timing, since: tick, taken: tick, starting: { name: "x-1", tick: tick + minute } },
    },
  ];
  for (const { name, stored, want } of rows)
    test(`a CronJob's memory that is ${name}`, () => {
      assert.deepEqual(cron.rebuild({ key, object: object(), found: [jobs], now: tick + minute, stored }).memory, want);
    });

  test("keeps a memory of another cluster, without the refusal of that cluster", () => {
    const before = { timing, since: eight };
    assert.deepEqual(cron.voided({ ...before, refusal: "no" }), before);
  });
});

describe("recovery of a Queue", () => {
  test("keeps of a memory of another cluster the desired state, and no UID", () => {
    const before = { wanted: "Closed" as const, decidedAt: "17", commands: ["u-1"], admits: "scheduler" };
    assert.deepEqual([queue.voided(before), queue.voided({ admits: "scheduler" })], [{ wanted: "Closed" }, {}]);
  });

  test("keeps of a damaged memory the fields that can be read", () => {
    const stored = { wanted: "Ajar", commands: ["u-1"] };
    const { memory, problems } = queue.rebuild({ key, object: object(), found: [], now: eight, stored });
    assert.deepEqual([memory, problems.length], [{ commands: ["u-1"] }, 1]);
  });
});
