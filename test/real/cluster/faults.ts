/** Faults of a container on a node of the test cluster, injected from outside it. */
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { groupName, procsOf } from "./node/cgroup.ts";
import { pidFileOf } from "./node/context.ts";
import type { Node } from "./nodes.ts";

/** A container of a running pod. */
export type Victim = {
  readonly node: Node;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly container: string;
};

/** Returns the pid of the container's process on this machine; throws if it is not running. */
const pidOf = ({ node, namespace, name, container }: Victim): number => {
  const pod = { metadata: { namespace, name } };
  const pid = Number(readFileSync(pidFileOf(node, pod, container), "utf8").trim());
  if (!(pid > 1)) throw new Error(`${namespace}/${name} has no process ${container}`);
  return pid;
};

const lives = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** Sends SIGKILL to the container's process: exit code 137, reason Error. */
export const killContainer = (victim: Victim): void => void process.kill(pidOf(victim), "SIGKILL");

/** Reads a line without an end, which is kept in memory until it is complete. */
const hog = ["tail", "/dev/zero"];

/** Filling the memory takes CPU time, which is scarce on a busy machine. */
const exhaustionMs = 45_000;

/** Fills the control group's memory until the process has ended; the kernel may kill the filler too, or first. */
const fillUntilDead = async (pid: number, procs: string): Promise<boolean> => {
  const join = ["-c", 'echo $$ > "$0" && exec "$@"', procs, ...hog];
  const until = performance.now() + exhaustionMs;
  while (lives(pid) && performance.now() < until) {
    const child = spawn("/bin/sh", join, { stdio: "ignore" });
    let gone = false;
    child.once("exit", () => {
      gone = true;
    });
    while (lives(pid) && !gone && performance.now() < until) await sleep(50);
    child.kill("SIGKILL");
    await sleep(50);
  }
  return !lives(pid);
};

/**
 * Exhausts the container's memory limit, so that the kernel kills it: exit code 137, reason OOMKilled. A filler process
 * in its control group reaches the limit; the container gets the highest oom_score_adj, as a kubelet may set it, so
 * that the kernel kills it first. Throws if the container has no limit here or survives.
 */
export const exhaustMemory = async (victim: Victim): Promise<void> => {
  const pid = pidOf(victim);
  const procs = procsOf(victim.node.pid, groupName(victim.uid, victim.container, 0));
  if (procs === undefined) throw new Error(`${victim.name} has no memory limit on this machine`);
  writeFileSync(`/proc/${pid}/oom_score_adj`, "1000");
  if (!(await fillUntilDead(pid, procs))) throw new Error(`${victim.name} lives on with its memory limit reached`);
};
