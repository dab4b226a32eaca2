/** Finds the endpoint and the credentials of an API server: from a kubeconfig, or from inside a pod. */
import { homedir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { ApiError, type Transport } from "../../core/http.ts";
import type { Cluster } from "../../engine/ports.ts";
import { type ClusterOptions, openCluster } from "./cluster.ts";
import { type ClosableTransport, type Endpoint, httpsTransport } from "./https.ts";
import {
  type FileCluster,
  type FileContext,
  type Kubeconfig,
  KubeconfigError,
  loginOf,
  readKubeconfig,
  textOf,
} from "./login.ts";
import { leanPods } from "./managed-fields.ts";
import { account, podServer } from "./pod.ts";

/** A cluster's endpoint, and the name that people know it by. */
export type ClusterRecord = {
  readonly endpoint: Endpoint;
  readonly context: string;
  /** The namespace of the context. */
  readonly namespace: string | undefined;
};

export type KubeconfigChoice = {
  /** A kubeconfig file; else $KUBECONFIG, ~/.kube/config, or the pod's own account. */
  readonly path?: string | undefined;
  readonly context?: string | undefined;
  /**
   * Address of the API server that replaces the context's; as with kubectl, its certificate must then name its own
   * host.
   */
  readonly server?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
};

/** Returns the cluster of the pod's service account; undefined outside a pod. */
const fromPod = async (env: KubeconfigChoice["env"]): Promise<ClusterRecord | undefined> => {
  const server = podServer(env);
  if (server === undefined) return undefined;
  const ca = await textOf(join(account, "ca.crt"), "the pod's certificate");
  if (ca === undefined) return undefined;
  const namespace = await textOf(join(account, "namespace"), "the pod's namespace");
  const token = async (): Promise<string> => {
    const found = await textOf(join(account, "token"), "the pod's token");
    if (found === undefined) throw new KubeconfigError("the pod's service account token is not mounted");
    return found.trim();
  };
  const endpoint = { server, ca, auth: { tokenProvider: token, tokenAgeMs: 60_000 } };
  return { endpoint, context: "in-cluster", namespace: namespace?.trim() };
};

const contextIn = (config: Kubeconfig, wanted: string | undefined): { name: string; context: FileContext } => {
  const name = wanted ?? config.currentContext;
  const known = [...config.contexts.keys()];
  const choice = known.length === 0 ? "it has none" : `it has ${known.join(", ")}`;
  if (name === undefined)
    throw new KubeconfigError(`the kubeconfig has no current context (${choice}); name one with --context`);
  const context = config.contexts.get(name);
  if (context === undefined) throw new KubeconfigError(`the kubeconfig has no context ${name} (${choice})`);
  return { name, context };
};

/** Returns the PEM text in the kubeconfig or in the file that it names. */
const caOf = async (cluster: FileCluster): Promise<string | undefined> => {
  const { "certificate-authority-data": data, "certificate-authority": file } = cluster;
  if (data) return Buffer.from(data, "base64").toString("utf8");
  if (!file) return undefined;
  const path = resolve(cluster.folder, file);
  const ca = await textOf(path, "certificate authority");
  if (ca === undefined) throw new KubeconfigError(`certificate authority ${path} does not exist`);
  return ca;
};

const serverOf = (cluster: FileCluster, wanted: string | undefined): Endpoint => {
  const { "proxy-url": proxy, "insecure-skip-tls-verify": insecure } = cluster;
  const server = wanted ?? cluster.server;
  const serverName = wanted === undefined ? cluster["tls-server-name"] : undefined;
  if (!URL.canParse(server) || !/^https?:/.test(server))
    throw new KubeconfigError(`${server} is not an address of an API server`);
  if (proxy && !/^https?:/.test(proxy))
    throw new KubeconfigError(`proxy ${proxy} is not supported, only http and https are`);
  return {
    server,
    ...(proxy ? { proxy } : {}),
    ...(serverName ? { serverName } : {}),
    ...(insecure === true ? { insecure } : {}),
  };
};

const fromFiles = async (paths: readonly string[], wanted: KubeconfigChoice): Promise<ClusterRecord> => {
  const config = await readKubeconfig(paths);
  const { name, context } = contextIn(config, wanted.context);
  const cluster = config.clusters.get(context.cluster);
  if (cluster === undefined)
    throw new KubeconfigError(`context ${name} names a cluster that the kubeconfig does not have: ${context.cluster}`);
  const user = context.user ? config.users.get(context.user) : undefined;
  if (context.user && user === undefined)
    throw new KubeconfigError(`context ${name} names a user that the kubeconfig does not have: ${context.user}`);
  const server = serverOf(cluster, wanted.server);
  const ca = await caOf(cluster);
  const login = user === undefined ? {} : await loginOf(user, { server: server.server, ca, env: wanted.env });
  const endpoint = { ...server, ...(ca === undefined ? {} : { ca }), ...login };
  return { endpoint, context: name, namespace: context.namespace ?? undefined };
};

/** Returns the files that kubectl would read, in its order; undefined if there are none. */
const pathsFor = async ({ path, env }: KubeconfigChoice): Promise<readonly string[] | undefined> => {
  if (path !== undefined) return [path];
  const listed = (env["KUBECONFIG"] ?? "").split(delimiter).filter(Boolean);
  if (listed.length > 0) return listed;
  const usual = join(env["HOME"] ?? homedir(), ".kube", "config");
  return (await textOf(usual, "kubeconfig")) === undefined ? undefined : [usual];
};

/** Finds the requested cluster; throws `KubeconfigError` with one line for people. */
export const findCluster = async (wanted: KubeconfigChoice): Promise<ClusterRecord> => {
  const paths = await pathsFor(wanted);
  if (paths !== undefined) return fromFiles(paths, wanted);
  if (wanted.server !== undefined)
    throw new KubeconfigError(`no kubeconfig has credentials for ${wanted.server}: name one with --kubeconfig`);
  const inside = await fromPod(wanted.env);
  if (inside !== undefined) return inside;
  throw new KubeconfigError("no cluster: no --kubeconfig, no KUBECONFIG, no ~/.kube/config, and this is not a pod");
};

const opened = (record: ClusterRecord, maxSockets: number | undefined): ClosableTransport => {
  try {
    const transport = httpsTransport({ ...record.endpoint, ...(maxSockets === undefined ? {} : { maxSockets }) });
    return { ...leanPods(transport), close: transport.close };
  } catch (cause) {
    // Nothing has connected yet: the error comes from reading the certificates.
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new KubeconfigError(`the certificates of context ${record.context} cannot be used: ${why}`);
  }
};

/** Opens the ports to the cluster of a record. */
export const clusterFromRecord = (
  record: ClusterRecord,
  options: ClusterOptions & { readonly maxSockets?: number } = {},
): { readonly transport: ClosableTransport; readonly cluster: Cluster } => {
  const { maxSockets, ...rest } = options;
  const transport = opened(record, maxSockets);
  return { transport, cluster: openCluster(transport, rest) };
};

/** Returns why the API server does not answer as it should, in one line; undefined if it does. */
export const whyUnreachable = async (transport: Transport, record: ClusterRecord): Promise<string | undefined> => {
  const who = `context ${record.context}`;
  const { server } = record.endpoint;
  try {
    const { status } = await transport.send({ method: "GET", path: "/version", headers: {}, timeoutMs: 5_000 });
    if (status === 401) return `the API server ${server} does not accept the credentials of ${who}`;
    return status >= 500 ? `the API server ${server} (${who}) is in trouble: HTTP ${status}` : undefined;
  } catch (cause) {
    const why = cause instanceof ApiError ? cause.message.replace(/^GET \/version: /, "") : String(cause);
    return `the API server ${server} (${who}) cannot be reached: ${why}`;
  }
};
