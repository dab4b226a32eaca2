/**
 * `rekindle recover` and foreign records for Volcano's kinds, beside a host: as for applications, in the words of each
 * kind.
 */

import assert from "node:assert/strict";
import { describe } from "node:test";

import { rekindle } from "./command.ts";
import { admitting, schedulers } from "./left.ts";
import { at, cronJob, home, jobFlow, queue, volcanoJob } from "./objects.ts";
import { itOnStand, type Stand } from "./stand.ts";

const phaseOf = (stand: Stand, name: string, kind = "Job"): unknown =>
  at(stand.get(kind, name), "status", "state", "phase");

const living = (stand: Stand, kind: string, of: string): readonly (string | undefined)[] =>
  stand
    .all(kind)
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined && metadata.name.startsWith(`${of}-`))
    .map(({ metadata }) => metadata.uid);

const reasons = (stand: Stand, name: string): readonly unknown[] =>
  stand
    .all("Event")
    .filter((event) => at(event, "involvedObject", "name") === name)
    .map((event) => event["reason"])
    .filter((reason) => /Rekindle|Recovery/.test(String(reason)))
    .sort();

const unsealed = { metadata: { annotations: { "rekindle.dev/seal": null } } };
const elsewhere = { cluster: "another-cluster", uid: "another-uid" };

const opened = async (stand: Stand): Promise<void> => {
  await stand.create(home);
  for (const name of ["default", "root"]) await stand.create({ ...queue, metadata: { name } });
  admitting(stand);
  await stand.host({ gang: "scheduler" });
};

/** Starts a job that runs until it is ended, and another one beside it. */
const underWay = async (stand: Stand, life: object = {}): Promise<void> => {
  await opened(stand);
  for (const name of ["pair", "other"]) await stand.create(volcanoJob(name, life));
  await stand.until("both run", () => ["pair", "other"].every((name) => phaseOf(stand, name) === "Running"));
  await stand.turn(3_000);
};

const clean = (stand: Stand, name: string, ...more: readonly string[]): Promise<string> =>
  rekindle(stand, "recover", name, "--mode", "cleanup", "--yes", ...more);

const it = itOnStand(schedulers);

describe("cleanup of a Job", () => {
  it("ends the job's objects, terminates it, reports both, and stops; the other job continues", async (stand) => {
    await underWay(stand);
    const others = living(stand, "Pod", "other");
    const told = await clean(stand, "job/default/pair");
    assert.match(
      told,
      /job\/default\/pair {2}cleaning[\s\S]*pods default\/pair-worker-0[\s\S]*0 refused, 0 not settled/,
    );
    await stand.until("it is terminated", () => phaseOf(stand, "pair") === "Terminated", 60_000);
    assert.match(String(at(stand.get("Job", "pair"), "status", "state", "message")), /rekindle recover --mode cleanup/);
    assert.deepEqual(reasons(stand, "pair"), ["RekindleCleanedUp", "RekindleRecovering"]);
    await stand.pass(0.5);
    const left = ["Pod", "PodGroup"].map((kind) => living(stand, kind, "pair"));
    assert.deepEqual(
      [left, stand.get("Secret", "pair-ssh"), phaseOf(stand, "pair")],
      [[[], []], undefined, "Terminated"],
    );
    assert.deepEqual([living(stand, "Pod", "other"), phaseOf(stand, "other")], [others, "Running"]);
  });

  it("deletes by force, by UID, the pods that outlive their grace period", async (stand) => {
    await underWay(stand, { stopMs: 600_000 });
    const told = await clean(stand, "job/pair", "-n", "default", "--grace", "5");
    assert.match(told, /0 refused, 0 not settled/);
    assert.deepEqual(
      stand.all("Pod").filter(({ metadata }) => metadata.name.startsWith("pair-")),
      [],
    );
  });

  it("is carried out by the host if the command is interrupted", async (stand) => {
    await underWay(stand);
    assert.match(
      await clean(stand, "job/default/pair", "--wait", "0s"),
      /the timeout has passed: default\/pair waits for/,
    );
    await stand.until("it is terminated", () => phaseOf(stand, "pair") === "Terminated", 400_000);
    assert.deepEqual(living(stand, "Pod", "pair"), []);
  });
});

describe("a Job whose record cannot be used", () => {
  const spoils: readonly (readonly [what: string, spec: object])[] = [
    ["the phase", { memory: { phase: "NONSENSE" } }],
    ["the version", { memory: { version: "two" } }],
    ["the whole memory", { memory: 7 }],
    ["nearly everything", { memory: { phase: 7, seen: 7, conditions: 7, version: -1 }, saves: -1, uid: "" }],
  ];
  for (const [what, spec] of spoils)
    it(`${what}: is refused in strict mode; otherwise its pods are adopted, which is reported`, async (stand) => {
      await underWay(stand, { runMs: 60_000 });
      const before = living(stand, "Pod", "pair");
      await stand.patch("Checkpoint", "job.pair", { spec });
      assert.match(await rekindle(stand, "recover", "job/default/pair"), /refused: checkpoint cannot be read/);
      const told = await rekindle(stand, "recover", "job/default/pair", "--no-strict");
      assert.match(told, /salvaged[\s\S]*adopted .*pods default\/pair-worker-0[\s\S]*0 refused, 0 not settled/);
      assert.deepEqual(reasons(stand, "pair"), ["RecoveryFailed", "RekindleRecovered"]);
      await stand.turn(5_000);
      assert.deepEqual(living(stand, "Pod", "pair"), before);
      await stand.until("it is complete", () => phaseOf(stand, "pair") === "Completed", 400_000);
      assert.equal(at(stand.get("Job", "pair"), "status", "retryCount") ?? 0, 0);
    });

  it("is made anew from its status and its pods after a loss", async (stand) => {
    await underWay(stand, { runMs: 60_000 });
    const before = living(stand, "Pod", "pair");
    await stand.remove("Checkpoint", "job.pair");
    const told = await rekindle(stand, "recover", "job/default/pair");
    assert.match(told, /found +missing[\s\S]*adopted .*pods default\/pair-worker-0/);
    assert.deepEqual(living(stand, "Pod", "pair"), before);
    await stand.until("it is complete", () => phaseOf(stand, "pair") === "Completed", 400_000);
  });
});

describe("the recovery of an owner of jobs:", () => {
  const flow = async (stand: Stand, life: object): Promise<void> => {
    await opened(stand);
    for (const object of jobFlow("f", ["a", "b"], life)) await stand.create(object);
  };

  it("a JobFlow that is cleaned up fails, ends its running job, and creates no other", async (stand) => {
    await flow(stand, {});
    await stand.until("its first job runs", () => phaseOf(stand, "f-a") === "Running", 60_000);
    assert.match(
      await clean(stand, "jobflow/default/f"),
      /ended .*jobs\.?\S* default\/f-a[\s\S]*0 refused, 0 not settled/,
    );
    await stand.until("it has failed", () => phaseOf(stand, "f", "JobFlow") === "Failed", 60_000);
    await stand.pass(0.5);
    assert.deepEqual([stand.all("Job"), living(stand, "Pod", "f")], [[], []]);
    assert.deepEqual(reasons(stand, "f"), ["RekindleCleanedUp", "RekindleRecovering"]);
  });

  it("a JobFlow in another cluster repeats no completed job, and continues with the next", async (stand) => {
    await flow(stand, { runMs: 20_000 });
    await stand.until("its second job runs", () => phaseOf(stand, "f-b") === "Running", 120_000);
    await stand.patch("Checkpoint", "jobflow.f", { ...unsealed, spec: elsewhere });
    assert.match(await rekindle(stand, "recover", "jobflow/default/f"), /voided[\s\S]*0 refused/);
    await stand.until("it has succeeded", () => phaseOf(stand, "f", "JobFlow") === "Succeed", 120_000);
    assert.deepEqual(at(stand.get("JobFlow", "f"), "status", "completedJobs"), ["f-a", "f-b"]);
    assert.equal(stand.writes().filter((line) => /^POST \S+\/jobs$/.test(line)).length, 2);
    assert.deepEqual(reasons(stand, "f"), ["RekindleRecovered"]);
  });

  it("a CronJob that is cleaned up creates no job until its spec changes", async (stand) => {
    await opened(stand);
    await stand.create(cronJob("c", {}));
    await stand.until("a job runs", () => living(stand, "Job", "c").length > 0, 120_000);
    assert.match(await clean(stand, "cronjob/default/c"), /0 refused, 0 not settled/);
    assert.deepEqual(living(stand, "Job", "c"), []);
    assert.equal(at(stand.get("CronJob", "c"), "status", "active"), undefined);
    await stand.turn(180_000);
    assert.deepEqual([living(stand, "Job", "c"), reasons(stand, "c")[0]], [[], "RekindleCleanedUp"]);
    await stand.patch("CronJob", "c", { spec: { failedJobsHistoryLimit: 3 } });
    await stand.until("it makes jobs again", () => living(stand, "Job", "c").length > 0, 180_000);
  });

  it("a CronJob with a damaged record, or of another cluster, runs no time twice", async (stand) => {
    await opened(stand);
    await stand.create(cronJob("c", { runMs: 1_000 }, { schedule: "*/30 * * * *" }));
    await stand.until("a job runs", () => living(stand, "Job", "c").length === 1, 2_000_000);
    const before = living(stand, "Job", "c");
    await stand.turn(20_000);
    await stand.patch("Checkpoint", "cronjob.c", { spec: { memory: { since: "long ago", timing: 7 } } });
    assert.match(await rekindle(stand, "recover", "cronjob/default/c", "--no-strict"), /salvaged[\s\S]*0 refused/);
    await stand.patch("Checkpoint", "cronjob.c", { ...unsealed, spec: elsewhere });
    assert.match(await rekindle(stand, "recover", "cronjob/default/c"), /voided[\s\S]*0 refused/);
    await stand.turn(60_000);
    assert.deepEqual(living(stand, "Job", "c"), before);
  });
});

describe("a Queue", () => {
  it("is named without a namespace; after a cleanup it loses its commands and continues", async (stand) => {
    await opened(stand);
    await stand.create({ ...queue, metadata: { name: "deep" } });
    await stand.turn(10_000);
    assert.match(await clean(stand, "queue/deep"), /queue\/deep {2}cleaning[\s\S]*0 refused, 0 not settled/);
    await stand.turn(60_000);
    assert.equal(at(stand.get("Queue", "deep", ""), "status", "state"), "Open");
    assert.deepEqual(reasons(stand, "deep"), ["RekindleCleanedUp", "RekindleRecovering"]);
  });

  it("that was closed in another cluster stays closed in this one", async (stand) => {
    await opened(stand);
    await stand.create({ ...queue, metadata: { name: "deep" }, status: { state: "Closed" } });
    await stand.turn(10_000);
    await stand.patch("Checkpoint", "queue.deep", { ...unsealed, spec: elsewhere }, "rekindle");
    assert.match(await rekindle(stand, "recover", "queue/deep"), /voided[\s\S]*0 refused/);
    await stand.turn(60_000);
    assert.deepEqual(reasons(stand, "deep"), ["RekindleRecovered"]);
  });
});

describe("rekindle recover -A", () => {
  it("takes owners before their jobs, and includes queues", async (stand) => {
    await underWay(stand, { runMs: 300_000 });
    await stand.create(cronJob("c", {}, { schedule: "0 0 1 1 *" }));
    for (const object of jobFlow("f", ["a"], { runMs: 300_000 })) await stand.create(object);
    await stand.turn(20_000);
    const before = living(stand, "Pod", "pair");
    const told = await rekindle(stand, "recover", "-A");
    const names = [...told.matchAll(/^(\S+) {2}(?:reconnecting|sound: nothing to do)$/gm)].map(([, name]) => name);
    const own = ["cronjob/default/c", "jobflow/default/f", "job/default/f-a", "job/default/other", "job/default/pair"];
    assert.deepEqual(names, [...own, "jobtemplate/default/a", "queue/default", "queue/root"]);
    assert.match(told, /0 refused, 0 not settled/);
    await stand.turn(60_000);
    assert.deepEqual(living(stand, "Pod", "pair"), before);
    assert.ok(!(await rekindle(stand, "recover", "-n", "default")).includes("queue/"));
  });
});
