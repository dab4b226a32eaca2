/** The context of every end-to-end case: the cluster, the real kubectl, a host while it is needed. */
import type { Cluster } from "../cluster/cluster.ts";
import { type HostProcess, startHost } from "./installed.ts";
import type { observe } from "./witness.ts";

/** The context of a case. `say` prints progress for people. */
export type Scene = {
  readonly cluster: Cluster;
  readonly kubeconfig: string;
  readonly hostLog: string;
  readonly say: (line: string) => void;
  /** Draws the moments of the kills. The seed is printed, and the same seed gives the same moments. */
  readonly random: () => number;
};

/** A case. `run` throws the failure; it returns lines for the report, or the reason why the case cannot be run here. */
export type Case = {
  readonly name: string;
  /** Called before the first case of the lane; what it begins goes on beside the other cases. */
  readonly begin?: (scene: Scene) => void;
  readonly run: (scene: Scene) => Promise<readonly string[] | { readonly missing: string }>;
};

/** Returns the standard output of the real kubectl as admin; throws its standard error on failure. */
export const kubectl = async (cluster: Cluster, args: readonly string[]): Promise<string> => {
  const { code, stdout, stderr } = await cluster.kubectl(args);
  if (code !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr.trim()}`);
  return stdout;
};

/** Throws the message unless the condition holds. */
export const must = (holds: boolean, message: string): void => {
  if (!holds) throw new Error(message);
};

/** Asserts one driver per attempt: no submission id had two pods, and no two drivers were alive at once. */
export const onlyOneDriver = (witness: ReturnType<typeof observe>, attempts: number): void => {
  const bodies = [...witness.drivers()].map(([id, uids]) => `${id}: ${uids.size}`);
  must(
    [...witness.drivers().values()].every((uids) => uids.size === 1),
    `more than one driver pod of one attempt (${bodies.join(", ")})`,
  );
  must(witness.drivers().size === attempts, `${witness.drivers().size} attempts had drivers, expected ${attempts}`);
  must(witness.mostAlive() <= 1, `${witness.mostAlive()} drivers were alive at once`);
};

/** Runs `work` while a host is running, and stops the host at the end. */
export const running = async <T>(
  scene: Scene,
  work: (host: HostProcess) => Promise<T>,
  args: readonly string[] = [],
): Promise<T> => {
  const host = startHost(scene.kubeconfig, scene.hostLog, args);
  try {
    return await work(host);
  } finally {
    const code = await host.stop();
    scene.say(`host drained, exit ${code}`);
  }
};

/** The result line of SparkPi. */
export const pi = /Pi is roughly 3\.\d+/;
