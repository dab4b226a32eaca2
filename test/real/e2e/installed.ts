/**
 * Installs Rekindle as its users do: the printed manifests, the service account, the built bundle as a separate
 * process.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { functionNames } from "../../../shared/installation/function-rights.ts";
import { type Family, features } from "../../../shared/kube/resources.ts";
import { builtFor } from "../../support/build.ts";
import type { ControlPlane } from "../cluster/controlplane.ts";

const root = join(import.meta.dirname, "..", "..", "..");
export const cli = join(root, "dist", "cli.mjs");

/** The variables that a service manager would set; none of the lane's own. */
const environment = { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "" };

/** Returns the standard output of the built command line; throws its standard error on failure. */
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

/** Puts the bundles into `dist/`, built if their sources have changed since the last lane. */
export const build = async (): Promise<void> => void (await builtFor("dist"));

/** Enables every feature, because lanes run jobs with keys and executors created by Rekindle. */
const all = ["--features", features.join(",")] as const;

/** The arguments of an installation of these families of kinds; undefined stands for the default ones. */
const ofFamilies = (chosen: readonly Family[] | undefined): readonly string[] =>
  chosen === undefined ? [] : ["--family", chosen.join(",")];

const applied = async (plane: ControlPlane, text: string): Promise<void> => {
  const { code, stderr } = await plane.kubectl(["apply", "--server-side", "-f", "-"], { input: text });
  if (code !== 0) throw new Error(`kubectl apply: ${stderr}`);
};

/**
 * Runs `rekindle manifests | kubectl apply`, without the Deployment (this cluster runs no container images).
 * `upstreamCrds` is a folder of CRDs to install instead of Rekindle's CRDs of `groups`. Returns the kubeconfig of the
 * shipped service account.
 */
export const install = async (
  plane: ControlPlane,
  upstreamCrds: string | undefined,
  groups = "sparkoperator.k8s.io",
  chosen?: readonly Family[],
): Promise<string> => {
  if (upstreamCrds !== undefined) {
    const { code, stderr } = await plane.kubectl(["apply", "--server-side", "-R", "-f", upstreamCrds]);
    if (code !== 0) throw new Error(`kubectl apply ${upstreamCrds}: ${stderr}`);
  }
  const without = upstreamCrds === undefined ? [] : ["--without-crds", groups];
  await applied(
    plane,
    await rekindle([
      ...["manifests", "--without-deployment", "--spark-namespace", "default"],
      ...all,
      ...ofFamilies(chosen),
      ...without,
    ]),
  );
  return await plane.kubeconfigOf("rekindle", "rekindle");
};

/** Applies the accounts and roles of `rekindle manifests --functions`. Returns their kubeconfigs by function name. */
export const installFunctions = async (
  plane: ControlPlane,
  chosen?: readonly Family[],
): Promise<Readonly<Record<string, string>>> => {
  await applied(plane, await rekindle(["manifests", "--functions", ...all, ...ofFamilies(chosen)]));
  const configs = functionNames.map(async (name) => [name, await plane.kubeconfigOf("rekindle", `rekindle-${name}`)]);
  return Object.fromEntries(await Promise.all(configs));
};

/**
 * Creates namespaces with the accounts of Spark drivers, beside what `install` applied for these families. The host may
 * then choose namespaces by their labels, too.
 */
export const installNamespaces = async (
  plane: ControlPlane,
  names: readonly string[],
  selector: string,
  chosen?: readonly Family[],
): Promise<void> => {
  const namespaces = names.map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } }));
  await applied(plane, JSON.stringify({ apiVersion: "v1", kind: "List", items: namespaces }));
  const args = ["manifests", "--rbac-only", "--namespace-selector", selector];
  const accounts = ["--spark-namespace", ["default", ...names].join(",")];
  await applied(plane, await rekindle([...args, ...accounts, ...all, ...ofFamilies(chosen)]));
};

/** Applies the rights and the Service that admission needs beside a host. */
export const installAdmission = async (plane: ControlPlane): Promise<void> =>
  applied(plane, await rekindle(["manifests", "--admission", "--rbac-only", "--spark-namespace", "default", ...all]));

/** Flags of a host whose admission webhook the API server calls by URL. */
export const admissionByUrl: readonly string[] = [
  "--admission",
  "--admission-quota",
  "--admission-listen=127.0.0.1:19443",
  "--admission-reach=https://127.0.0.1:19443",
];

export type HostProcess = {
  readonly pid: number;
  /** Sends SIGKILL; resolves when the process has exited. */
  kill(): Promise<void>;
  /** Sends SIGTERM; resolves with the exit code. */
  stop(): Promise<number>;
  readonly exited: () => boolean;
};

const gone = (child: ChildProcess): Promise<number> =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve(child.exitCode ?? 1)
    : new Promise((resolve) => child.once("exit", (code) => resolve(code ?? 1)));

/** Appends both outputs of a process to a file, until it ends. */
export const appendTo = ({ stdout, stderr }: ChildProcess, log: string): void => {
  const file = createWriteStream(log, { flags: "a" });
  const open = [stdout, stderr].filter((stream) => stream !== null);
  for (const stream of open) stream.pipe(file, { end: false });
  void Promise.all(open.map((stream) => once(stream, "end"))).finally(() => file.end());
};

type Env = Readonly<Record<string, string>>;

const startNode = (args: readonly string[], env: Env, log: string): ChildProcess => {
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  appendTo(child, log);
  return child;
};

/** Starts a built function as a process with this environment alone, and appends its outputs to `log`. */
export const startFunction = (name: string, env: Env, log: string): ChildProcess =>
  startNode([join(root, "dist", `${name}.mjs`)], env, log);

/** Starts the command of a container, which begins with `node`, with the built functions in place of its image. */
export const startCommand = (command: readonly string[], env: Env, log: string): ChildProcess =>
  startNode(
    command.slice(1).map((part) => part.replaceAll("/app/dist/", `${join(root, "dist")}/`)),
    env,
    log,
  );

/** Starts one host as a separate process and appends its log to `log`. `node`: flags of the Node.js runtime. `built`: a built command line. */
export const startHost = (
  kubeconfig: string,
  log: string,
  args: readonly string[] = [],
  node: readonly string[] = [],
  built = cli,
): HostProcess => {
  const all = [...node, built, "host", "--kubeconfig", kubeconfig, "--listen", "127.0.0.1:0", ...args];
  const child = spawn(process.execPath, all, { stdio: ["ignore", "pipe", "pipe"], env: environment });
  appendTo(child, log);
  return childOf(child);
};

/** Returns the controls of a started process. */
export const childOf = (child: ChildProcess): HostProcess => ({
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
});
