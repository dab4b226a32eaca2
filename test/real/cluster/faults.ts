/** What befalls a container on a node of the test cluster, done from outside as the world would do it. */
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

/** The container's own process as this machine numbers it; throws when it is not running. */
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

/** SIGKILL to the container's process: 137, reason Error. */
export const killContainer = (victim: Victim): void => void process.kill(pidOf(victim), "SIGKILL");

/** A line without an end, to be kept in memory until it is whole. */
const hog = ["tail", "/dev/zero"];

/** Reaching a limit is work, for which a busy machine gives little time. */
const exhaustionMs = 45_000;

/** Fills the control group beside the process until that has ended; the kernel may take the filler with it, or before. */
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
 * The container's memory limit is reached and the kernel kills it: 137, reason OOMKilled. What reaches the limit is a
 * process put beside it into its control group; as a kubelet may, it tells the kernel whom to take first. Throws when the
 * container is not limited here, or does not die of it.
 */
export const exhaustMemory = async (victim: Victim): Promise<void> => {
  const pid = pidOf(victim);
  const procs = procsOf(victim.node.pid, groupName(victim.uid, victim.container, 0));
  if (procs === undefined) throw new Error(`${victim.name} has no memory limit on this machine`);
  writeFileSync(`/proc/${pid}/oom_score_adj`, "1000");
  if (!(await fillUntilDead(pid, procs))) throw new Error(`${victim.name} lives on with its memory limit reached`);
};
