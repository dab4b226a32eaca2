/** Pods of other owners with Rekindle's names and labels: neither counted nor deleted, and reported as foreign. */
import assert from "node:assert/strict";
import { describe } from "node:test";
import type { Obj, Stored } from "../../../shared/core/object.ts";
import { rekindle } from "./command.ts";
import { application } from "./objects.ts";
import { itOnStand, type Stand } from "./stand.ts";

/** Returns a pod without an owner that never runs. */
const stranger = (name: string, labels: Readonly<Record<string, string>>): Obj => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "default", labels },
  spec: { containers: [{ name: "x", image: "busybox" }], schedulingGates: [{ name: "held" }] },
});

const executors = (stand: Stand): readonly Stored[] =>
  stand.all("Pod").filter(({ metadata }) => metadata.labels?.["spark-role"] === "executor");

const running = (stand: Stand): readonly Stored[] =>
  executors(stand).filter(({ status }) => JSON.stringify(status).includes('"phase":"Running"'));

const own = application("app", {
  annotations: { "rekindle.dev/executors": "own" },
  spec: { executor: { instances: 2, cores: 1, memory: "512m" } },
});

/** Starts two executors; pods of other owners take the names of the next two. */
const besieged = async (stand: Stand): Promise<readonly (string | undefined)[]> => {
  await stand.host();
  await stand.create(own);
  await stand.until("two executors run", () => running(stand).length === 2);
  const [first] = running(stand);
  const { name = "", labels = {} } = first?.metadata ?? {};
  for (const id of ["1003", "1004"])
    await stand.create(stranger(name.replace(/\d+$/, id), { ...labels, "spark-exec-id": id }));
  stand.simulator.killPod("default", name, { code: 137 });
  return ["1003", "1004"].map((id) => stand.get("Pod", name.replace(/\d+$/, id))?.metadata.uid);
};

const scripts = { app: [{ jobMs: 1_200_000 }] };

const it = itOnStand({ scripts });

describe("pods of another owner under the names of future executors", () => {
  it("are skipped: the lost executor is replaced under another id, once, and they stay", async (stand) => {
    const strangers = await besieged(stand);
    await stand.until("two executors run again", () => running(stand).length === 2, 60_000);
    await stand.turn(60_000);
    assert.equal(running(stand).length, 2);
    const there = new Map(executors(stand).map(({ metadata }) => [metadata.uid, metadata.deletionTimestamp]));
    for (const uid of strangers) assert.deepEqual([there.has(uid ?? ""), there.get(uid ?? "")], [true, undefined]);
  });

  it("are reported by an Event each, and are not what the application waits for", async (stand) => {
    await besieged(stand);
    await stand.turn(60_000);
    const told = stand.all("Event").filter(({ reason }) => reason === "ExecutorRefused");
    assert.equal(told.length, 2);
    for (const { message } of told) assert.match(String(message), /exec-100[34] exists and belongs to another owner/);
    const status = await rekindle(stand, "status", "default/app");
    assert.match(status, /lost +1 killed/);
    assert.match(status, /state +RUNNING\nwaits for +the driver to finish/);
    assert.doesNotMatch(status, /100[34]/);
  });

  it("do not make rekindle delete wait", async (stand) => {
    const strangers = await besieged(stand);
    await stand.turn(30_000);
    const said = await rekindle(stand, "delete", "default/app", "--wait", "--timeout", "120s");
    assert.doesNotMatch(said, /still there/);
    assert.deepEqual(
      executors(stand).map(({ metadata }) => metadata.uid),
      strangers,
    );
  });
});
