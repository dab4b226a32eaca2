/** The watches of jobs: the changes that send a key, and the key. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Obj } from "../../../../shared/core/object.ts";
import { volcanoJob } from "../../../../shared/volcano/job/decide.ts";
import { seeded } from "../../../../shared/volcano/job/memory.ts";
import { openJob, task } from "./fixtures.ts";

const watchOf = (plural: string) => {
  const watch = volcanoJob.watches.find(({ resource }) => resource.plural === plural);
  assert.ok(watch !== undefined);
  return watch;
};

const metadata = { name: "p", uid: "u", resourceVersion: "1", labels: { "volcano.sh/job-name": "j" } };
const pod = (status: object): Obj => ({ apiVersion: "v1", kind: "Pod", metadata, status });

describe("a job's operator", () => {
  test("watches pods by their labels, and sends a key when their phases or containers change", () => {
    const { ownerName, matters } = watchOf("pods");
    const waiting = pod({ phase: "Running", containerStatuses: [{ name: "c", ready: false, restartCount: 0 }] });
    assert.equal(ownerName(waiting), "j");
    assert.equal(matters(waiting, { ...waiting, metadata: { ...metadata, resourceVersion: "2" } }), false);
    assert.ok(
      matters(waiting, pod({ phase: "Running", containerStatuses: [{ name: "c", ready: true, restartCount: 0 }] })),
    );
    assert.ok(
      matters(waiting, pod({ phase: "Running", containerStatuses: [{ name: "c", ready: false, restartCount: 1 }] })),
    );
  });

  test("watches PodGroups by their owners, and sends a key when phase or Unschedulable reason changes", () => {
    const { ownerName, matters } = watchOf("podgroups");
    const owner = { apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job", name: "j", uid: "u" };
    const group = (phase: string): Obj => ({ ...pod({ phase }), metadata: { ...metadata, ownerReferences: [owner] } });
    assert.equal(ownerName(group("Pending")), "j");
    assert.equal(matters(group("Pending"), group("Pending")), false);
    assert.ok(matters(group("Pending"), group("Inqueue")));
    const hindered = (reason: string, lastTransitionTime: string): Obj => {
      const conditions = [{ type: "Unschedulable", status: "True", reason, lastTransitionTime }];
      return { ...group("Pending"), status: { phase: "Pending", conditions } };
    };
    assert.ok(matters(group("Pending"), hindered("NotEnoughResources", "1")));
    assert.equal(matters(hindered("NotEnoughResources", "1"), hindered("NotEnoughResources", "2")), false);
    const { trim } = watchOf("podgroups");
    const seen = { ...hindered("NotEnoughResources", "1"), metadata };
    assert.ok(matters(group("Pending"), trim?.(seen) ?? group("Pending")));
  });

  test("parses its memory as it was saved, and its error names the field that is unreadable", () => {
    const fixture = openJob({ tasks: [task("w", 3)] }).running();
    assert.deepEqual(volcanoJob.parse(JSON.parse(JSON.stringify(fixture.memory))), {
      ok: true,
      memory: fixture.memory,
    });
    const broken = volcanoJob.parse({ ...fixture.memory, seen: { w: "1-x" } });
    assert.match(broken.ok ? "" : broken.error, /seen/);
  });

  test("continues from the status that upstream's controller left", () => {
    const { phase, version, retryCount } = seeded(
      { ...openJob({}).own(), status: { state: { phase: "Running" }, version: 2, retryCount: 1 } },
      0,
    );
    assert.deepEqual({ phase, version, retryCount }, { phase: "Running", version: 2, retryCount: 1 });
  });

  test("writes the reason of a delay into the status message", () => {
    const status = volcanoJob.heldUp?.(openJob({}).own(), "quota");
    assert.deepEqual(status, { state: { phase: "Pending", message: "quota" } });
  });
});
