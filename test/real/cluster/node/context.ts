/** The state that the agent's parts share: the node's facts and services, and a pod's own state while it runs. */
import type { Api } from "./api.ts";
import type { Groups } from "./cgroup.ts";
import type { Tell } from "./events.ts";
import type { Network, Networks } from "./network.ts";
import type { Container, ContainerState, Pod, Terminated } from "./objects.ts";
import type { Running } from "./process.ts";
import type { StandIn } from "./standins.ts";
import type { Stopper } from "./stopper.ts";

export type Settings = {
  /** First delay of CrashLoopBackOff and ImagePullBackOff; it doubles up to 30 times this. */
  readonly backoffMs: number;
  readonly refreshMs: number;
};

export type NodeContext = {
  readonly api: Api;
  readonly name: string;
  readonly ip: string;
  readonly dir: string;
  readonly cache: string;
  readonly allocatable: Readonly<Record<string, string>>;
  readonly networks: Networks;
  readonly groups: Groups;
  readonly tell: Tell;
  readonly settings: Settings;
  /** Stand-ins for images that this machine lacks. */
  readonly standIns: readonly StandIn[];
  readonly log: (line: string) => void;
  /** Returns the current text of a pod's /etc/hosts. */
  readonly hostsFor: (pod: Pod, ip: string) => string;
};

export type Role = "init" | "sidecar" | "main";

/** One container over all its restarts. */
export type Tracked = {
  readonly spec: Container;
  readonly role: Role;
  state: ContainerState;
  last: Terminated | undefined;
  restarts: number;
  ready: boolean;
  started: boolean;
  imageID: string;
  containerID: string | undefined;
  running: Running | undefined;
};

export type PodContext = {
  readonly node: NodeContext;
  /** Folder of this pod, named by its UID. */
  readonly dir: string;
  readonly hostsFile: string;
  /** Returns the newest version that the agent has received. */
  readonly pod: () => Pod;
  readonly network: () => Network | undefined;
  readonly volumes: ReadonlyMap<string, string>;
  readonly fixedVolumes: () => ReadonlySet<string>;
  readonly report: () => void;
};

/** One start of a container, and its stop request with a deadline. */
export type Life = { readonly context: PodContext; readonly tracked: Tracked; readonly stopping: Stopper };

export const secondsNow = (): string => new Date().toISOString().replace(/\.\d+Z$/, "Z");

export const backoff = (tries: number, { backoffMs }: Settings): number =>
  Math.min(backoffMs * 2 ** (tries - 1), backoffMs * 30);

export const messageOfError = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Returns the log file of a container's n-th start; it is kept when the pod is gone. */
export const logFileOf = (node: { readonly dir: string }, pod: Pod, container: string, restart: number): string =>
  `${node.dir}/logs/${pod.metadata.namespace}_${pod.metadata.name}_${pod.metadata.uid}/${container}/${restart}.log`;

/** Returns the file with the pid of a container's process while it runs, for tests that kill it. */
export const pidFileOf = (
  node: { readonly dir: string },
  pod: { readonly metadata: { readonly namespace: string; readonly name: string } },
  container: string,
): string => `${node.dir}/pids/${pod.metadata.namespace}/${pod.metadata.name}/${container}`;
