/** Watches of the kinds that create jobs: the changes that send a key, the key, and the fields that are cached. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../shared/core/object.ts";
import type { Watch } from "../../../shared/core/operator.ts";
import { volcanoCronJob } from "../../../shared/volcano/cron/decide.ts";
import { volcanoJobFlow } from "../../../shared/volcano/flow/decide.ts";
import { volcanoJobTemplate } from "../../../shared/volcano/template/decide.ts";

const settings = { settledMs: 16_000 };
const operators = {
  CronJob: volcanoCronJob(settings),
  JobFlow: volcanoJobFlow(settings),
  JobTemplate: volcanoJobTemplate,
};

type Kind = keyof typeof operators;

const watchOf = (kind: Kind): Watch => {
  const watch = operators[kind].watches.find(({ resource }) => resource.plural === "jobs");
  assert.ok(watch !== undefined);
  return watch;
};

const job = (phase: string, more: object = {}, metadata: object = {}): Stored => ({
  apiVersion: "batch.volcano.sh/v1alpha1",
  kind: "Job",
  metadata: {
    ...{ name: "j", namespace: "ns", uid: "u", resourceVersion: "1" },
    labels: { "volcano.sh/createdByJobTemplate": "ns.t.one" },
    ownerReferences: [
      { apiVersion: "batch.volcano.sh/v1alpha1", kind: "CronJob", name: "c", uid: "1" },
      { apiVersion: "batch/v1", kind: "CronJob", name: "another", uid: "2" },
      { apiVersion: "flow.volcano.sh/v1alpha1", kind: "JobFlow", name: "f", uid: "3" },
    ],
    ...metadata,
  },
  spec: { tasks: [] },
  status: { state: { phase }, ...more },
});

const ending = { deletionTimestamp: "2026-11-02T08:00:00Z" };
const counted = { taskStatusCount: { w: { phase: { Running: 1 } } } };

describe("the watch of jobs", () => {
  const owners: readonly (readonly [Kind, string])[] = [
    ["CronJob", "c"],
    ["JobFlow", "f"],
    ["JobTemplate", "t.one"],
  ];
  for (const [kind, owner] of owners)
    test(`names ${owner} as the job's ${kind}`, () => {
      assert.equal(watchOf(kind).ownerName(job("Running")), owner);
    });

  test("names no JobTemplate for a job of another namespace than the label's", () => {
    assert.equal(watchOf("JobTemplate").ownerName(job("", {}, { namespace: "other" })), undefined);
  });

  const changes: readonly (readonly [what: string, after: Stored, kinds: readonly Kind[]])[] = [
    ["another phase", job("Completed"), ["CronJob", "JobFlow"]],
    ["its deletion", job("Running", {}, ending), ["CronJob", "JobFlow"]],
    ["its task counts", job("Running", counted), ["JobFlow"]],
    ["another resource version alone", job("Running", {}, { resourceVersion: "2" }), []],
  ];
  for (const [what, after, kinds] of changes)
    test(`sends a key for ${what}: ${kinds.join(", ") || "of no kind"}`, () => {
      const all: readonly Kind[] = ["CronJob", "JobFlow", "JobTemplate"];
      assert.deepEqual(
        all.filter((kind) => watchOf(kind).matters(job("Running"), after)),
        kinds,
      );
    });

  test("sends a key of each kind for a new job", () => {
    for (const { kind } of Object.values(operators)) assert.ok(watchOf(kindOf(kind)).matters(undefined, job("")));
  });

  test("keeps the parts of the status that a JobFlow reads", () => {
    const kept = watchOf("JobFlow").trim?.(job("Running", { ...counted, conditions: [{}] }));
    assert.deepEqual(kept?.["status"], {
      ...{ state: { phase: "Running" }, retryCount: undefined, runningDuration: undefined },
      ...counted,
    });
    assert.equal(kept?.["spec"], undefined);
  });
});

const kindOf = (kind: string): Kind => (kind === "CronJob" || kind === "JobFlow" ? kind : "JobTemplate");

describe("the memory", () => {
  const memories: readonly (readonly [Kind, object, string])[] = [
    ["CronJob", { timing: "t", since: 1, taken: 2, starting: { name: "c-1", tick: 3 }, succeeded: 4 }, "since"],
    ["JobFlow", { phase: "Running", completed: ["f-a"], histories: { "f-a": [{ state: "Running", at: 1 }] } }, "phase"],
  ];
  for (const [kind, memory, field] of memories)
    test(`of a ${kind} is parsed as it was saved, and an error names the field that is unreadable`, () => {
      assert.deepEqual(operators[kind].parse(memory), { ok: true, memory });
      const broken = operators[kind].parse({ ...memory, [field]: [] });
      assert.match(broken.ok ? "" : broken.error, new RegExp(field));
    });
});
