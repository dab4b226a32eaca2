/** The memory of a container: a control group with the shipped limit, for a process under attack. */
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The memory limit of the shipped Deployments, bytes. */
const shippedLimit = 512 * 1_024 * 1_024;

/** Roots and names of the limit, of both versions of control groups. */
const versions = [
  { root: "/sys/fs/cgroup/memory", limit: "memory.limit_in_bytes" },
  { root: "/sys/fs/cgroup", limit: "memory.max" },
] as const;

/**
 * Moves a process into a group of its own; the kernel ends it when it exceeds the limit. Returns the end of the group
 * for after the end of the process. Where no group can be made, the bound of the resident size is all.
 */
export const confine = (pid: number): (() => void) => {
  for (const { root, limit } of versions) {
    const folder = join(root, `rekindle-attack-${pid}`);
    try {
      mkdirSync(folder);
      if (!existsSync(join(folder, limit))) throw new Error("no limit of memory");
      writeFileSync(join(folder, limit), String(shippedLimit));
      writeFileSync(join(folder, "cgroup.procs"), String(pid));
      return () => freed(folder);
    } catch {
      freed(folder);
    }
  }
  return () => {};
};

const freed = (folder: string): void => {
  try {
    rmdirSync(folder);
  } catch {
    // The group has a process yet, or does not exist.
  }
};
