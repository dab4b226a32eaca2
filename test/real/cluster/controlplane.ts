/** A real control plane: starts it, returns its kubeconfigs, stops it. */
import { type ChildProcess, spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import * as z from "zod";
import { controlPlaneFiles, type Release } from "../setup/go.ts";
import { type Api, openApi } from "./api.ts";
import { bridgeAddress, isInside } from "./netns.ts";

export type ControlPlaneOptions = {
  /** Folder of data, keys, logs and `cluster.json`; must not hold another cluster. */
  readonly dir: string;
  /** Flags appended to a part's own, e.g. `{ "kube-controller-manager": ["--node-monitor-grace-period=8s"] }`. */
  readonly extra?: Readonly<Record<string, readonly string[]>>;
  /** Absent: the usual one. */
  readonly release?: Release;
};

export type ControlPlane = {
  readonly dir: string;
  readonly server: string;
  readonly caFile: string;
  readonly adminKubeconfig: string;
  /** The identity of the node agents. */
  readonly nodeKubeconfig: string;
  /** The kubelet endpoint's serving certificate and key, which the API server accepts at the bridge's addresses. */
  readonly kubelet: { readonly cert: string; readonly key: string };
  readonly pids: Readonly<Record<string, number>>;
  /** A client as admin. */
  readonly api: Api;
  /** Writes a kubeconfig with a new token of this service account, and returns its path. */
  readonly kubeconfigOf: (namespace: string, serviceAccount: string) => Promise<string>;
  /** Runs kubectl as admin (or as `kubeconfig`), with `input` on its stdin. */
  readonly kubectl: (args: readonly string[], options?: { input?: string; kubeconfig?: string }) => Promise<Kubectl>;
  /** Folder with a program `kubectl`, for a PATH. */
  readonly binDir: string;
  readonly stop: () => Promise<void>;
};

export type Kubectl = { readonly code: number; readonly stdout: string; readonly stderr: string };

const announced = z.object({
  server: z.string(),
  caFile: z.string(),
  adminKubeconfig: z.string(),
  pids: z.record(z.string(), z.number()),
});

/** Resolves with the path of cluster.json; rejects with the supervisor's stderr if it exits before. */
const readyFile = (child: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    let said = "";
    child.stderr?.on("data", (chunk: Buffer) => {
      said += chunk.toString();
    });
    if (child.stdout !== null)
      createInterface({ input: child.stdout }).on("line", (line) => {
        if (line.startsWith("ready ")) resolve(line.slice("ready ".length));
      });
    child.on("error", reject);
    child.on("exit", (code) => reject(new Error(`the control plane ended with ${code}: ${said.trim()}`)));
  });

const ended = (child: ChildProcess): Promise<void> =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise((resolve) => child.once("exit", () => resolve()));

const runKubectl = (program: string, args: readonly string[], kubeconfig: string, input: string): Promise<Kubectl> =>
  new Promise((resolve, reject) => {
    // kubectl caches by address the resources that a server has, and all clusters of the lanes have one address.
    const env = { ...process.env, KUBECONFIG: kubeconfig, KUBECACHEDIR: `${kubeconfig}.cache` };
    const child = spawn(program, args, { env });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk.toString();
    });
    child.stderr.on("data", (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code: code ?? 1, stdout, stderr }));
    // If kubectl exits before it has read its input, its own error explains why.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
  });

const tokenReply = z.object({ status: z.object({ token: z.string() }) });

/** Writes a kubeconfig with a token. JSON is YAML. */
const tokenKubeconfig = async (
  plane: { api: Api; server: string; caFile: string; dir: string },
  namespace: string,
  name: string,
): Promise<string> => {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
  const spec = { expirationSeconds: 86_400 };
  const reply = await plane.api.call("POST", path, {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    spec,
  });
  if (reply.status !== 201) throw new Error(`no token for ${namespace}/${name}: ${JSON.stringify(reply.body)}`);
  const { token } = tokenReply.parse(reply.body).status;
  const ca = (await readFile(plane.caFile)).toString("base64");
  const file = join(plane.dir, `${namespace}.${name}.kubeconfig`);
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "rekindle-test", cluster: { server: plane.server, "certificate-authority-data": ca } }],
    users: [{ name, user: { token } }],
    contexts: [{ name: "rekindle-test", context: { cluster: "rekindle-test", user: name, namespace } }],
    "current-context": "rekindle-test",
  };
  await writeFile(file, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 });
  return file;
};

/**
 * Starts the control plane. Inside the namespace the API server listens at 10.244.0.1:443, reachable for pods; outside,
 * at a free port of loopback.
 */
export const startControlPlane = async ({
  dir,
  extra = {},
  release = "usual",
}: ControlPlaneOptions): Promise<ControlPlane> => {
  const { binary, kubectl } = await controlPlaneFiles(release);
  const where = isInside() ? ["--listen", "0.0.0.0", "--reach", bridgeAddress, "--port", "443"] : [];
  const flags = Object.entries(extra).flatMap(([part, more]) => more.flatMap((flag) => ["--extra", `${part}=${flag}`]));
  const child = spawn(binary, ["up", "--dir", dir, ...where, ...flags], { stdio: ["pipe", "pipe", "pipe"] });
  // The supervisor has already exited, so the write fails.
  child.stdin.on("error", () => {});
  const said = announced.parse(JSON.parse(await readFile(await readyFile(child), "utf8")));
  const api = await openApi(said.adminKubeconfig);
  return {
    ...said,
    dir,
    api,
    nodeKubeconfig: join(dir, "node-agent.kubeconfig"),
    kubelet: { cert: join(dir, "pki", "kubelet.crt"), key: join(dir, "pki", "kubelet.key") },
    binDir: join(kubectl, ".."),
    kubeconfigOf: (namespace, name) => tokenKubeconfig({ ...said, api, dir }, namespace, name),
    kubectl: (args, { input = "", kubeconfig = said.adminKubeconfig } = {}) =>
      runKubectl(kubectl, args, kubeconfig, input),
    stop: async () => {
      api.close();
      child.stdin.end();
      await ended(child);
    },
  };
};
