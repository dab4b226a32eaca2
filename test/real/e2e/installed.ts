/** Rekindle as its users install it: the manifests it prints, its service account, its built bundle as a process of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { functionNames } from "../../../shared/cli/installation/functions.ts";
import { features } from "../../../shared/kube/features.ts";
import type { ControlPlane } from "../cluster/controlplane.ts";

const root = join(import.meta.dirname, "..", "..", "..");
export const cli = join(root, "dist", "cli.mjs");

/** What a service manager would give it, and nothing of the lane's own. */
const environment = { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "" };

/** Standard output of the built command line; throws with what it said when it fails. */
export const rekindle = (args: readonly string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [cli, ...args], { env: environment });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk.toString();
    });
    child.stderr.on("data", (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    child.on("error", reject);
    child.on("close", (code) =>
      code === 0 ? resolve(stdout) : reject(new Error(`rekindle ${args.join(" ")} ended with ${code}: ${stderr}`)),
    );
  });

/** Bundles as they are published. */
export const build = (): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["infra/build.ts"], { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
    child.on("exit", (code) => (code === 0 ? resolve() : reject(new Error(`the build ended with ${code}`))));
  });

/** Lanes have jobs with keys and executors of ours. */
const all = ["--features", features.join(",")] as const;

const applied = async (plane: ControlPlane, text: string): Promise<void> => {
  const { code, stderr } = await plane.kubectl(["apply", "--server-side", "-f", "-"], { input: text });
  if (code !== 0) throw new Error(`kubectl apply: ${stderr}`);
};

/**
 * `rekindle manifests | kubectl apply`, without the Deployment (there are no container images here). `upstreamCrds` is a
 * folder of CRDs to install instead of ours of these groups. Gives the kubeconfig of the shipped service account.
 */
export const install = async (
  plane: ControlPlane,
  upstreamCrds: string | undefined,
  groups = "sparkoperator.k8s.io",
): Promise<string> => {
  if (upstreamCrds !== undefined) {
    const { code, stderr } = await plane.kubectl(["apply", "--server-side", "-R", "-f", upstreamCrds]);
    if (code !== 0) throw new Error(`kubectl apply ${upstreamCrds}: ${stderr}`);
  }
  const without = upstreamCrds === undefined ? [] : ["--without-crds", groups];
  await applied(
    plane,
    await rekindle(["manifests", "--without-deployment", "--spark-namespace", "default", ...all, ...without]),
  );
  return await plane.kubeconfigOf("rekindle", "rekindle");
};

/** Accounts and roles of functions as they are shipped, by `rekindle manifests --functions`. Gives their kubeconfigs by name. */
export const installFunctions = async (plane: ControlPlane): Promise<Readonly<Record<string, string>>> => {
  await applied(plane, await rekindle(["manifests", "--functions", ...all]));
  const configs = functionNames.map(async (name) => [name, await plane.kubeconfigOf("rekindle", `rekindle-${name}`)]);
  return Object.fromEntries(await Promise.all(configs));
};

/** The rights and the Service that admission takes beside a host. */
export const installAdmission = async (plane: ControlPlane): Promise<void> =>
  applied(plane, await rekindle(["manifests", "--admission", "--rbac-only", "--spark-namespace", "default", ...all]));

/** Flags of a host whose admission the API server calls by its address. */
export const admissionByUrl: readonly string[] = [
  "--admission",
  "--admission-quota",
  "--admission-listen=127.0.0.1:19443",
  "--admission-reach=https://127.0.0.1:19443",
];

export type HostProcess = {
  readonly pid: number;
  /** SIGKILL, and resolves when it is gone. */
  kill(): Promise<void>;
  /** SIGTERM; resolves with its exit code. */
  stop(): Promise<number>;
  readonly exited: () => boolean;
};

const gone = (child: ChildProcess): Promise<number> =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve(child.exitCode ?? 1)
    : new Promise((resolve) => child.once("exit", (code) => resolve(code ?? 1)));

/** One host as a separate process; its log is appended to `log`. `node`: flags of the runtime itself. */
export const startHost = (
  kubeconfig: string,
  log: string,
  args: readonly string[] = [],
  node: readonly string[] = [],
): HostProcess => {
  const all = [...node, cli, "host", "--kubeconfig", kubeconfig, "--listen", "127.0.0.1:0", ...args];
  const child = spawn(process.execPath, all, { stdio: ["ignore", "pipe", "pipe"], env: environment });
  const file = createWriteStream(log, { flags: "a" });
  child.stdout.pipe(file, { end: false });
  child.stderr.pipe(file, { end: false });
  child.on("exit", () => file.end());
  return {
    pid: child.pid ?? 0,
    exited: () => child.exitCode !== null || child.signalCode !== null,
    kill: async () => {
      child.kill("SIGKILL");
      await gone(child);
    },
    stop: async () => {
      child.kill("SIGTERM");
      return await gone(child);
    },
  };
};
