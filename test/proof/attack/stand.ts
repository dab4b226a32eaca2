/** The tools of an attack: requests in the attacker's namespace, the host, and a neighbour with timed applications. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Reply } from "../../real/cluster/api.ts";
import { sparkPi } from "../../support/pi.ts";
import type { HostUnderAttack } from "./host.ts";

export type Hands = {
  readonly call: (method: string, path: string, body?: unknown, contentType?: string) => Promise<Reply>;
};

/** Controls that only the attack's own API server has. */
export type Reins = {
  /** Sets the fault that may answer in the server's place; undefined: the server answers. */
  readonly fault: (fault: Fault | undefined) => void;
  /** Closes all open watches. */
  readonly cut: () => void;
  /** Sets the host's wall clock ahead by so many ms, or back if negative. */
  readonly setClock: (ms: number) => void;
};

export type Fault = (
  request: import("node:http").IncomingMessage,
  response: import("node:http").ServerResponse,
) => boolean;

export type Stand = Hands & {
  /** The requests of the attacker's own account; on an API server that the attack owns, any requests. */
  readonly tenant: Hands;
  readonly host: HostUnderAttack;
  readonly reins: Reins | undefined;
  /** Runs the built command line with the administrator's kubeconfig. Returns both streams. */
  readonly rekindle: (...args: readonly string[]) => Promise<string>;
  /** The keys of triggers and updates that the host received. */
  readonly secrets: { readonly trigger: string; readonly updates: string };
  /** The attack's own listener: its address, and the requests that it received. */
  readonly listener: Listener;
  /** Returns the ms from the neighbour's POST to its driver pod, and deletes the application. */
  readonly neighbour: () => Promise<number>;
};

export type Listener = {
  readonly url: string;
  readonly heard: () => readonly { readonly path: string; readonly headers: string; readonly body: string }[];
};

/** The attacker's namespace; the neighbour's is `default`. */
export const attackers = "mallory";

const spark = "/apis/sparkoperator.k8s.io/v1beta2";
const rbac = "/apis/rbac.authorization.k8s.io/v1";
const batch = "/apis/batch.volcano.sh/v1alpha1";

/** Paths of collections by kind, in a namespace. */
export const collections: Readonly<Record<string, (namespace: string) => string>> = {
  SparkApplication: (namespace) => `${spark}/namespaces/${namespace}/sparkapplications`,
  ScheduledSparkApplication: (namespace) => `${spark}/namespaces/${namespace}/scheduledsparkapplications`,
  SparkConnect: (namespace) => `/apis/sparkoperator.k8s.io/v1alpha1/namespaces/${namespace}/sparkconnects`,
  Job: (namespace) => `${batch}/namespaces/${namespace}/jobs`,
  CronJob: (namespace) => `${batch}/namespaces/${namespace}/cronjobs`,
  JobFlow: (namespace) => `/apis/flow.volcano.sh/v1alpha1/namespaces/${namespace}/jobflows`,
  JobTemplate: (namespace) => `/apis/flow.volcano.sh/v1alpha1/namespaces/${namespace}/jobtemplates`,
  Command: (namespace) => `/apis/bus.volcano.sh/v1alpha1/namespaces/${namespace}/commands`,
  Queue: () => "/apis/scheduling.volcano.sh/v1beta1/queues",
  PodGroup: (namespace) => `/apis/scheduling.volcano.sh/v1beta1/namespaces/${namespace}/podgroups`,
  Checkpoint: (namespace) => `/apis/rekindle.dev/v1alpha1/namespaces/${namespace}/checkpoints`,
  Pod: (namespace) => `/api/v1/namespaces/${namespace}/pods`,
  Event: (namespace) => `/api/v1/namespaces/${namespace}/events`,
  ConfigMap: (namespace) => `/api/v1/namespaces/${namespace}/configmaps`,
  Secret: (namespace) => `/api/v1/namespaces/${namespace}/secrets`,
  Namespace: () => "/api/v1/namespaces",
  Lease: (namespace) => `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`,
  Deployment: (namespace) => `/apis/apps/v1/namespaces/${namespace}/deployments`,
  Role: (namespace) => `${rbac}/namespaces/${namespace}/roles`,
  ClusterRole: () => `${rbac}/clusterroles`,
  RoleBinding: (namespace) => `${rbac}/namespaces/${namespace}/rolebindings`,
  ServiceAccount: (namespace) => `/api/v1/namespaces/${namespace}/serviceaccounts`,
};

export const pathOf = (kind: string, namespace = attackers): string => {
  const path = collections[kind]?.(namespace);
  if (path === undefined) throw new Error(`the stand knows no ${kind}`);
  return path;
};

let counter = 0;

/** Returns a name that is unique in this process. */
export const fresh = (word: string): string => {
  counter += 1;
  return `${word}-${counter}`;
};

const neighbourMs = 60_000;

/** Returns the ms from the POST of a neighbour's application to its driver pod, and deletes the application. */
export const timed = async ({ call }: Hands): Promise<number> => {
  const name = fresh("neighbour");
  const began = performance.now();
  const made = await call("POST", pathOf("SparkApplication", "default"), sparkPi(name));
  if (made.status !== 201) throw new Error(`the neighbour's application: ${made.status} ${JSON.stringify(made.body)}`);
  try {
    for (;;) {
      const { status } = await call("GET", `${pathOf("Pod", "default")}/${name}-driver`);
      const ms = performance.now() - began;
      if (status === 200 || ms > neighbourMs) return ms;
      await sleep(20);
    }
  } finally {
    await call("DELETE", `${pathOf("SparkApplication", "default")}/${name}`);
    await call("DELETE", `${pathOf("Pod", "default")}/${name}-driver`, { gracePeriodSeconds: 0 });
  }
};

/** The delay that a busy machine adds to a neighbour's time, ms: a smaller delay does not count as slow. */
const noiseMs = 3_000;

/** The longest time of a neighbour's application beside an attack, ms, by its times without one. */
export const allowedMs = (alone: readonly number[]): number => {
  const sorted = alone.toSorted((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
  return Math.max(2 * median, median + noiseMs);
};

/**
 * Returns the shortest of up to `tries` neighbours' times, ms, and stops at the first of at most `soonMs`. A busy machine
 * delays one of them, a blocked host all. `pauseMs`: the time between two of them.
 */
export const leastOf = async (
  { neighbour }: Pick<Stand, "neighbour">,
  soonMs: number,
  { tries = 3, pauseMs = 0 }: { readonly tries?: number; readonly pauseMs?: number } = {},
): Promise<number> => {
  let least = await neighbour();
  for (let nth = 1; nth < tries && least > soonMs; nth += 1) {
    await sleep(pauseMs);
    least = Math.min(least, await neighbour());
  }
  return least;
};

/** The time of a neighbour, ms, by which the API server is at rest. */
const restMs = 1_500;

/** Returns a neighbour's time, ms, once the API server has finished what attacks have left behind, for which it has a minute. */
export const atRest = (hands: Pick<Stand, "neighbour">): Promise<number> =>
  leastOf(hands, restMs, { tries: 12, pauseMs: 5_000 });

/** Polls until `holds` is true; returns false if it is not within `longestMs`. */
export const waitFor = async (holds: () => Promise<boolean>, longestMs: number): Promise<boolean> => {
  for (const end = performance.now() + longestMs; performance.now() < end; await sleep(50))
    if (await holds()) return true;
  return false;
};
