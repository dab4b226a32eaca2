/**
 * Jobs of Volcano's controllers after a host has taken them over: they end, restart and resume as they would have; and
 * kinds that create jobs create none twice.
 */
import assert from "node:assert/strict";
import { describe } from "node:test";
import { request } from "../../../shared/adapters/kubernetes/requests.ts";
import { timeText } from "../../../shared/core/time.ts";
import { admitting, counters, counting, ended, leave, runs, schedulers, shown, status, uids } from "./left.ts";
import { command, cronJob, home, jobFlow, queue, volcanoJob } from "./objects.ts";
import { itOnStand, type Stand } from "./stand.ts";

const it = itOnStand(schedulers);

describe("a job of Volcano's controllers, taken over", () => {
  it("runs to its end in upstream's pods", async (stand) => {
    await leave(
      stand,
      {
        group: "Running",
        shared: true,
        lives: [{ runMs: 40_000 }, { runMs: 60_000 }],
        standing: { version: 2, retryCount: 1 },
      },
      status("Running", { running: 2, version: 2, retryCount: 1 }),
    );
    const before = uids(stand, "Pod");
    await stand.host({ gang: "scheduler" });
    await stand.until("it is complete", () => shown(stand) === "Completed");
    await stand.turn(30_000);
    assert.deepEqual(uids(stand, "Pod"), before);
    assert.deepEqual(counters(stand), [2, 1]);
    assert.ok(!ended(stand).some((line) => line.includes("/pods/")));
  });

  it("that is restarted gets a group of its own name in place of an earlier version's", async (stand) => {
    const spec = { policies: [{ event: "PodFailed", action: "RestartJob" }] };
    const parts = { spec, group: "Running", shared: true, lives: runs, standing: { legacy: true } };
    await leave(stand, parts, status("Running", { running: 2 }));
    admitting(stand);
    await stand.host({ gang: "scheduler" });
    await stand.turn(30_000);
    stand.simulator.killPod("default", "pair-worker-1", { code: 3 });
    await stand.until("it restarts", () => shown(stand) === "Restarting");
    await stand.until("it runs again", () => shown(stand) === "Running");
    const uid = stand.get("Job", "pair")?.metadata.uid;
    assert.deepEqual(
      stand.all("PodGroup").map(({ metadata }) => metadata.name),
      [`pair-${uid}`],
    );
    assert.deepEqual(counters(stand), [1, 1]);
  });

  it("ends the pods that upstream had marked for deletion, and no others", async (stand) => {
    await leave(stand, { lives: runs, marked: true }, status("Restarting", { running: 2, version: 1, retryCount: 1 }));
    admitting(stand);
    const before = uids(stand, "Pod");
    await stand.host({ gang: "scheduler" });
    await stand.until("it runs again", () => shown(stand) === "Running");
    assert.equal(ended(stand).filter((line) => line.includes("/pods/")).length, 2);
    assert.ok(uids(stand, "Pod").every((uid) => !before.includes(uid)));
    assert.deepEqual(counters(stand), [1, 1]);
  });

  it("resumes by a command although upstream had aborted it", async (stand) => {
    await leave(stand, {}, status("Aborted", { version: 1 }));
    admitting(stand);
    await stand.host({ gang: "scheduler" });
    await stand.turn(20_000);
    const job = stand.get("Job", "pair");
    assert.ok(job !== undefined);
    await stand.create(command("resume", "ResumeJob", job));
    await stand.until("it runs", () => shown(stand) === "Running");
    assert.equal(counters(stand)[1], 1);
  });
});

const put = async (stand: Stand, kind: "Job" | "CronJob" | "JobFlow", name: string, more: object): Promise<void> => {
  const groups = { Job: "batch", CronJob: "batch", JobFlow: "flow" } as const;
  const path = `/apis/${groups[kind]}.volcano.sh/v1alpha1/namespaces/default/${kind.toLowerCase()}s/${name}/status`;
  await request(stand.simulator.transport, "PUT", path, { ...stand.get(kind, name), status: more });
};

const queues = async (stand: Stand): Promise<void> => {
  await stand.create(home);
  for (const name of ["default", "root"]) await stand.create({ ...queue, metadata: { name } });
};

describe("the owners of jobs, taken over", () => {
  it("a CronJob does not repeat a time that upstream has run", async (stand) => {
    await queues(stand);
    await stand.create(cronJob("c", {}, { schedule: "0 * * * *" }));
    const lastScheduleTime = timeText(Math.floor(stand.simulator.clock.now() / 3_600_000) * 3_600_000);
    await put(stand, "CronJob", "c", { lastScheduleTime, lastSuccessfulTime: lastScheduleTime });
    const made = counting(stand);
    await stand.host({ gang: "scheduler" });
    await stand.turn(120_000);
    assert.deepEqual([made, ended(stand)], [[], []]);
  });

  it("a flow whose first job is complete continues with the second, and repeats neither", async (stand) => {
    await queues(stand);
    for (const object of jobFlow("f", ["a", "b"], {})) await stand.create(object);
    const flow = stand.get("JobFlow", "f");
    assert.ok(flow !== undefined);
    const { apiVersion, kind, metadata } = flow;
    const owner = { apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true };
    for (const [name, phase] of [
      ["a", "Completed"],
      ["b", "Aborted"],
    ] as const) {
      const labels = {
        "volcano.sh/createdByJobFlow": "default.f",
        "volcano.sh/createdByJobTemplate": `default.${name}`,
      };
      const one = volcanoJob(`f-${name}`, {});
      await stand.create({
        ...one,
        metadata: { ...one.metadata, labels, annotations: labels, ownerReferences: [owner] },
      });
      await put(stand, "Job", `f-${name}`, status(phase)(stand.simulator.clock.now()));
    }
    await put(stand, "JobFlow", "f", { state: { phase: "Running" }, completedJobs: ["f-a"], runningJobs: ["f-b"] });
    const before = uids(stand, "Job");
    const made = counting(stand);
    await stand.host({ gang: "scheduler" });
    await stand.turn(120_000);
    assert.deepEqual([made, ended(stand), uids(stand, "Job")], [[], [], before]);
  });

  it("a dry run on upstream's objects writes nothing", async (stand) => {
    await leave(stand, { lives: runs, group: "Running", shared: true }, status("Running", { running: 2 }));
    const planned: string[] = [];
    await stand.host({ gang: "scheduler", shadow: ({ name }) => void planned.push(name) });
    await stand.turn(60_000);
    assert.deepEqual(stand.writes(), []);
    assert.ok(planned.includes("pair"));
  });
});
