/** The fixture of gangs of Kubernetes: Jobs of several tasks, and what the API shows of their PodGroups. */
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { patienceMs } from "../../cluster/api.ts";
import { must } from "../scene.ts";
import { jobsPath } from "../volcano/examples.ts";
import { container, type Fixture, type GangForm, marginMs, untilBound } from "./fixture.ts";
import { createdTooOften, longestHalf } from "./judgements.ts";

export const nativeFlags: readonly string[] = ["--gang", "native"];

const gate = "--feature-gates=GenericWorkload=true";
const served = "--runtime-config=scheduling.k8s.io/v1beta1=true";

/** Flags of a control plane that places gangs. */
export const gatesOn: Readonly<Record<string, readonly string[]>> = {
  "kube-apiserver": [gate, served],
  "kube-controller-manager": [gate],
  "kube-scheduler": [gate],
};

/** A task; its pods sleep for `seconds`. `pod`: further fields of their specification. */
export type TaskForm = {
  readonly name: string;
  readonly pods: number;
  readonly cpu: string;
  readonly seconds: number;
  readonly pod?: Readonly<Record<string, unknown>>;
};

/** Creates a Job of which all pods are needed. */
export const createJob = async (
  { scene, namespace }: Fixture,
  name: string,
  tasks: readonly TaskForm[],
): Promise<void> => {
  const spec = {
    ...{ schedulerName: "volcano", maxRetry: 3, minAvailable: tasks.reduce((sum, { pods }) => sum + pods, 0) },
    policies: ["PodFailed", "PodEvicted"].map((event) => ({ event, action: "RestartPod" })),
    tasks: tasks.map(({ name: task, pods, pod = {}, ...form }) => ({
      ...{ name: task, replicas: pods },
      template: {
        spec: { restartPolicy: "Never", terminationGracePeriodSeconds: 1, containers: [container(form)], ...pod },
      },
    })),
  };
  const body = { apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job", metadata: { name, namespace }, spec };
  const { status, body: answer } = await scene.cluster.api.call("POST", jobsPath(namespace), body);
  must(status === 201, `no job: ${JSON.stringify(answer)}`);
};

const nativeGroup = z.object({
  metadata: z.object({ name: z.string(), uid: z.string() }),
  spec: z.object({
    schedulingPolicy: z.object({ gang: z.object({ minCount: z.number() }) }),
    priority: z.number().optional(),
  }),
});

export type NativeGroup = z.infer<typeof nativeGroup>;

const listOf = <Item extends z.ZodType>(item: Item) => z.object({ items: z.array(item) });

const groupsPath = (namespace: string): string => `/apis/scheduling.k8s.io/v1beta1/namespaces/${namespace}/podgroups`;

/** Returns the PodGroups of Kubernetes of a Job; the name of one begins with that of its Job. */
export const nativeGroups = async ({ scene, namespace }: Fixture, job: string): Promise<readonly NativeGroup[]> => {
  const { body } = await scene.cluster.api.call("GET", groupsPath(namespace));
  return listOf(nativeGroup)
    .parse(body)
    .items.filter(({ metadata }) => metadata.name.startsWith(`${job}-`));
};

/** Returns the only PodGroup of a Job. */
export const nativeGroupOf = async (fixture: Fixture, job: string): Promise<NativeGroup> => {
  const [group, ...more] = await nativeGroups(fixture, job);
  if (group === undefined || more.length > 0)
    throw new Error(`${job} has ${more.length + (group ? 1 : 0)} PodGroups of Kubernetes, expected 1`);
  return group;
};

/** Waits until the Job has a PodGroup. */
export const untilNativeGroup = async (fixture: Fixture, job: string): Promise<NativeGroup> => {
  const isThere = ({ body }: { readonly body: unknown }): boolean => JSON.stringify(body).includes(`"name":"${job}-`);
  await fixture.scene.cluster.api.until(groupsPath(fixture.namespace), isThere, patienceMs);
  return await nativeGroupOf(fixture, job);
};

const pod = z.object({
  metadata: z.object({ name: z.string(), uid: z.string(), creationTimestamp: z.string() }),
  spec: z.object({
    priority: z.number().optional(),
    schedulingGroup: z.object({ podGroupName: z.string() }).optional(),
  }),
});

export type Member = z.infer<typeof pod>;

export const membersOf = async ({ scene, namespace }: Fixture, job: string): Promise<readonly Member[]> => {
  const path = `/api/v1/namespaces/${namespace}/pods?labelSelector=volcano.sh%2Fjob-name%3D${job}`;
  return listOf(pod).parse((await scene.cluster.api.call("GET", path)).body).items;
};

/** Waits until a gang is bound whole, and asserts that each pod names the one PodGroup of its Job, and that none has a plan. */
export const untilWhole = async (fixture: Fixture, job: string, pods: number): Promise<NativeGroup> => {
  const { plans } = await untilBound(fixture, job, pods);
  const group = await nativeGroupOf(fixture, job);
  const { minCount } = group.spec.schedulingPolicy.gang;
  must(minCount === pods, `the PodGroup of ${job} needs ${minCount} pods, expected ${pods}`);
  for (const { metadata, spec } of await membersOf(fixture, job))
    must(spec.schedulingGroup?.podGroupName === group.metadata.name, `${metadata.name} does not name the PodGroup`);
  must(plans.size === 0, `${job} has a plan`);
  return group;
};

/** Waits until no PodGroup of Kubernetes is left in the namespace: neither of Jobs that have ended, nor of a probe. */
export const untilNoneLeft = async ({ scene, namespace }: Fixture): Promise<void> => {
  await scene.cluster.api.until(
    groupsPath(namespace),
    ({ body }) => JSON.stringify(body).includes('"items":[]'),
    patienceMs,
  );
};

/**
 * Asserts what holds for every gang that has ended: no retry, no plan, no pod created twice, and no part of it held nodes
 * while the rest had none. Returns the longest such time, ms: the scheduler binds the pods of a gang one after the other.
 */
export const judgeNative = (
  { record, namespace }: Fixture,
  forms: readonly Pick<GangForm, "name" | "pods">[],
): number => {
  const changes = record.changes(namespace);
  const twice = createdTooOften(changes, () => 1);
  must(twice.length === 0, twice.join("; "));
  const halves = forms.map(({ name, pods }) => {
    const { retries, plans } = record.of(namespace, name);
    must(retries === 0, `${name} spent ${retries} retries`);
    must(plans.size === 0, `${name} had a plan`);
    return longestHalf(changes, name, pods, Date.now());
  });
  const half = Math.max(...halves);
  must(half <= marginMs, `a part of a gang held nodes for ${(half / 1_000).toFixed(1)} s`);
  return half;
};

const event = z.object({ reason: z.string().optional(), message: z.string().optional() });

const eventsOf = async ({ scene }: Fixture, reason: string): Promise<readonly string[]> => {
  const { body } = await scene.cluster.api.call("GET", `/api/v1/events?fieldSelector=reason%3D${reason}`);
  return listOf(event)
    .parse(body)
    .items.map(({ message = "" }) => message);
};

/** Waits until an event of this reason says so, and returns its message. */
export const untilSaid = async (fixture: Fixture, reason: string, text: RegExp): Promise<string> => {
  let all: readonly string[] = [];
  const look = async (): Promise<string | undefined> => {
    all = await eventsOf(fixture, reason);
    return all.find((message) => text.test(message));
  };
  const end = performance.now() + 60_000;
  for (let found = await look(); ; found = await look()) {
    if (found !== undefined) return found;
    must(performance.now() < end, `no event ${reason} says ${text}: ${JSON.stringify(all)}`);
    await sleep(200);
  }
};
