/**
 * Scenario J: drains of servers that exit 0 on SIGTERM, so that the kubelet writes Succeeded for pods that are being
 * deleted. Two jobs, one of them with a policy for evictions, are drained twice while the host is killed; in the first
 * drain a finalizer holds one pod of each.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Api, patienceMs } from "../../cluster/api.ts";
import { must } from "../scene.ts";
import { type Job, type Pod, phaseOf, podsOf, uidsOf, until } from "./book.ts";
import type { Fixture } from "./fixture.ts";
import { countedAs, created, onEvent, type Scenario, type Started, shown, untilUp, workers } from "./jobs.ts";

const graceful = "trap 'exit 0' TERM; sleep infinity & wait";
const servers = 3;
/** Long enough for a new host to begin to act; short enough that some hosts are killed before they act. */
const longestLifeMs = 2_500;

type Drained = {
  readonly name: string;
  readonly spec: object;
  /** Restarts of the job per drain. */
  readonly restarts: number;
};

const drained: readonly Drained[] = [
  { name: "j", spec: {}, restarts: 0 },
  { name: "j-policy", spec: onEvent("PodEvicted", "RestartJob"), restarts: 1 },
];

type Counts = Partial<Record<"running" | "succeeded" | "failed" | "terminating", number>>;

/** The counts while a finalizer holds a pod that has ended with 0; the other pods run again, also after a restart. */
const whileHeld: Counts = { running: servers - 1, succeeded: 0, failed: 0, terminating: 1 };
const onceBack: Counts = { running: servers, succeeded: 0, failed: 0, terminating: 0 };

type Draining = Drained & { readonly job: Started };

const counts = (status: Job["status"], wanted: Counts): boolean =>
  Object.entries(wanted).every(([state, count]) => status?.[state] === count);

const podPath = ({ metadata: { namespace, name } }: Pod): string => `/api/v1/namespaces/${namespace}/pods/${name}`;

/** Evicts the pod by its UID, as a drain does; the job may have deleted the pod already. */
const evicted = async (api: Api, pod: Pod): Promise<void> => {
  const { namespace, name, uid } = pod.metadata;
  const { status, body } = await api.call("POST", `${podPath(pod)}/eviction`, {
    apiVersion: "policy/v1",
    kind: "Eviction",
    metadata: { namespace, name },
    deleteOptions: { preconditions: { uid } },
  });
  must([201, 404, 409].includes(status), `the eviction of ${name} is answered with ${status}: ${JSON.stringify(body)}`);
};

const finalizers = async (api: Api, pod: Pod, value: readonly string[] | null): Promise<void> => {
  const merge = "application/merge-patch+json";
  const { status, body } = await api.call("PATCH", podPath(pod), { metadata: { finalizers: value } }, merge);
  must(status === 200, `finalizers of ${pod.metadata.name}: ${JSON.stringify(body)}`);
};

const allOf = (jobs: readonly Draining[]): readonly Pod[] => jobs.flatMap(({ job }) => podsOf(job.page));

/** Puts a foreign finalizer on the first pod of each job. */
const heldOf = async (api: Api, jobs: readonly Draining[]): Promise<readonly Pod[]> => {
  const firsts = allOf(jobs).filter(({ metadata: { name } }) => name.endsWith("-w-0"));
  must(firsts.length === jobs.length, `${firsts.length} pods are the first of their job`);
  await Promise.all(firsts.map((pod) => finalizers(api, pod, ["rekindle.test/held"])));
  return firsts;
};

const killed = async (fixture: Fixture, times: number): Promise<void> => {
  for (let life = 0; life < times; life++) {
    await sleep(fixture.scene.random() * longestLifeMs);
    await fixture.unseen(async () => {});
  }
};

/**
 * Waits until each pod is replaced once, each drain has restarted the job as its policy says, and the counts are back.
 */
const untilBack = async ({ job, restarts }: Draining, drains: number): Promise<void> => {
  await untilUp(job, servers, drains * restarts);
  await until("counting only its servers", () => counts(job.page.last?.status, onceBack), job.page, patienceMs);
  countedAs(job, drains * restarts, drains * restarts);
  const made = job.page.pods.size;
  must(made === servers * (drains + 1), `${made} pods were made, expected ${servers} at first and for each drain`);
  const others = job.page.phases.filter((phase) => !["Pending", "Running", "Restarting"].includes(phase));
  must(others.length === 0, shown(job));
  // As in upstream, a job is Pending again when more of its pods wait than it can do without: only if all go at once.
  must(drains > 1 || restarts > 0 || shown(job) === "Pending → Running", shown(job));
};

const untilHeld = async ({ name, job: { page }, restarts }: Draining, held: readonly Pod[]): Promise<void> => {
  const isHeld = ({ metadata: { uid }, status }: Pod): boolean =>
    page.present.has(uid) && status.phase === "Succeeded" && held.some((pod) => pod.metadata.uid === uid);
  const holds = (): boolean =>
    [...page.pods.values()].some(isHeld) &&
    phaseOf(page) === "Running" &&
    page.last?.status?.version === restarts &&
    counts(page.last.status, whileHeld);
  await until(`${name}: Running ${JSON.stringify(whileHeld)} while a pod is held`, holds, page, patienceMs);
};

/**
 * Evicts all pods at once while the host is killed. Without a policy for evictions, every pod without a finalizer is
 * replaced at once.
 */
const drainedHeld = async (fixture: Fixture, jobs: readonly Draining[]): Promise<void> => {
  const { api } = fixture.scene.cluster;
  const held = await heldOf(api, jobs);
  await Promise.all([killed(fixture, 3), ...allOf(jobs).map((pod) => evicted(api, pod))]);
  await Promise.all(jobs.map((one) => untilHeld(one, held)));
  await Promise.all([killed(fixture, 2), ...held.map((pod) => finalizers(api, pod, null))]);
  await Promise.all(jobs.map((one) => untilBack(one, 1)));
};

/** Evicts all pods at once while no host runs. */
const drainedUnseen = async (fixture: Fixture, jobs: readonly Draining[]): Promise<void> => {
  const { api } = fixture.scene.cluster;
  await fixture.unseen(() => Promise.all(allOf(jobs).map((pod) => evicted(api, pod))));
  await killed(fixture, 1);
  await Promise.all(jobs.map((one) => untilBack(one, 2)));
};

export const gracefulDrains: Scenario = {
  letter: "J",
  name: "drained servers that end with 0 are made again, and a policy for evictions acts once for each drain",
  run: async (fixture, namespace) => {
    const tasks = [workers([graceful], servers)];
    const spec = { minAvailable: 1, maxRetry: 5 };
    const jobs = await Promise.all(
      drained.map(async (one): Promise<Draining> => {
        const job = await created(fixture, namespace, { name: one.name, tasks, spec: { ...spec, ...one.spec } });
        return { ...one, job };
      }),
    );
    await Promise.all(jobs.map(({ job }) => untilUp(job, servers)));
    await drainedHeld(fixture, jobs);
    await drainedUnseen(fixture, jobs);
    const before = jobs.map(({ job }) => uidsOf(job.page).join());
    await killed(fixture, 1);
    await sleep(longestLifeMs);
    await Promise.all(jobs.map((one) => untilBack(one, 2)));
    must(
      jobs.every(({ job }, at) => uidsOf(job.page).join() === before[at]),
      "pods were replaced without a drain",
    );
    return [...jobs.map(({ name, job }) => `${name}: ${shown(job)}`), "upstream: short of its servers for ever"];
  },
};
