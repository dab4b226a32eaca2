/** The fixture of a case: a namespace of its own, its gangs, and what the API shows of them. */
import { kubectl, must, type Scene } from "../scene.ts";
import { jobsPath } from "../volcano/examples.ts";
import { namespaced } from "../volcano/fixture.ts";
import { createdTooOften, longestHalf } from "./judgements.ts";
import { type Gang, type GangRecord, openRecord, type Plan, until } from "./record.ts";

export const hostFlags: readonly string[] = ["--gang", "builtin"];

/** Each node has room for 2 cpu. */
export const nodeCount = 3;
export const nodeFlags: readonly string[] = ["--capacity", "cpu=2", "--capacity", "pods=50"];

/** A Job whose pods must start together. Each sleeps for `seconds`, and succeeds. */
export type GangForm = {
  readonly name: string;
  readonly pods: number;
  readonly cpu: string;
  readonly seconds: number;
  /** Absent: as many as must start together. */
  readonly replicas?: number;
  /** Absent: none. */
  readonly networkTopology?: object;
  /** Absent: the default queue. */
  readonly queue?: string;
  /** Absent: none. */
  readonly priorityClassName?: string;
};

/** The time that the pods of a plan have for getting their nodes. */
export const bindMs = 60_000;
/** The time in which a decision that is due is carried out on a busy machine. */
export const marginMs = 20_000;
const longestMs = 300_000;

export type Fixture = {
  readonly scene: Scene;
  readonly namespace: string;
  readonly record: GangRecord;
};

export const container = ({ cpu, seconds }: Pick<GangForm, "cpu" | "seconds">): object => ({
  ...{ name: "c", image: "busybox:1.36", command: ["sh", "-c", `sleep ${seconds}`] },
  resources: { requests: { cpu } },
});

const jobOf = (namespace: string, { name, pods, queue, priorityClassName, ...form }: GangForm): object => ({
  apiVersion: "batch.volcano.sh/v1alpha1",
  kind: "Job",
  metadata: { name, namespace },
  spec: {
    ...{ schedulerName: "volcano", minAvailable: pods, maxRetry: 3 },
    ...(queue === undefined ? {} : { queue }),
    ...(form.networkTopology === undefined ? {} : { networkTopology: form.networkTopology }),
    ...(priorityClassName === undefined ? {} : { priorityClassName }),
    // A gang that is taken back must cost no retry.
    policies: ["PodFailed", "PodEvicted"].map((event) => ({ event, action: "RestartJob" })),
    tasks: [
      {
        ...{ name: "w", replicas: form.replicas ?? pods, minAvailable: pods },
        template: {
          spec: { restartPolicy: "Never", terminationGracePeriodSeconds: 1, containers: [container(form)] },
        },
      },
    ],
  },
});

/** Creates the gangs at the same time. */
export const createGangs = async ({ scene, namespace }: Fixture, forms: readonly GangForm[]): Promise<void> => {
  const posts = forms.map((form) => scene.cluster.api.call("POST", jobsPath(namespace), jobOf(namespace, form)));
  for (const { status, body } of await Promise.all(posts)) must(status === 201, `no gang: ${JSON.stringify(body)}`);
};

export type Thief = { readonly end: () => Promise<void> };

/** Creates a pod of others, which only this node may take; resolves when it is bound. */
export const createThief = async ({ scene }: Fixture, node: string): Promise<Thief> => {
  const { api } = scene.cluster;
  const namespace = "gang-others";
  await namespaced(scene, namespace);
  const body = {
    ...{ apiVersion: "v1", kind: "Pod", metadata: { name: "thief", namespace } },
    spec: {
      ...{ restartPolicy: "Never", terminationGracePeriodSeconds: 1 },
      nodeSelector: { "kubernetes.io/hostname": node },
      containers: [container({ cpu: "2", seconds: 3_600 })],
    },
  };
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const { status, body: answer } = await api.call("POST", pods, body);
  must(status === 201, `no pod of others: ${JSON.stringify(answer)}`);
  await api.until(`${pods}/thief`, (reply) => JSON.stringify(reply.body).includes(`"nodeName":"${node}"`), 20_000);
  return {
    end: async () => {
      await api.call("DELETE", `${pods}/thief`);
      await api.until(`${pods}/thief`, (reply) => reply.status === 404, 30_000);
    },
  };
};

const quotaOf = (namespace: string): string => `/api/v1/namespaces/${namespace}/resourcequotas`;

/** Keeps pods from being created in the namespace until `allowPods`. */
export const denyPods = async ({ scene: { cluster }, namespace }: Fixture): Promise<void> => {
  const body = { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "none" }, spec: { hard: { pods: "0" } } };
  const { status } = await cluster.api.call("POST", quotaOf(namespace), body);
  must(status === 201, `the quota: ${status}`);
  await cluster.api.until(
    `${quotaOf(namespace)}/none`,
    (reply) => /"used":\{"pods"/.test(JSON.stringify(reply.body)),
    20_000,
  );
};

export const allowPods = async ({ scene: { cluster }, namespace }: Fixture): Promise<void> => {
  const { status } = await cluster.api.call("DELETE", `${quotaOf(namespace)}/none`);
  must(status === 200, `the quota: ${status}`);
};

const accountOf = ({ phases, plan, reasons }: Gang): string =>
  `${phases.join(" → ")}; ${plan === undefined ? "no plan" : `planned on ${plan.nodes.join(", ")}`}; ${[...reasons].at(-1) ?? ""}`;

/** Waits until the condition holds for the gang. */
export const untilGang = async (
  { record, namespace }: Fixture,
  name: string,
  what: string,
  holds: (gang: Gang) => boolean,
  timeoutMs = longestMs,
): Promise<Gang> => {
  const gang = record.of(namespace, name);
  await until(
    `${name} ${what}`,
    () => holds(gang),
    () => accountOf(gang),
    timeoutMs,
  );
  return gang;
};

/** Waits until the gang has a plan, and returns it. */
export const untilPlanned = async (fixture: Fixture, name: string, timeoutMs = 30_000): Promise<Plan> => {
  const { plan } = await untilGang(fixture, name, "planned", (gang) => gang.plan !== undefined, timeoutMs);
  if (plan === undefined) throw new Error(`${name} lost its plan at once`);
  return plan;
};

/** Returns how many unfinished pods of the gang have nodes. */
export const bound = ({ record, namespace }: Fixture, name: string): number =>
  record.pods(namespace, name).filter(({ node, state }) => node !== undefined && state === "alive").length;

export const untilBound = (fixture: Fixture, name: string, count: number): Promise<Gang> =>
  untilGang(fixture, name, `bound ${count} times`, () => bound(fixture, name) === count);

export const untilCompleted = (fixture: Fixture, name: string): Promise<Gang> =>
  untilGang(fixture, name, "Completed", ({ phases }) => phases.at(-1) === "Completed");

/**
 * Asserts what holds for every gang that has ended: no retry was spent, no pod was created twice by one plan, and no part
 * of it held nodes for longer than the time after which a gang is taken back. Returns the longest such time, ms.
 */
export const judge = ({ record, namespace }: Fixture, forms: readonly GangForm[]): number => {
  const changes = record.changes(namespace);
  const halves = forms.map(({ name, pods }) => {
    const { retries } = record.of(namespace, name);
    must(retries === 0, `${name} spent ${retries} retries`);
    return longestHalf(changes, name, pods, Date.now());
  });
  for (const [at, ms] of halves.entries())
    must(ms <= bindMs + marginMs, `a part of ${forms[at]?.name} held nodes for ${(ms / 1_000).toFixed(1)} s`);
  const twice = createdTooOften(changes, (job) => record.of(namespace, job).plans.size);
  must(twice.length === 0, twice.join("; "));
  return Math.max(...halves);
};

/** The latest instant, epoch ms, at which a gang with this plan has pods that did not get their nodes. */
export const takenBackBy = ({ since }: Plan): number => since + bindMs + marginMs;

/** Resolves when the API server serves the kinds of gangs. */
export const untilServed = async ({ cluster }: Scene): Promise<void> => {
  const kinds = [
    "batch.volcano.sh/v1alpha1/jobs",
    "scheduling.volcano.sh/v1beta1/podgroups",
    "sparkoperator.k8s.io/v1beta2/sparkapplications",
  ];
  for (const path of kinds.map((kind) => `/apis/${kind}`))
    await cluster.api.until(path, ({ status }) => status === 200, 30_000);
};

/** Runs `work` in a namespace of its own, whose gangs and pods are deleted afterwards. */
export const inNamespace = async <T>(
  scene: Scene,
  namespace: string,
  work: (fixture: Fixture) => Promise<T>,
): Promise<T> => {
  await untilServed(scene);
  await namespaced(scene, namespace);
  const record = await openRecord(scene.cluster.adminKubeconfig);
  try {
    return await work({ scene, namespace, record });
  } finally {
    record.stop();
    await kubectl(scene.cluster, ["delete", "-n", namespace, "jobs.batch.volcano.sh,pods", "--all", "--wait"]);
  }
};
