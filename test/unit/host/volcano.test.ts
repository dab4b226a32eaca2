/**
 * Volcano jobs under a host: from `kubectl apply` to their end, beside a stand-in for the scheduler that admits groups.
 */

import assert from "node:assert/strict";
import { describe } from "node:test";
import { ApiError } from "../../../shared/core/http.ts";
import { isRecord } from "../../../shared/core/json.ts";
import type { Stored } from "../../../shared/core/object.ts";

import { command, cronJob, home, jobFlow, queue, volcanoJob } from "./objects.ts";
import { itOnStand, type Stand } from "./stand.ts";

const schedulers = { schedulers: ["default-scheduler", "volcano"] } as const;

/** Sets every PodGroup to Inqueue, as Volcano's scheduler does when there is room. */
const admitting = async (stand: Stand): Promise<void> => {
  await stand.create(home);
  await stand.create(queue);
  stand.simulator.subscribe(({ type, table, object }) => {
    if (type !== "ADDED" || table !== "podgroups.scheduling.volcano.sh") return;
    void stand.patch("PodGroup", object.metadata.name, { status: { phase: "Inqueue" } });
  });
};

const at = (object: Stored | undefined, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((inner, name) => (isRecord(inner) ? inner[name] : undefined), object?.["status"]);

const phaseOf = (stand: Stand, name: string): unknown => at(stand.get("Job", name), "state", "phase");

const it = itOnStand(schedulers);

describe("a Volcano job under a host", () => {
  it("runs to its end, and leaves no other object", async (stand) => {
    await admitting(stand);
    await stand.host({ gang: "scheduler" });
    await stand.create(volcanoJob("pair", { runMs: 5_000 }));
    await stand.until("it runs", () => phaseOf(stand, "pair") === "Running", 30_000);
    assert.match(JSON.stringify(stand.get("Secret", "pair-ssh")), /"id_rsa":"bWluZQ=="/);
    await stand.until("it is complete", () => phaseOf(stand, "pair") === "Completed", 60_000);
    await stand.turn(30_000);
    assert.equal(at(stand.get("Job", "pair"), "succeeded"), 2);
    assert.deepEqual([stand.all("PodGroup"), stand.all("Secret"), stand.all("Service")], [[], [], []]);
    const written = stand.writes().length;
    await stand.pass(0.5);
    assert.equal(stand.writes().length, written);
    assert.deepEqual(
      stand.lines.filter(({ level }) => level === "error"),
      [],
    );
  });

  it("is restarted when a pod fails, and keeps its shared objects", async (stand) => {
    await admitting(stand);
    await stand.host({ gang: "scheduler" });
    const policies = [{ event: "PodFailed", action: "RestartJob" }];
    await stand.create(volcanoJob("pair", {}, { policies }));
    await stand.until("it runs", () => phaseOf(stand, "pair") === "Running", 30_000);
    const before = stand.get("Secret", "pair-ssh")?.metadata.uid;
    stand.simulator.killPod("default", "pair-worker-1", { code: 3 });
    await stand.until("it restarts", () => phaseOf(stand, "pair") === "Restarting", 30_000);
    await stand.until("it runs again", () => phaseOf(stand, "pair") === "Running", 60_000);
    assert.deepEqual([at(stand.get("Job", "pair"), "version"), at(stand.get("Job", "pair"), "retryCount")], [1, 1]);
    assert.equal(stand.get("Secret", "pair-ssh")?.metadata.uid, before);
  });

  it("is suspended and resumed by commands, each taken once although the answer to its removal is lost", async (stand) => {
    await admitting(stand);
    await stand.host({ gang: "scheduler" });
    await stand.create(volcanoJob("pair", {}));
    await stand.until("it runs", () => phaseOf(stand, "pair") === "Running", 30_000);
    const job = stand.get("Job", "pair");
    assert.ok(job !== undefined);
    const removed = ({ method, path }: { readonly method: string; readonly path: string }): boolean =>
      method === "DELETE" && path.includes("/commands/");
    stand.fault((asked) =>
      removed(asked) ? new ApiError({ status: 0, reason: "Reset", message: "reset" }) : undefined,
    );
    await stand.create(command("suspend", "AbortJob", job));
    await stand.turn(10_000);
    stand.fault(undefined);
    await stand.until("it is suspended", () => phaseOf(stand, "pair") === "Aborted", 60_000);
    await stand.create(command("resume", "ResumeJob", job));
    await stand.until("it runs again", () => phaseOf(stand, "pair") === "Running", 60_000);
    assert.equal(at(stand.get("Job", "pair"), "retryCount"), 1);
    assert.deepEqual(stand.all("Command"), []);
  });

  it("gets its errors in its status, and affects no other", async (stand) => {
    await admitting(stand);
    await stand.host({ gang: "scheduler" });
    await stand.create(volcanoJob("bad", {}, { plugins: { magic: [] } }));
    await stand.create(volcanoJob("good", { runMs: 1_000 }));
    await stand.until("the other is complete", () => phaseOf(stand, "good") === "Completed", 60_000);
    assert.match(String(at(stand.get("Job", "bad"), "state", "message")), /unable to find job plugin: magic/);
  });
});

describe("the owners of Volcano jobs, under a host", () => {
  it("a flow runs its jobs one after the other, and deletes them in the end", async (stand) => {
    await admitting(stand);
    await stand.host({ gang: "scheduler" });
    for (const object of jobFlow("f", ["a", "b"], { runMs: 30_000 })) await stand.create(object);
    await stand.until("the first runs", () => phaseOf(stand, "f-a") === "Running", 60_000);
    assert.equal(stand.get("Job", "f-b"), undefined);
    await stand.until("the second runs", () => phaseOf(stand, "f-b") === "Running", 90_000);
    assert.equal(phaseOf(stand, "f-a"), "Completed");
    assert.deepEqual(at(stand.get("JobTemplate", "a"), "jobDependsOnList"), ["f-a"]);
    await stand.until("it has succeeded", () => at(stand.get("JobFlow", "f"), "state", "phase") === "Succeed", 90_000);
    await stand.turn(30_000);
    assert.deepEqual(stand.all("Job"), []);
    assert.deepEqual(at(stand.get("JobFlow", "f"), "completedJobs"), ["f-a", "f-b"]);
    const written = stand.writes().length;
    await stand.pass(0.5);
    assert.equal(stand.writes().length, written);
  });

  it("a CronJob runs its jobs on time even on another host, and keeps the configured number", async (stand) => {
    await admitting(stand);
    const host = await stand.host({ gang: "scheduler" });
    await stand.create(cronJob("c", { runMs: 5_000 }, { successfulJobsHistoryLimit: 2 }));
    const taken = (): string => String(at(stand.get("CronJob", "c"), "lastScheduleTime"));
    await stand.until("a job is made", () => stand.all("Job").length === 1, 90_000);
    const first = taken();
    await host.drain(1_000);
    await stand.host({ gang: "scheduler" });
    await stand.until("three more have passed", () => Date.parse(taken()) - Date.parse(first) === 180_000, 240_000);
    await stand.turn(40_000);
    const phases = stand.all("Job").map(({ metadata: { name } }) => phaseOf(stand, name));
    assert.deepEqual(phases, ["Completed", "Completed"]);
    assert.equal(at(stand.get("CronJob", "c"), "active"), undefined);
    assert.ok(Date.parse(String(at(stand.get("CronJob", "c"), "lastSuccessfulTime"))) > Date.parse(taken()));
  });
});
