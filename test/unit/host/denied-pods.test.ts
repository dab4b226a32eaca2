/**
 * Pods that a quota or a policy of the cluster refuses keep a Volcano Job from nothing else: its status, its policies
 * and its commands go on; and a pod that is evicted right after its creation was there.
 */
import assert from "node:assert/strict";
import { describe } from "node:test";
import type { HttpRequest } from "../../../shared/core/http.ts";
import type { Obj, Stored } from "../../../shared/core/object.ts";
import { at, command, cronJob, home, jobFlow, queue } from "./objects.ts";
import { itOnStand, phaseOf, type Stand } from "./stand.ts";
import { answer, type Fault } from "./way.ts";

const hour = 3_600_000;

type Fields = Readonly<Record<string, unknown>>;

const task = (name: string, replicas: number, runMs: number): Fields => ({
  name,
  replicas,
  template: {
    metadata: { annotations: { "simulator.rekindle.dev/script": JSON.stringify({ runMs }) } },
    spec: { restartPolicy: "Never", containers: [{ name: "main", image: "busybox" }] },
  },
});

const job = (spec: Fields): Obj => ({
  apiVersion: "batch.volcano.sh/v1alpha1",
  kind: "Job",
  metadata: { name: "wide", namespace: "default" },
  spec: { minAvailable: 3, tasks: [task("w", 8, hour)], ...spec },
});

const isCreation = ({ method, path }: HttpRequest): boolean => method === "POST" && /\/pods(\?|$)/.test(path);

const living = (stand: Stand): readonly Stored[] =>
  stand.all("Pod").filter((pod) => !["Succeeded", "Failed"].includes(String(at(pod, "status", "phase"))));

/** A ResourceQuota of so many pods, which counts those whose creation is under way, too. */
const quota = (stand: Stand, most: () => number): Fault => {
  let underway = 0;
  stand.simulator.subscribe(({ type, table }) => {
    if (type === "ADDED" && table === "pods") underway -= 1;
  });
  return (asked) => {
    if (!isCreation(asked)) return undefined;
    const used = living(stand).length + underway;
    if (used >= most())
      return answer(403, "Forbidden", `pods "wide-w-7" is forbidden: exceeded quota: q, used: pods=${used}`);
    underway += 1;
    return undefined;
  };
};

/** A policy that refuses the pods whose names have this part. */
const policy =
  (part: string): Fault =>
  (asked) =>
    isCreation(asked) && (asked.body ?? "").includes(`"name":"wide-${part}`)
      ? answer(403, "Forbidden", `pods "wide-${part}-0" is forbidden: ValidatingAdmissionPolicy 'p' denied request: no`)
      : undefined;

const status = (stand: Stand, ...path: readonly string[]): unknown => at(stand.get("Job", "wide"), "status", ...path);

const begin = async (stand: Stand, spec: Fields): Promise<void> => {
  await stand.create(home);
  await stand.create(queue);
  await stand.host({ gang: "none" });
  await stand.create(job(spec));
};

const options = { schedulers: ["default-scheduler", "volcano"] } as const;

const events = (stand: Stand): string =>
  JSON.stringify(stand.all("Event").map(({ reason, message }) => [reason, message]));

const it = itOnStand(options);

describe("a Volcano Job whose quota refuses pods beyond its minimum", () => {
  it("shows what runs, says what is refused, and gets its other pods when the quota has room", async (stand) => {
    let most = 5;
    stand.fault(quota(stand, () => most));
    await begin(stand, {});
    await stand.until("it shows five running pods", () => status(stand, "running") === 5, 60_000);
    assert.equal(phaseOf(stand, "wide"), "Running");
    assert.equal(status(stand, "pending"), undefined);
    assert.match(String(status(stand, "state", "message")), /exceeded quota/);
    await stand.turn(120_000);
    assert.match(events(stand), /FailedCreate.*exceeded quota/);
    const tries = stand.writes().filter((line) => /^POST .*\/pods/.test(line)).length;
    await stand.turn(600_000);
    const more = stand.writes().filter((line) => /^POST .*\/pods/.test(line)).length - tries;
    assert.ok(more > 0 && more <= 3 * 11, `${more} creations in ten minutes`);
    most = 8;
    await stand.until("all eight run", () => status(stand, "running") === 8, 120_000);
    await stand.turn(30_000);
    assert.doesNotMatch(String(status(stand, "state", "message")), /exceeded quota/);
  });

  it("obeys its policies and commands", async (stand) => {
    stand.fault(quota(stand, () => 5));
    await begin(stand, { policies: [{ event: "PodFailed", action: "RestartPod" }] });
    await stand.until("five pods run", () => status(stand, "running") === 5, 60_000);
    stand.simulator.killPod("default", "wide-w-1", { code: 3 });
    await stand.until("the policy has acted", () => events(stand).includes("RestartPod"), 20_000);
    const wide = stand.get("Job", "wide");
    assert.ok(wide !== undefined);
    await stand.create(command("suspend", "AbortJob", wide));
    await stand.until("it is suspended", () => phaseOf(stand, "wide") === "Aborted", 60_000);
    assert.equal(stand.get("Command", "suspend"), undefined);
  });

  it("completes by the policy of a task although a policy of the cluster refuses another task for ever", async (stand) => {
    stand.fault(policy("helper"));
    const tasks = [
      { ...task("main", 1, 20_000), policies: [{ event: "TaskCompleted", action: "CompleteJob" }] },
      task("helper", 2, hour),
    ];
    await begin(stand, { minAvailable: 1, tasks });
    await stand.until("it has completed", () => phaseOf(stand, "wide") === "Completed", 120_000);
  });
});

describe("a pod that is evicted right after its creation", () => {
  it("is an eviction, and the policy for it acts", async (stand) => {
    let evicted = false;
    stand.simulator.subscribe(({ type, table, object }) => {
      if (evicted || type !== "ADDED" || table !== "pods" || object.metadata.name !== "wide-w-2") return;
      evicted = true;
      void stand.remove("Pod", "wide-w-2");
    });
    await begin(stand, { policies: [{ event: "PodEvicted", action: "RestartTask" }] });
    await stand.until("the policy has acted", () => events(stand).includes("RestartTask"), 60_000);
    await stand.until("all eight run", () => status(stand, "running") === 8, 120_000);
  });
});

/** A ResourceQuota that has no room for a further job while it is full. */
const jobQuota =
  (isFull: () => boolean): Fault =>
  ({ method, path }) =>
    isFull() && method === "POST" && /\/jobs(\?|$)/.test(path)
      ? answer(403, "Forbidden", `jobs "next" is forbidden: exceeded quota: q, used: count/jobs.batch.volcano.sh=2`)
      : undefined;

describe("a CronJob whose quota refuses its next job", () => {
  it("shows that the last job has ended, and keeps no more old jobs than its limit", async (stand) => {
    let full = false;
    stand.fault(jobQuota(() => full));
    await stand.create(home);
    await stand.create(queue);
    await stand.host({ gang: "none" });
    await stand.create(cronJob("c", { runMs: 80_000 }, { successfulJobsHistoryLimit: 0 }));
    await stand.until("a job is made", () => stand.all("Job").length === 1, 90_000);
    full = true;
    await stand.until("its job is deleted", () => stand.all("Job").length === 0, 120_000);
    await stand.turn(120_000);
    assert.equal(at(stand.get("CronJob", "c"), "status", "active"), undefined);
    assert.match(events(stand), /exceeded quota/);
    full = false;
    await stand.until("a later job is made", () => stand.all("Job").length === 1, 400_000);
  });
});

describe("a JobFlow whose quota refuses its next job", () => {
  it("shows that the job before has completed", async (stand) => {
    let full = false;
    stand.fault(jobQuota(() => full));
    await stand.create(home);
    await stand.create(queue);
    await stand.host({ gang: "none" });
    for (const object of jobFlow("f", ["a", "b"], { runMs: 30_000 })) await stand.create(object);
    await stand.until("the first job is made", () => stand.all("Job").length === 1, 60_000);
    full = true;
    await stand.until("it has completed", () => phaseOf(stand, "f-a") === "Completed", 120_000);
    await stand.turn(120_000);
    assert.deepEqual(at(stand.get("JobFlow", "f"), "status", "completedJobs"), ["f-a"]);
    assert.match(events(stand), /exceeded quota/);
    full = false;
    await stand.until("the second job is made", () => stand.get("Job", "f-b") !== undefined, 400_000);
  });
});
