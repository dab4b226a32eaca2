/**
 * Room on a real API server. Scenario K: the capability of a queue, by defaults of a LimitRange, and by limits without requests.
 * Scenario L: a ResourceQuota that never has room for all pods of a job.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { fieldsOf } from "../../../../shared/core/json.ts";
import { patienceMs } from "../../cluster/api.ts";
import { must } from "../scene.ts";
import { phaseOf, podsOf, uidsOf, until } from "./book.ts";
import { type Fixture, namespaced } from "./fixture.ts";
import { abortedBy, created, endless, type Plan, type Scenario, shown, untilUp, workers } from "./jobs.ts";

const queueOf = async ({ scene }: Fixture, name: string): Promise<void> => {
  const path = "/apis/scheduling.volcano.sh/v1beta1/queues";
  const { status } = await scene.cluster.api.call("POST", path, {
    apiVersion: "scheduling.volcano.sh/v1beta1",
    kind: "Queue",
    metadata: { name },
    spec: { weight: 1, capability: { cpu: "100m" } },
  });
  must(status === 201 || status === 409, `queue ${name}: ${status}`);
  // As upstream's, the webhook refuses jobs until a controller has opened their queue.
  const stateNow = async (): Promise<unknown> => {
    const { body } = await scene.cluster.api.call("GET", `${path}/${name}`);
    return fieldsOf(fieldsOf(fieldsOf(body)["status"]))["state"];
  };
  for (const end = performance.now() + 60_000; (await stateNow()) !== "Open"; await sleep(200))
    must(performance.now() < end, `queue ${name} is ${await stateNow()}, and not Open`);
};

const limitRange = async ({ scene }: Fixture, namespace: string): Promise<void> => {
  const { status } = await scene.cluster.api.call("POST", `/api/v1/namespaces/${namespace}/limitranges`, {
    apiVersion: "v1",
    kind: "LimitRange",
    metadata: { name: "sizes" },
    spec: { limits: [{ type: "Container", default: { cpu: "50m" } }] },
  });
  must(status === 201 || status === 409, `LimitRange in ${namespace}: ${status}`);
};

const five = (name: string, amounts?: object): Plan => ({
  name,
  spec: { queue: name, minAvailable: 1 },
  tasks: [{ ...workers(["sleep 4"], 5), ...(amounts === undefined ? {} : { resources: amounts }) }],
});

/** Waits until the job has completed, and asserts that no more than two of its pods were unfinished at one time. */
const bounded = async (fixture: Fixture, namespace: string, plan: Plan): Promise<string> => {
  await queueOf(fixture, plan.name);
  const { page, ...job } = await created(fixture, namespace, plan);
  let most = 0;
  const isCompleted = (): boolean => {
    const unfinished = podsOf(page).filter(({ status }) => !["Succeeded", "Failed"].includes(status.phase));
    most = Math.max(most, unfinished.length);
    return phaseOf(page) === "Completed";
  };
  await until("completed", isCompleted, page, patienceMs);
  must(most <= 2, `${most} pods at one time in a queue with room for two`);
  return `${plan.name}: at most ${most} of 5 pods at one time, ${shown({ page, ...job })}`;
};

export const boundedQueues: Scenario = {
  letter: "K",
  name: "a queue's capability bounds all pods of a job, by defaults of a LimitRange and by limits without requests",
  run: async (fixture, namespace) => {
    if (fixture.gang !== "here") return ["a scheduler bounds its queues itself"];
    const ranged = `${namespace}-ranged`;
    await namespaced(fixture.scene, ranged);
    await limitRange(fixture, ranged);
    const limits = five("k-limits", { limits: { cpu: "50m" } });
    return await Promise.all([bounded(fixture, ranged, five("k-range")), bounded(fixture, namespace, limits)]);
  },
};

const quota = async ({ scene }: Fixture, namespace: string, pods: number): Promise<void> => {
  const path = `/api/v1/namespaces/${namespace}/resourcequotas`;
  const { api } = scene.cluster;
  const { status } = await api.call("POST", path, {
    apiVersion: "v1",
    kind: "ResourceQuota",
    metadata: { name: "team" },
    spec: { hard: { pods: `${pods}` } },
  });
  must(status === 201 || status === 409, `ResourceQuota in ${namespace}: ${status}`);
};

export const refusedPods: Scenario = {
  letter: "L",
  name: "a job whose quota refuses two of its five pods for ever shows the three, and a command aborts it",
  run: async (fixture, namespace) => {
    await namespaced(fixture.scene, namespace);
    await quota(fixture, namespace, 3);
    const job = await created(fixture, namespace, {
      name: "l",
      spec: { minAvailable: 2 },
      tasks: [workers([endless], 5)],
    });
    await untilUp(job, 3);
    await abortedBy(fixture, job);
    must(uidsOf(job.page).length === 0, "pods of an aborted job are left");
    return [shown(job), "upstream: Pending while the quota refuses"];
  },
};
