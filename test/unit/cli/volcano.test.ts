/** Volcano's kinds beside Spark's: rekindle list, status, suspend and resume. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { checkpointObject, checkpointRef } from "../../../shared/adapters/checkpoints/kubernetes.ts";
import { request } from "../../../shared/adapters/kubernetes/requests.ts";
import type { Obj } from "../../../shared/core/object.ts";
import { make, openTerminal, type Terminal } from "./terminal.ts";

const template = { spec: { containers: [{ name: "main", image: "busybox" }] } };
const spec = { tasks: [{ name: "w", replicas: 1, template }] };
const metadata = { namespace: "default" };

const objects: readonly Obj[] = [
  {
    ...{ apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job", metadata: { ...metadata, name: "j" }, spec },
    status: { state: { phase: "Aborted" }, retryCount: 2, failed: 1 },
  },
  {
    ...{ apiVersion: "batch.volcano.sh/v1alpha1", kind: "CronJob", metadata: { ...metadata, name: "c" } },
    spec: { schedule: "* * * * *", jobTemplate: { spec } },
    status: { active: [{ name: "c-1" }], lastScheduleTime: "2026-11-02T08:00:00Z" },
  },
  {
    ...{ apiVersion: "flow.volcano.sh/v1alpha1", kind: "JobFlow", metadata: { ...metadata, name: "f" } },
    spec: { flows: [{ name: "a" }] },
    status: { state: { phase: "Failed" }, failedJobs: ["f-a"] },
  },
];

const open = async (): Promise<Terminal> => {
  const terminal = openTerminal();
  await make(terminal.simulator, ...objects);
  return terminal;
};

describe("Volcano's kinds", () => {
  test("have lists of their own, with upstream's columns", async () => {
    const { out } = await (await open()).run("list", "-o", "wide");
    for (const line of [
      /^default +j +Aborted +3 +\S+ +a user to resume it +0 +0 +0 +1$/m,
      /^default +c +Active +\S+ +c-1 and its next time +\* \* \* \* \* +1? *.*2026-11-02T08:00:00Z$/m,
      /^default +f +Failed +\S+ +job f-a failed +f-a$/m,
    ])
      assert.match(out, line);
  });

  const rows: readonly (readonly [string, RegExp])[] = [
    ["Job/default/j", /^state +Aborted\nwaits for .*\n.*\ndo +.*another controller runs it/],
    ["vj/default/j", /Aborted/],
    [
      "jf/default/f",
      /^state +Failed\nwaits for +nothing: it has failed: job f-a failed\n.*\ndo +see why with rekindle status of the job/,
    ],
    ["cronvj/default/c", /^state +Active\nwaits for +c-1 and its next time/],
  ];
  for (const [name, wanted] of rows)
    test(`status of ${name}`, async () => {
      assert.match((await (await open()).run("status", name)).out, wanted);
    });

  test("have the history of a job from its record", async () => {
    const terminal = await open();
    const at = Date.UTC(2026, 10, 2, 8);
    const conditions = ["Pending", "Running", "Aborting", "Aborted"].map((phase, minute) => ({
      ...{ phase, at: at + minute * 60_000 },
    }));
    const key = { cluster: "default", kind: "Job", namespace: "default", name: "j" };
    const memory = { conditions, retryCount: 2 };
    const record = { schema: 1 as const, cluster: "c", uid: "u", saves: 1, memory };
    await make(terminal.simulator, checkpointObject(checkpointRef(key, "rekindle"), key, record));
    const told = await terminal.run("status", "Job/default/j");
    assert.match(told.out, /^went +Pending 08:00:00 → Running 08:01:00 → Aborting 08:02:00 → Aborted 08:03:00$/m);
  });

  test("are suspended by the spec of a CronJob, or by a Command for a Job", async () => {
    const terminal = await open();
    assert.match((await terminal.run("suspend", "CronJob/default/c")).out, /is being suspended/);
    assert.match((await terminal.run("list", "CronJob")).out, /Suspended/);
    assert.match((await terminal.run("suspend", "Job/default/j")).err, /rekindle job suspend -n default j$/);
  });
});

describe("a job whose group waits", () => {
  const waiting = async (name: string, message: string): Promise<Terminal> => {
    const terminal = openTerminal();
    await make(terminal.simulator, {
      ...{ apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job", metadata: { ...metadata, name }, spec },
      status: { state: { phase: "Pending" } },
    });
    const job = terminal.simulator.store.get("jobs.batch.volcano.sh", `default/${name}`);
    const ownerReferences = [
      { apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job", name, uid: job?.metadata.uid ?? "" },
    ];
    const group = { apiVersion: "scheduling.volcano.sh/v1beta1", kind: "PodGroup", spec: { queue: "q" } };
    const conditions = [{ type: "Unschedulable", status: "True", reason: "NotEnoughResources", message }];
    const groups = [
      { ...group, metadata: { ...metadata, name: "a-earlier" }, status: { phase: "Pending" } },
      { ...group, metadata: { ...metadata, name: "own", ownerReferences }, status: { phase: "Pending", conditions } },
    ];
    const path = "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups";
    for (const one of groups) await request(terminal.simulator.transport, "POST", path, one);
    return terminal;
  };

  test("has the group's position in its queue and its lacking resources", async () => {
    const message = "needs 4 × 2 cpu; 3 places on 3 of 5 nodes";
    const terminal = await waiting("train", message);
    const { out } = await terminal.run("status", "job/default/train");
    assert.match(
      out,
      /^waits for +its group to be admitted \(position 2 of 2 in queue q\): needs 4 × 2 cpu; 3 places on 3 of 5 nodes$/m,
    );
    const { group } = JSON.parse((await terminal.run("status", "job/default/train", "-o", "json")).out);
    assert.deepEqual(group, { name: "own", queue: "q", position: 2, of: 2, why: message });
  });
});
