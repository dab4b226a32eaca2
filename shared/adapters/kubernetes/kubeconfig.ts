/**
 * Finds the endpoint and the credentials of an API server, from a kubeconfig or from inside a pod, by the client library's
 * `KubeConfig`: contexts, the pod's account, tokens of identity providers. Requests are sent by this project's own transport.
 */
import { existsSync } from "node:fs";
import type { RequestOptions } from "node:https";
import { homedir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { createSecureContext } from "node:tls";
import type { KubeConfig } from "@kubernetes/client-node";
import { ApiError, type Transport } from "../../core/http.ts";
import { errorText } from "../../core/text.ts";
import type { Cluster } from "../../engine/ports.ts";
import { type ClusterOptions, openCluster } from "./cluster.ts";
import type { Credential } from "./credentials.ts";
import { type ExecAuthenticator, openExecAuthenticator } from "./exec-plugin.ts";
import { type ClosableTransport, type Endpoint, httpsTransport } from "./https.ts";
import { KubeconfigError } from "./kubeconfig-error.ts";
import {
  checkUser,
  type FileCluster,
  type FileUser,
  headersOf,
  type Kubeconfig,
  kubeconfigText,
  readKubeconfig,
} from "./kubeconfig-file.ts";
import { leanObjects } from "./managed-fields.ts";
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

type Library = typeof import("./client-library.ts");

/** Returns the value; an error of a missing file becomes one line for people. */
const named = <T>(read: () => T): T => {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof Error) || !("code" in cause && "path" in cause)) throw cause;
    const why = cause.code === "ENOENT" ? "does not exist" : `cannot be read: ${cause.code}`;
    throw new KubeconfigError(`${String(cause.path)}, which the kubeconfig names, ${why}`);
  }
};

/** The age at which files of certificates and tokens are read again, ms. */
const ageMs = 60_000;

const scheme = "Bearer ";

const textOf = (value: unknown): string | undefined =>
  typeof value === "string" || Buffer.isBuffer(value) ? value.toString() : undefined;

/** Returns the credential that the library would send a request with. */
const credentialOf = async (config: KubeConfig): Promise<Credential> => {
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options).catch((cause: unknown) =>
    named(() => {
      throw cause;
    }),
  );
  const { Authorization = "" } = Object.fromEntries(Object.entries(options.headers ?? {}));
  const header = String(Authorization);
  const token = header.startsWith(scheme) ? header.slice(scheme.length).trim() : undefined;
  return { token, cert: textOf(options.cert), key: textOf(options.key) };
};

/** Returns the provider of the current user's credentials; runs it once, so that errors show early. */
const loginOf = async (config: KubeConfig, plugin?: ExecAuthenticator): Promise<NonNullable<Endpoint["auth"]>> => {
  const provider = async (isRefused: boolean): Promise<Credential> => {
    if (isRefused) plugin?.forget();
    return { ...(await credentialOf(config)), expiresAt: plugin?.expiresAt() };
  };
  const { token, cert } = await provider(false);
  const name = config.getCurrentUser()?.authProvider?.name;
  if (name !== undefined && token === undefined && cert === undefined)
    throw new KubeconfigError(`auth provider ${String(name)} gave no token`);
  return { provider, ageMs };
};

const authorityOf = (config: KubeConfig, { bufferFromFileOrString }: Library): string | undefined => {
  const cluster = config.getCurrentCluster();
  return named(() => bufferFromFileOrString(cluster?.caFile, cluster?.caData))?.toString() ?? undefined;
};

/** Returns the cluster of the pod's service account; undefined outside a pod. `root`: the folder with the pod's files. */
export const clusterOfPod = async (
  env: KubeconfigChoice["env"],
  library: Library,
  root = "",
): Promise<ClusterRecord | undefined> => {
  if (podServer(env) === undefined || !existsSync(join(root, account, "ca.crt"))) return undefined;
  const config = new library.KubeConfig();
  config.loadFromCluster(root);
  const auth = await loginOf(config).catch((cause: unknown) => {
    throw new KubeconfigError("the pod's service account token is not mounted", { cause });
  });
  const ca = authorityOf(config, library);
  const server = config.getCurrentCluster()?.server ?? "";
  const namespace = config.getContextObject(config.currentContext)?.namespace?.trim();
  return { endpoint: { server, ...(ca === undefined ? {} : { ca }), auth }, context: "in-cluster", namespace };
};

const contextIn = (config: KubeConfig, wanted: string | undefined): { name: string; cluster: string; user: string } => {
  const name = wanted ?? config.currentContext;
  const known = config.contexts.map((context) => context.name);
  const choice = known.length === 0 ? "it has none" : `it has ${known.join(", ")}`;
  if (!name) throw new KubeconfigError(`the kubeconfig has no current context (${choice}); name one with --context`);
  const context = config.getContextObject(name);
  if (context === null) throw new KubeconfigError(`the kubeconfig has no context ${name} (${choice})`);
  if (config.getCluster(context.cluster) === null)
    throw new KubeconfigError(`context ${name} names a cluster that the kubeconfig does not have: ${context.cluster}`);
  if (context.user && config.getUser(context.user) === null)
    throw new KubeconfigError(`context ${name} names a user that the kubeconfig does not have: ${context.user}`);
  config.setCurrentContext(name);
  return { name, cluster: context.cluster, user: context.user };
};

/** Returns how connections go through a proxy. Only processes with a SOCKS proxy load its library of 85 kB. */
const throughProxy = async (proxy: string): Promise<Pick<Endpoint, "agent" | "proxy">> => {
  if (!(URL.canParse(proxy) && /^(https?|socks5h?):/.test(proxy)))
    throw new KubeconfigError(`proxy ${proxy} is not supported, only http, https and socks5 are`);
  if (!proxy.startsWith("socks")) return { proxy };
  const { SocksProxyAgent } = await import("socks-proxy-agent");
  return { agent: (options: object) => new SocksProxyAgent(proxy, options) };
};

const serverOf = async (cluster: FileCluster, wanted: string | undefined): Promise<Endpoint> => {
  const { "proxy-url": proxy, "insecure-skip-tls-verify": insecure } = cluster;
  const server = (wanted ?? cluster.server ?? "").replace(/\/$/, "");
  const serverName = wanted === undefined ? cluster["tls-server-name"] : undefined;
  if (!URL.canParse(server) || !/^https?:/.test(server))
    throw new KubeconfigError(`${server} is not an address of an API server`);
  return {
    server,
    ...(proxy ? await throughProxy(proxy) : {}),
    ...(serverName ? { serverName } : {}),
    ...(insecure === true ? { insecure } : {}),
  };
};

const execGroup = "client.authentication.k8s.io/exec";

type Around = {
  readonly endpoint: Endpoint;
  readonly cluster: FileCluster;
  readonly env: KubeconfigChoice["env"];
};

/** Opens the user's exec plugin; undefined if it has none. */
const pluginOf = ({ exec, folder }: FileUser, { endpoint, cluster, env }: Around): ExecAuthenticator | undefined => {
  if (!exec) return undefined;
  const { server, ca } = endpoint;
  const own = cluster.extensions?.find(({ name }) => name === execGroup)?.extension;
  const information = {
    server,
    ...(ca === undefined ? {} : { "certificate-authority-data": Buffer.from(ca).toString("base64") }),
    "insecure-skip-tls-verify": cluster["insecure-skip-tls-verify"] ?? undefined,
    "tls-server-name": cluster["tls-server-name"] ?? undefined,
    "proxy-url": cluster["proxy-url"] ?? undefined,
    config: own,
  };
  const command = /[\\/]/.test(exec.command) ? resolve(folder, exec.command) : exec.command;
  return openExecAuthenticator({ exec, command, cluster: information, env });
};

/** Throws one line if certificates cannot be used, before anything connects. */
const checkCertificates = async ({ ca, auth }: Endpoint, context: string): Promise<void> => {
  const { cert, key } = auth !== undefined && "provider" in auth ? await auth.provider(false) : {};
  try {
    createSecureContext({ ...(ca === undefined ? {} : { ca }), ...(cert && key ? { cert, key } : {}) });
  } catch (cause) {
    const why = errorText(cause);
    throw new KubeconfigError(`the certificates of context ${context} cannot be used: ${why}`);
  }
};

const endpointOf = async ({ config, users, clusters }: Kubeconfig, wanted: KubeconfigChoice, library: Library) => {
  const { name, ...context } = contextIn(config, wanted.context);
  const cluster = clusters.get(context.cluster) ?? {};
  const ca = authorityOf(config, library);
  const endpoint = { ...(await serverOf(cluster, wanted.server)), ...(ca === undefined ? {} : { ca }) };
  const user = users.get(context.user);
  if (user === undefined) return { name, endpoint };
  checkUser(context.user, user);
  const plugin = pluginOf(user, { endpoint, cluster, env: wanted.env });
  if (plugin !== undefined) config.addAuthenticator(plugin);
  const headers = headersOf(user);
  const login = { auth: await loginOf(config, plugin), ...(Object.keys(headers).length === 0 ? {} : { headers }) };
  return { name, endpoint: { ...endpoint, ...login } };
};

const fromFiles = async (
  paths: readonly string[],
  wanted: KubeconfigChoice,
  library: Library,
): Promise<ClusterRecord> => {
  const kubeconfig = await readKubeconfig(paths, library);
  const { name, endpoint } = await endpointOf(kubeconfig, wanted, library);
  await checkCertificates(endpoint, name);
  const { namespace } = kubeconfig.config.getContextObject(name) ?? {};
  return { endpoint, context: name, namespace };
};

/** Returns the files that kubectl would read, in its order; undefined if there are none. */
const pathsFor = async ({ path, env }: KubeconfigChoice): Promise<readonly string[] | undefined> => {
  if (path !== undefined) return [path];
  const listed = (env["KUBECONFIG"] ?? "").split(delimiter).filter(Boolean);
  if (listed.length > 0) return listed;
  const usual = join(env["HOME"] ?? homedir(), ".kube", "config");
  return (await kubeconfigText(usual)) === undefined ? undefined : [usual];
};

/** Finds the requested cluster; throws `KubeconfigError` with one line for people. */
export const findCluster = async (wanted: KubeconfigChoice): Promise<ClusterRecord> => {
  const library = await import("./client-library.ts");
  const paths = await pathsFor(wanted);
  if (paths !== undefined) return fromFiles(paths, wanted, library);
  if (wanted.server !== undefined)
    throw new KubeconfigError(`no kubeconfig has credentials for ${wanted.server}: name one with --kubeconfig`);
  const inside = await clusterOfPod(wanted.env, library);
  if (inside !== undefined) return inside;
  throw new KubeconfigError("no cluster: no --kubeconfig, no KUBECONFIG, no ~/.kube/config, and this is not a pod");
};

/** Opens the ports to the cluster of a record. */
export const clusterFromRecord = (
  record: ClusterRecord,
  options: ClusterOptions & { readonly maxSockets?: number } = {},
): { readonly transport: ClosableTransport; readonly cluster: Cluster } => {
  const { maxSockets, ...rest } = options;
  const requests = httpsTransport({ ...record.endpoint, ...(maxSockets === undefined ? {} : { maxSockets }) });
  const transport = { ...leanObjects(requests), close: requests.close };
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
