/** A Volcano Job in a queue of Kueue on a stand: its parts, and a stand-in that writes as Kueue's controller does. */
import assert from "node:assert/strict";
import type { Obj, Stored } from "../../../../shared/core/object.ts";
import { crds } from "../../../support/crds.ts";
import { evicted, flavorOf, kueueCrds, reserved } from "../../../support/kueue.ts";
import { home, volcanoJob } from "../objects.ts";
import type { Stand } from "../stand.ts";
import { toolOn, within } from "./client.ts";

type Fields = Readonly<Record<string, unknown>>;

export const queue = { "kueue.x-k8s.io/queue-name": "team-a" };
export const workloads = "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads";

export const labelled = (name: string, script: object, spec: Fields = {}, more: Fields = {}): Obj => {
  const job = volcanoJob(name, script, { plugins: {}, ...spec });
  return { ...job, metadata: { ...job.metadata, labels: queue, ...more } };
};

export const workloadIn = (stand: Stand): Stored | undefined => stand.all("Workload")[0];

export const phaseOf = (stand: Stand): unknown => within(stand.get("Job", "job"), "status", "state", "phase");

export const messageOf = (stand: Stand): string =>
  String(within(stand.get("Job", "job"), "status", "state", "message") ?? "");

export const conditionOf = (stand: Stand, type: string): Fields => {
  const conditions = within(workloadIn(stand), "status", "conditions");
  return Array.isArray(conditions) ? (conditions.find((one) => one.type === type) ?? {}) : {};
};

export const podsIn = (stand: Stand): readonly Stored[] =>
  stand.all("Pod").filter(({ metadata }) => metadata.name.startsWith("job-"));

/** Pods that use quota. */
export const unfinishedIn = (stand: Stand): readonly Stored[] =>
  podsIn(stand).filter((pod) => !["Succeeded", "Failed"].includes(String(within(pod, "status", "phase"))));

/** Writes a Workload's status as Kueue does. */
export const write = async (stand: Stand, status: (workload: Stored, now: number) => Fields): Promise<void> => {
  const workload = workloadIn(stand) ?? assert.fail("there is no Workload");
  const { status: answer, text } = await toolOn(
    stand,
    "kueue",
  )({
    method: "PATCH",
    path: `${workloads}/${workload.metadata.name}/status`,
    type: "application/merge-patch+json",
    body: { status: status(workload, stand.simulator.clock.now()) },
  });
  assert.equal(answer, 200, text);
};

/** The pods whose quota the Workload has given back. */
export const reclaimedIn = (stand: Stand): readonly unknown[] => {
  const list = within(workloadIn(stand), "status", "reclaimablePods");
  return Array.isArray(list) ? list : [];
};

/** A job of two pods that end soon, and one that runs on. */
export const twoTasks = (more: Fields = {}): Obj => {
  const [short, long] = [10_000, 120_000].map((runMs) => Object(volcanoJob("", { runMs })["spec"]).tasks[0]);
  const tasks = [
    { ...short, name: "short" },
    { ...long, name: "long", replicas: 1 },
  ];
  return labelled("job", {}, { tasks, ...more });
};

export const admit = (stand: Stand): Promise<void> => write(stand, (one, now) => reserved(one, "spot", now, true));
export const evict = (stand: Stand, reason = "Preempted"): Promise<void> =>
  write(stand, (one, now) => evicted(one, reason, now));

export const eventsOf = (stand: Stand, reason: string): readonly string[] =>
  stand
    .all("Event")
    .filter((event) => event["reason"] === reason)
    .map((event) => String(event["message"]));

/** A cluster with one flavor and the namespace of the host, which runs. */
export const opened = async (stand: Stand): Promise<void> => {
  await stand.create(flavorOf("spot"));
  await stand.create(home);
  await stand.host();
};

/** An admitted job whose first task has ended, and has given its quota back. */
export const reclaiming = async (stand: Stand): Promise<void> => {
  await opened(stand);
  await stand.create(twoTasks());
  await stand.until("its Workload exists", () => workloadIn(stand) !== undefined);
  await admit(stand);
  await stand.until("the first task has ended", () => reclaimedIn(stand).length > 0);
};

/** Creates the Job, which then waits in its LocalQueue. */
export const queued = async (stand: Stand, job: Obj): Promise<void> => {
  await stand.create(job);
  await stand.until("its Workload exists", () => workloadIn(stand) !== undefined);
};

/** Creates the Job, and runs it as Kueue admits it. */
export const running = async (stand: Stand, job: Obj): Promise<void> => {
  await queued(stand, job);
  await admit(stand);
  await stand.until("it runs", () => phaseOf(stand) === "Running");
};

export const options = {
  crds: [...crds, ...kueueCrds],
  nodes: [{ name: "n1", labels: { "cloud.example/flavour": "spot" } }],
};
