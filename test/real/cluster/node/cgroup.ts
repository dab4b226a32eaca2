/** A real memory limit for a container, where this machine permits control groups; version 1 or 2. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export type Group = {
  /** A process joins the group by writing its pid here. */
  readonly procs: string;
  readonly wasOomKilled: () => boolean;
  readonly peakBytes: () => number | undefined;
  readonly close: () => void;
};

export type Groups = {
  readonly limited: (name: string, bytes: number) => Group | undefined;
  readonly close: () => void;
};

type Version = { readonly limit: string; readonly events: string; readonly peak: string };

const one: Version = {
  limit: "memory.limit_in_bytes",
  events: "memory.oom_control",
  peak: "memory.max_usage_in_bytes",
};
const two: Version = { limit: "memory.max", events: "memory.events", peak: "memory.peak" };

const readable = (file: string): string => {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
};

/** Groups with processes in them stay: they belong to others. */
const removeTree = (dir: string): void => {
  try {
    for (const entry of readdirSync(dir, { withFileTypes: true }))
      if (entry.isDirectory()) removeTree(join(dir, entry.name));
    rmdirSync(dir);
  } catch {
    return;
  }
};

const group = (dir: string, version: Version): Group => ({
  procs: join(dir, "cgroup.procs"),
  wasOomKilled: () => /^oom_kill [1-9]/m.test(readable(join(dir, version.events))),
  peakBytes: () => Number(readable(join(dir, version.peak))) || undefined,
  close: () => {
    // The kernel releases a group a moment after its last process has ended.
    removeTree(dir);
    if (existsSync(dir)) setTimeout(() => removeTree(dir), 500).unref();
  },
});

const none: Groups = { limited: () => undefined, close: () => {} };

/** Removes the groups of killed agents. */
const removeOrphans = (top: string): void => {
  for (const name of readdirSync(top)) {
    const pid = /^rekindle-(\d+)$/.exec(name)?.[1];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) removeTree(join(top, name));
  }
};

/** Returns the folder of a container's n-th start, below its agent's. */
export const groupName = (podUid: string, container: string, restart: number): string =>
  `${podUid}-${container}-${restart}`;

const top = (version: Version): string => (version === one ? "/sys/fs/cgroup/memory" : "/sys/fs/cgroup");
const here = (): Version => (existsSync("/sys/fs/cgroup/cgroup.controllers") ? two : one);
const agentGroup = (pid: number): string => `rekindle-${pid}`;

/**
 * Returns the file by which a process joins the limited group of a container of the agent `pid`; undefined if there is
 * none.
 */
export const procsOf = (pid: number, name: string): string | undefined => {
  const file = join(top(here()), agentGroup(pid), name, "cgroup.procs");
  return existsSync(file) ? file : undefined;
};

const openUnder = (top: string, name: string, version: Version): Groups => {
  removeOrphans(top);
  const root = join(top, name);
  mkdirSync(root, { recursive: true });
  if (version === two) writeFileSync(join(root, "cgroup.subtree_control"), "+memory");
  return {
    limited: (container, bytes) => {
      const dir = join(root, container);
      mkdirSync(dir, { recursive: true });
      writeFileSync(join(dir, version.limit), String(bytes));
      return group(dir, version);
    },
    close: () => removeTree(root),
  };
};

/**
 * Opens the groups of this process. Without a writable controller containers run unlimited, which `say` reports once.
 */
export const openGroups = (say: (line: string) => void): Groups => {
  const version = here();
  try {
    return openUnder(top(version), agentGroup(process.pid), version);
  } catch (error) {
    say(`no memory limits here: ${String(error)}`);
    return none;
  }
};
