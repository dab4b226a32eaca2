/** Node agents as child processes, which a test can start, freeze and kill. */
import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream, readFileSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cacheDir } from "../setup/part.ts";
import type { Reply } from "./api.ts";
import type { ControlPlane } from "./controlplane.ts";
import { refusedFile } from "./node/refusals.ts";

export type Node = {
  readonly name: string;
  readonly pid: number;
  readonly log: string;
  /** The agent's folder: pids, logs, and files by which tests control it. */
  readonly dir: string;
  /** Stops the agent's heartbeat and reports while its pods continue: an unreachable node. */
  readonly freeze: () => void;
  readonly thaw: () => void;
  /** Stops the whole machine with all its processes, without notice; `resume` continues them. */
  readonly suspend: () => void;
  readonly resume: () => void;
  /** Makes pulls fail for pods whose NAMESPACE/NAME matches one of these patterns; an empty list ends that. */
  readonly refusePulls: (patterns: readonly string[]) => Promise<void>;
  /** Kills the machine with all its pods, without notice. */
  readonly kill: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

const agent = join(import.meta.dirname, "node", "run.ts");

/** The time that an agent has after SIGTERM before it is killed. */
const graceMs = 15_000;

const gone = (child: ChildProcess): Promise<void> =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise((resolve) => child.once("exit", () => resolve()));

const stop = async (child: ChildProcess): Promise<void> => {
  signalTree(child.pid ?? 0, "SIGCONT");
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), graceMs);
  await gone(child);
  clearTimeout(timer);
};

const childrenOf = (pid: number): number[] => {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").map(Number).filter(Boolean);
  } catch {
    return [];
  }
};

/** Signals the process and its descendants, parents first: a stopped parent starts no new child. */
const signalTree = (pid: number, signal: "SIGSTOP" | "SIGCONT"): void => {
  try {
    process.kill(pid, signal);
  } catch {
    // It has just exited.
  }
  for (const child of childrenOf(pid)) signalTree(child, signal);
};

const isReady = (reply: Reply): boolean =>
  reply.status === 200 &&
  /"type":"Ready","status":"True"|"status":"True"[^}]*"type":"Ready"/.test(JSON.stringify(reply.body));

/** Resolves when the node is Ready in the API; rejects with the end of the agent's log if it exits before. */
export const startNode = async (plane: ControlPlane, name: string, more: readonly string[] = []): Promise<Node> => {
  const dir = join(plane.dir, name);
  await mkdir(dir, { recursive: true });
  const log = join(plane.dir, "logs", `${name}.log`);
  const flags = Object.entries({
    kubeconfig: plane.nodeKubeconfig,
    name,
    dir,
    cache: cacheDir(),
    "tls-cert": plane.kubelet.cert,
    "tls-key": plane.kubelet.key,
    "client-ca": plane.caFile,
  }).flatMap(([flag, value]) => [`--${flag}`, value]);
  const node = [process.execPath, "--disable-warning=ExperimentalWarning", agent, ...flags, ...more];
  const child = spawn("setpriv", ["--pdeathsig", "TERM", ...node], { stdio: ["ignore", "pipe", "pipe"] });
  const file = createWriteStream(log);
  child.stdout.pipe(file, { end: false });
  child.stderr.pipe(file, { end: false });
  const early = gone(child).then(async () => {
    const end = (await readFile(log, "utf8")).trim().split("\n").slice(-8).join("\n");
    throw new Error(`the agent of ${name} ended before its node was Ready:\n${end}`);
  });
  await Promise.race([plane.api.until(`/api/v1/nodes/${name}`, isReady, 30_000), early]);
  early.catch(() => {});
  return {
    name,
    pid: child.pid ?? 0,
    log,
    dir,
    freeze: () => void child.kill("SIGSTOP"),
    thaw: () => void child.kill("SIGCONT"),
    suspend: () => signalTree(child.pid ?? 0, "SIGSTOP"),
    resume: () => signalTree(child.pid ?? 0, "SIGCONT"),
    refusePulls: (patterns) => writeFile(refusedFile(dir), patterns.join("\n")),
    kill: async () => {
      child.kill("SIGKILL");
      await gone(child);
    },
    stop: () => stop(child),
  };
};
