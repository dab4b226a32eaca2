/**
 * Each default and each check of admission beside reconcile's, for clusters without the webhook and for objects that were
 * stored while it was away: one place answers both, or both refuse the same input.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import { mergePatch } from "../../../../shared/simulator/schema/patch.ts";
import { readCronSpec } from "../../../../shared/volcano/cron/read.ts";
import { readFlowSpec } from "../../../../shared/volcano/flow/read.ts";
import { admissionOf } from "../../../../shared/volcano/gang/admission.ts";
import { queueGaps } from "../../../../shared/volcano/queue/defaults.ts";
import { placeSaying } from "../../../../shared/volcano/queue/state/tree.ts";
import { specIn } from "../../../../shared/volcano/validation/parse.ts";
import { good } from "../input/row.ts";
import { creating, type Fields, patchOf, said } from "./reviews.ts";

const stored = (kind: string, name: string, spec: unknown, status: Fields = {}): Stored => ({
  ...{ apiVersion: "v1", kind, spec, status },
  metadata: { name, namespace: "team", uid: `uid-${name}`, resourceVersion: "1" },
});

const template = { spec: good };

/** Reconcile's answer; "" if it goes on. */
const refusals: Readonly<Record<"CronJob" | "JobFlow" | "Job", (name: string, spec: unknown) => string>> = {
  CronJob: (name, spec) => {
    const read = readCronSpec(stored("CronJob", name, spec));
    return read.ok ? "" : read.message;
  },
  JobFlow: (name, spec) => {
    const read = readFlowSpec(stored("JobFlow", name, spec));
    return read.ok ? "" : read.message;
  },
  Job: (name, spec) => {
    const read = specIn(stored("Job", name, spec));
    return read.ok ? "" : read.message;
  },
};

const cron = (more: Fields): Fields => ({ schedule: "* * * * *", jobTemplate: template, ...more });

describe("a check of admission is one of reconcile's, too", () => {
  const rows: readonly (readonly [string, keyof typeof refusals, Fields, string?])[] = [
    ["a CronJob without a schedule", "CronJob", cron({ schedule: "" })],
    ["a CronJob with a wrong schedule", "CronJob", cron({ schedule: "x" })],
    ["a CronJob of an unknown zone", "CronJob", cron({ timeZone: "Nowhere" })],
    ["a CronJob of a long name", "CronJob", cron({}), "a".repeat(60)],
    ["a JobFlow that waits for itself", "JobFlow", { flows: [{ name: "a", dependsOn: { targets: ["a"] } }] }],
    ["a JobFlow that waits for nothing there", "JobFlow", { flows: [{ name: "a", dependsOn: { targets: ["b"] } }] }],
    ["a Job without tasks", "Job", { ...good, tasks: [] }],
    ["a Job of too large a minimum", "Job", { ...good, minAvailable: 100 }],
  ];
  for (const [what, kind, spec, name = "train"] of rows)
    test(what, () => {
      assert.notEqual(said(creating(kind, spec, { name })), "");
      assert.doesNotMatch(said(creating(kind, spec, { name })), /^warning/);
      assert.notEqual(refusals[kind](name, spec), "");
    });

  for (const more of [{ schedule: "TZ=UTC * * * * *" }, { timeZone: "" }, { timeZone: "Local" }])
    test(`a CronJob of ${JSON.stringify(more)} is refused, and a stored one runs, as by upstream's controller`, () => {
      assert.match(said(creating("CronJob", cron(more))), /TZ|timeZone/);
      assert.equal(refusals.CronJob("train", cron(more)), "");
    });

  test("a valid CronJob, JobFlow and Job pass both", () => {
    assert.deepEqual([said(creating("CronJob", cron({}))), refusals.CronJob("train", cron({}))], ["", ""]);
    assert.deepEqual([said(creating("Job", good)), refusals.Job("train", good)], ["", ""]);
    const flow = { flows: [{ name: "a" }] };
    assert.deepEqual([said(creating("JobFlow", flow)), refusals.JobFlow("train", flow)], ["", ""]);
  });
});

describe("the queue of a job", () => {
  const queues = [
    stored("Queue", "root", {}, { state: "Open" }),
    stored("Queue", "parent", { parent: "root" }, { state: "Open" }),
    stored("Queue", "leaf", { parent: "parent" }, { state: "Open" }),
    stored("Queue", "shut", { parent: "root" }, { state: "Closed" }),
  ];
  const given = queues.map(({ metadata, spec, status }) => ({ metadata: { name: metadata.name }, spec, status }));
  const owner = { apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job", name: "j", uid: "uid-j", controller: true };
  const inRound = (queue: string): string => {
    const group = stored("PodGroup", "g", { queue, minMember: 1 }, { phase: "Pending" });
    const metadata = { ...group.metadata, ownerReferences: [owner] };
    const [verdict] = admissionOf({ queues, groups: [{ ...group, metadata }], priorities: new Map() }).verdicts;
    return verdict === undefined || verdict.enters ? "" : verdict.why;
  };
  const rows = [
    { queue: "leaf", admission: /^$/, round: /^$/ },
    { queue: "gone", admission: /queue\.scheduling\.volcano\.sh "gone" not found/, round: /^queue gone is not found/ },
    { queue: "shut", admission: /status is `Closed`/, round: /^queue shut is Closed/ },
    {
      queue: "parent",
      admission: /leaf queue, queue `parent` has 1 child/,
      round: /leaf queue, queue `parent` has 1 child/,
    },
    { queue: "root", admission: /can not submit job to root queue/, round: /can not submit job to root queue/ },
  ];
  for (const { queue, admission, round } of rows)
    test(`${queue} has the same answer from admission and from the round of groups`, () => {
      assert.match(said(creating("Job", { ...good, queue }), { queues: given }), admission);
      assert.match(inRound(queue), round);
    });
});

describe("a default of admission is one of reconcile's, too", () => {
  test("of a queue: weight, reclaimable, and the root of its path", () => {
    const annotations = { "volcano.sh/hierarchy": "a/b", "volcano.sh/hierarchy-weights": "1/2" };
    const queue = { ...stored("Queue", "q", {}), metadata: { ...stored("Queue", "q", {}).metadata, annotations } };
    const merged: Fields = Object(mergePatch(queue, queueGaps(queue) ?? {}));
    assert.deepEqual(merged["spec"], { weight: 1, reclaimable: true });
    const patched = JSON.stringify(patchOf(creating("Queue", {}, { name: "q", annotations })));
    for (const part of ["weight", "reclaimable", "root/a/b", "1/1/2"]) {
      assert.ok(patched.includes(part), `${part} in ${patched}`);
      assert.ok(JSON.stringify(merged).includes(part), part);
    }
  });

  test("of a job: every field that admission writes is what a step reads", () => {
    const read = specIn(stored("Job", "train", good));
    assert.ok(read.ok);
    const spec: Fields = read.spec;
    for (const one of patchOf(creating("Job", good))) {
      const { path, value } = Object(one);
      assert.deepEqual(spec[String(path).replace("/spec/", "")], value, String(path));
    }
  });
});

test("a queue that admission refuses for its parent is told without admission, and so is a circle that admission warns of", () => {
  const of = (name: string, parent: string): Stored => stored("Queue", name, { parent }, { state: "Open" });
  const rows = [
    { queue: of("q", "q"), others: [], admission: /cannot use itself as parent/ },
    { queue: of("q", "gone"), others: [], admission: /failed to get parent queue of queue q/ },
    { queue: of("q", "p"), others: [of("p", "q")], admission: /below itself/ },
  ];
  for (const { queue, others, admission } of rows) {
    const given = [queue, ...others].map(({ metadata, spec, status }) => ({
      metadata: { name: metadata.name },
      spec,
      status,
    }));
    const request = creating("Queue", queue.spec, { name: "q" });
    assert.match(said(request, { queues: given }), admission);
    assert.match(placeSaying(queue, [queue, ...others]), admission);
  }
});
