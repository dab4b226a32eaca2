/** A job whose spec changes while it runs: remaining pods get the new hosts before others are deleted. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { jobWatcher } from "../../../../shared/volcano/job/watches.ts";
import { type JobFixture, openJob, task } from "./fixtures.ts";

const running = (): JobFixture => openJob({ minAvailable: 1, plugins: { svc: [] }, tasks: [task("w", 3)] }).running();

const resized = (fixture: JobFixture, replicas: number): void =>
  fixture.change("jobs", "j", { spec: { tasks: [task("w", replicas)] }, metadata: { generation: replicas } });

describe("a resized job", () => {
  test("downwards patches its hosts and deletes its pods in one stage of one step, the patch first", () => {
    const fixture = running();
    const before = fixture.deeds.length;
    resized(fixture, 1);
    const { stages } = fixture.step();
    assert.deepEqual(
      fixture.deeds.slice(before).filter((deed) => !deed.includes("podgroups")),
      ["patch configmaps j-svc", "delete pods j-w-1", "delete pods j-w-2"],
    );
    assert.deepEqual(
      stages.filter((stage) => stage.some((effect) => effect.do === "delete")).map((stage) => stage.length),
      [3],
    );
  });

  test("upwards patches its hosts before it creates its pods", () => {
    const fixture = running();
    const before = fixture.deeds.length;
    resized(fixture, 4);
    fixture.step();
    assert.deepEqual(
      fixture.deeds.slice(before).filter((deed) => !deed.includes("podgroups")),
      ["patch configmaps j-svc", "create pods j-w-3"],
    );
  });

  test("sends an urgent key, and the status that a step writes does not", () => {
    const fixture = running();
    const before = fixture.own();
    const watch = jobWatcher.watches.find(({ resource }) => resource.plural === "jobs");
    assert.equal(watch?.urgent?.(before, { ...before, status: {} }), false);
    resized(fixture, 1);
    assert.equal(watch?.urgent?.(before, fixture.own()), true);
  });

  test("deletes its pods before their shared ConfigMap when it is terminated", () => {
    const fixture = running();
    const before = fixture.deeds.length;
    fixture.order("TerminateJob");
    fixture.run();
    const deeds = fixture.deeds.slice(before);
    assert.ok(deeds.indexOf("delete pods j-w-2") < deeds.indexOf("delete configmaps j-svc"), deeds.join(", "));
  });
});
