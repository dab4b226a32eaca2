/** Helpers of the node agent's checks: post a pod, wait for a state, read its log. */
import { randomBytes } from "node:crypto";
import type { Cluster } from "../../cluster.ts";
import type { Check } from "../../prove.ts";
import type { ContainerState, ContainerStatus, Pod, Terminated } from "../objects.ts";

export type { Check };

export const core = "/api/v1/namespaces/default";

export const must = (holds: boolean, what: string, seen: unknown): void => {
  if (!holds) throw new Error(`${what}: ${JSON.stringify(seen).slice(0, 2500)}`);
};

export const same = (seen: unknown, wanted: unknown, what: string): void =>
  must(JSON.stringify(seen) === JSON.stringify(wanted), `${what}, wanted ${JSON.stringify(wanted)}`, seen);

/** Returns a container that runs a shell script. */
export const shell = (script: string, more: object = {}): object => ({
  name: "main",
  image: "busybox:1",
  command: ["sh", "-c", script],
  ...more,
});

export type Wanted = { readonly containers: readonly object[]; readonly [field: string]: unknown };

export const freshName = (word: string): string => `${word}-${randomBytes(3).toString("hex")}`;

export const make = async ({ api }: Cluster, kind: string, name: string, body: object): Promise<void> => {
  const reply = await api.call("POST", `${core}/${kind}`, { metadata: { name }, ...body });
  must(reply.status === 201, `${kind} ${name} not created`, reply);
};

/** Posts a pod, by default without restarts, and returns its name. */
export const post = async (cluster: Cluster, word: string, spec: Wanted, labels: object = {}): Promise<string> => {
  const name = freshName(word);
  const usual = { restartPolicy: "Never", terminationGracePeriodSeconds: 5 };
  await make(cluster, "pods", name, { metadata: { name, labels }, spec: { ...usual, ...spec } });
  return name;
};

export const until = async (
  cluster: Cluster,
  name: string,
  holds: (pod: Pod) => boolean,
  ms = 15_000,
): Promise<Pod> => {
  const reply = await cluster.api.until(
    `${core}/pods/${name}`,
    ({ status, body }) => status === 200 && holds(body as Pod),
    ms,
  );
  return reply.body as Pod;
};

export const isGone = async (cluster: Cluster, name: string, ms = 15_000): Promise<void> => {
  await cluster.api.until(`${core}/pods/${name}`, ({ status }) => status === 404, ms);
};

export const inPhase =
  (...phases: readonly string[]) =>
  (pod: Pod): boolean =>
    phases.includes(pod.status?.phase ?? "");

export const ended = inPhase("Succeeded", "Failed");

const none: ContainerStatus = {
  name: "",
  state: { waiting: { reason: "none" } },
  lastState: {},
  ready: false,
  started: false,
  restartCount: 0,
  image: "",
  imageID: "",
};

export const container = (pod: Pod, name = "main"): ContainerStatus =>
  [...(pod.status?.containerStatuses ?? []), ...(pod.status?.initContainerStatuses ?? [])].find(
    (one) => one.name === name,
  ) ?? none;

export const waitsFor = (state: ContainerState): string => ("waiting" in state ? state.waiting.reason : "");

export const endOf = (pod: Pod, name = "main"): Terminated => {
  const { state } = container(pod, name);
  return "terminated" in state ? state.terminated : { exitCode: -1, reason: "not ended" };
};

export const logOf = async ({ api }: Cluster, name: string, query = ""): Promise<string> => {
  const reply = await api.call("GET", `${core}/pods/${name}/log?${query}`);
  must(reply.status === 200, "no log", reply);
  return typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body);
};

/** Posts a pod, waits for its end, and returns it with its log. */
export const runToEnd = async (cluster: Cluster, word: string, spec: Wanted): Promise<{ pod: Pod; log: string }> => {
  const name = await post(cluster, word, spec);
  const pod = await until(cluster, name, ended);
  return { pod, log: "terminated" in container(pod).state ? await logOf(cluster, name, "container=main") : "" };
};

type EventList = { items: { reason: string; message: string; involvedObject: { name: string } }[] };

export const eventsOf = async ({ api }: Cluster, name: string): Promise<string[]> => {
  const reply = await api.call("GET", `${core}/events?fieldSelector=involvedObject.name%3D${name}`);
  return (reply.body as EventList).items.map(({ reason, message }) => `${reason}: ${message}`);
};

export const remove = async ({ api }: Cluster, name: string, query = ""): Promise<void> => {
  await api.call("DELETE", `${core}/pods/${name}?${query}`);
};

export const took = async <Value>(act: Promise<Value>): Promise<{ value: Value; ms: number }> => {
  const began = performance.now();
  const value = await act;
  return { value, ms: Math.round(performance.now() - began) };
};
