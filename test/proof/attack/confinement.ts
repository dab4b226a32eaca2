/** The memory of a container: a control group with the shipped limit, for a process under attack. */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The memory limit of the shipped Deployments, bytes. */
const shippedLimit = 512 * 1_024 * 1_024;

const containerfile = join(import.meta.dirname, "..", "..", "..", "infra", "Containerfile");

/** The share of a container's limit that the image gives to the heap, percent. */
const heapShare = (): number => {
  const [, percentage] =
    /^ENV NODE_OPTIONS=--max-old-space-size-percentage=(\d+)$/m.exec(readFileSync(containerfile, "utf8")) ?? [];
  if (percentage === undefined) throw new Error(`${containerfile} gives Node no share of the memory`);
  return Number(percentage);
};

/**
 * The heap that Node takes in a container of the image, as options of Node: a process under attack joins its group only
 * after its start, when Node has read the memory of the machine.
 */
export const heapOptions = (): readonly string[] => [
  `--max-old-space-size=${Math.floor((shippedLimit / 2 ** 20) * (heapShare() / 100))}`,
  "--max-semi-space-size=1",
];

/** `heapOptions` as the environment of a process. */
export const heapEnvironment = (): { readonly NODE_OPTIONS: string } => ({ NODE_OPTIONS: heapOptions().join(" ") });

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
