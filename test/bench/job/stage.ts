/** The stage of the benchmarks of Jobs: the process that stands in for kubelets and scheduler, and the waits for it. */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Cluster } from "../../real/cluster/cluster.ts";

/** Starts the stand-in for kubelets; with groups also for Volcano's scheduler, which admits them. */
export const startStandIn = ({ adminKubeconfig }: Cluster, withGroups: boolean): ChildProcess => {
  const script = join(import.meta.dirname, "standins", "run.ts");
  const args = ["--kubeconfig", adminKubeconfig, ...(withGroups ? ["--groups"] : [])];
  return spawn(process.execPath, [script, ...args], { stdio: "inherit" });
};

/** Resolves with the epoch ms at which the condition held. */
export const awaited = async (what: string, holds: () => boolean): Promise<number> => {
  const end = performance.now() + 240_000;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`not ${what} after four minutes`);
    await sleep(5);
  }
  return Date.now();
};
