/**
 * Reads kubeconfig files as kubectl does: several are merged, the first entry of a name wins, and paths are relative
 * to their own file. Converts a kubeconfig's user into credentials: certificate, token, password, legacy auth
 * provider, or exec plugin, which runs without a terminal, with a time limit, and with one-line errors.
 */

import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import * as z from "zod";
import { jsonOf } from "../../core/json.ts";
import type { Auth, Endpoint } from "./https.ts";

/** A mistake in a kubeconfig or in a file that it names, as one line for people. */
export class KubeconfigError extends Error {
  override readonly name = "KubeconfigError";
}

const text = z.string().nullish();

const clusterShape = z.looseObject({
  server: z.string().min(1),
  "certificate-authority": text,
  "certificate-authority-data": text,
  "insecure-skip-tls-verify": z.boolean().nullish(),
  "tls-server-name": text,
  "proxy-url": text,
});

const execShape = z.looseObject({
  apiVersion: z.string(),
  command: z.string().min(1),
  args: z.array(z.string()).nullish(),
  env: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
  installHint: text,
  provideClusterInfo: z.boolean().nullish(),
});

const userShape = z.looseObject({
  token: text,
  tokenFile: text,
  username: text,
  password: text,
  "client-certificate": text,
  "client-certificate-data": text,
  "client-key": text,
  "client-key-data": text,
  as: text,
  "as-groups": z.array(z.string()).nullish(),
  exec: execShape.nullish(),
  "auth-provider": z.looseObject({ name: z.string() }).nullish(),
});

const contextShape = z.looseObject({ cluster: z.string(), user: text, namespace: text });

const named = <Shape extends z.ZodType, Field extends string>(field: Field, shape: Shape) =>
  z.array(z.looseObject({ name: z.string() }).and(z.object({ [field]: shape } as Record<Field, Shape>))).nullish();

const fileShape = z.looseObject({
  "current-context": text,
  clusters: named("cluster", clusterShape),
  users: named("user", userShape),
  contexts: named("context", contextShape),
});

export type FileCluster = z.infer<typeof clusterShape> & { readonly folder: string };
type FileUser = z.infer<typeof userShape> & { readonly folder: string };
export type FileContext = z.infer<typeof contextShape>;
type Exec = z.infer<typeof execShape>;

/** All files merged. */
export type Kubeconfig = {
  readonly currentContext: string | undefined;
  readonly contexts: ReadonlyMap<string, FileContext>;
  readonly clusters: ReadonlyMap<string, FileCluster>;
  readonly users: ReadonlyMap<string, FileUser>;
};

const codeOf = (cause: unknown): string => (cause instanceof Error && "code" in cause ? String(cause.code) : "");

/** Returns the text of a file; undefined if it does not exist. */
export const textOf = async (path: string, what: string): Promise<string | undefined> => {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    if (codeOf(cause) === "ENOENT") return undefined;
    throw new KubeconfigError(`${what} ${path} cannot be read: ${codeOf(cause) || String(cause)}`);
  }
};

const parseFile = async (path: string, content: string): Promise<z.infer<typeof fileShape>> => {
  const { parseYaml } = await import("./yaml.ts");
  let value: unknown;
  try {
    value = parseYaml(content);
  } catch (cause) {
    const [line = ""] = String(cause instanceof Error ? cause.message : cause).split("\n");
    throw new KubeconfigError(`kubeconfig ${path} is not YAML: ${line}`);
  }
  const parsed = fileShape.safeParse(value ?? {});
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new KubeconfigError(
    `kubeconfig ${path} is not valid: ${issue?.path.join(".") || "all of it"}: ${issue?.message}`,
  );
};

type File = { readonly folder: string; readonly content: z.infer<typeof fileShape> };

const fileAt = async (path: string): Promise<File | undefined> => {
  const content = await textOf(path, "kubeconfig");
  return content === undefined
    ? undefined
    : { folder: dirname(resolve(path)), content: await parseFile(path, content) };
};

/** Returns the entries by name; the first entry of a name wins. */
const firstOf = <T>(entries: readonly (readonly [string, T])[]): ReadonlyMap<string, T> =>
  new Map(entries.toReversed());

/** Merges the files that exist; throws if none does. */
export const readKubeconfig = async (paths: readonly string[]): Promise<Kubeconfig> => {
  const files = (await Promise.all(paths.map(fileAt))).filter((file) => file !== undefined);
  if (files.length === 0) throw new KubeconfigError(`kubeconfig not found: ${paths.join(", ")}`);
  const contexts = files.flatMap(({ content }) => content.contexts ?? []);
  const clusters = files.flatMap(({ folder, content }) => (content.clusters ?? []).map((one) => ({ folder, ...one })));
  const users = files.flatMap(({ folder, content }) => (content.users ?? []).map((one) => ({ folder, ...one })));
  return {
    currentContext: files.map(({ content }) => content["current-context"]).find((name) => !!name) ?? undefined,
    contexts: firstOf(contexts.map(({ name, context }) => [name, context])),
    clusters: firstOf(clusters.map(({ name, folder, cluster }) => [name, { ...cluster, folder }])),
    users: firstOf(users.map(({ name, folder, user }) => [name, { ...user, folder }])),
  };
};

export type ExecCredential = {
  readonly token: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
};

export type Plugin = {
  readonly exec: Exec;
  /** Folder of the kubeconfig: a command with a slash is relative to it. */
  readonly folder: string;
  /** The cluster information that a plugin receives if it asks for it. */
  readonly cluster: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string | undefined>>;
};

const limitMs = 30_000;

const credential = z.looseObject({
  status: z.looseObject({
    token: z.string().nullish(),
    clientCertificateData: z.string().nullish(),
    clientKeyData: z.string().nullish(),
  }),
});

const infoFor = ({ exec, cluster }: Plugin): string =>
  JSON.stringify({
    apiVersion: exec.apiVersion,
    kind: "ExecCredential",
    spec: { interactive: false, ...(exec.provideClusterInfo === true ? { cluster } : {}) },
  });

const firstLine = (text: string): string => text.trim().split("\n")[0] ?? "";

const whyNot = (plugin: Plugin, error: Error & { code?: unknown; killed?: boolean }, stderr: string): string => {
  const { command, installHint } = plugin.exec;
  if (error.code === "ENOENT") {
    const hint = installHint === null || installHint === undefined ? "" : `: ${firstLine(installHint)}`;
    return `the kubeconfig's exec plugin ${command} is not installed${hint}`;
  }
  if (error.killed === true) return `the kubeconfig's exec plugin ${command} did not answer within ${limitMs / 1000} s`;
  return `the kubeconfig's exec plugin ${command} failed: ${firstLine(stderr) || firstLine(error.message)}`;
};

const run = (plugin: Plugin): Promise<string> => {
  const { exec, folder, env } = plugin;
  const command = /[\\/]/.test(exec.command) ? resolve(folder, exec.command) : exec.command;
  const added = Object.fromEntries((exec.env ?? []).map(({ name, value }) => [name, value]));
  const options = {
    env: { ...env, ...added, KUBERNETES_EXEC_INFO: infoFor(plugin) } as NodeJS.ProcessEnv,
    timeout: limitMs,
    maxBuffer: 1 << 20,
  };
  return new Promise((done, reject) => {
    const child = execFile(command, exec.args ?? [], options, (error, stdout, stderr) => {
      if (error === null) done(stdout);
      else reject(new KubeconfigError(whyNot(plugin, error, stderr)));
    });
    child.stdin?.end();
  });
};

/** Runs the plugin once. Errors never contain its output, because it may hold the credential. */
const runPlugin = async (plugin: Plugin): Promise<ExecCredential> => {
  const stdout = await run(plugin);
  const parsed = credential.safeParse(jsonOf(stdout));
  if (!parsed.success) {
    throw new KubeconfigError(`the kubeconfig's exec plugin ${plugin.exec.command} did not print an ExecCredential`);
  }
  const { token, clientCertificateData, clientKeyData } = parsed.data.status;
  return { token: token ?? undefined, cert: clientCertificateData ?? undefined, key: clientKeyData ?? undefined };
};

type Surroundings = {
  readonly server: string;
  readonly ca: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
};

export type Login = Pick<Endpoint, "auth" | "headers">;

const needed = async (user: FileUser, file: string, what: string): Promise<string> => {
  const path = resolve(user.folder, file);
  const found = await textOf(path, what);
  if (found === undefined) throw new KubeconfigError(`${what} ${path} does not exist`);
  return found;
};

const pem = async (user: FileUser, what: "client-certificate" | "client-key"): Promise<string | undefined> => {
  const { [`${what}-data` as const]: data, [what]: file } = user;
  if (data) return Buffer.from(data, "base64").toString("utf8");
  return file ? needed(user, file, what.replace("-", " ")) : undefined;
};

/** Returns the headers for impersonation. */
const actingAs = (user: FileUser): Record<string, string> => {
  const groups = user["as-groups"] ?? [];
  if (groups.length > 1) throw new KubeconfigError("more than one of as-groups is not supported");
  return {
    ...(user.as ? { "impersonate-user": user.as } : {}),
    ...(groups[0] ? { "impersonate-group": groups[0] } : {}),
  };
};

/** Runs the plugin once at the start, so that its errors show early, and again whenever its token is old or refused. */
const fromPlugin = async (user: FileUser, around: Surroundings): Promise<Auth | undefined> => {
  if (!user.exec) return undefined;
  const cluster = {
    server: around.server,
    ...(around.ca === undefined ? {} : { "certificate-authority-data": Buffer.from(around.ca).toString("base64") }),
  };
  const plugin = { exec: user.exec, folder: user.folder, cluster, env: around.env };
  const first = await runPlugin(plugin);
  if (first.cert !== undefined && first.key !== undefined) return { cert: first.cert, key: first.key };
  const { command } = user.exec;
  const tokenIn = (token: string | undefined): string => {
    if (token === undefined)
      throw new KubeconfigError(`the kubeconfig's exec plugin ${command} gave neither token nor certificate`);
    return token;
  };
  let fresh: string | undefined = tokenIn(first.token);
  const tokenProvider = async (): Promise<string> => {
    const token = fresh ?? tokenIn((await runPlugin(plugin)).token);
    fresh = undefined;
    return token;
  };
  return { tokenProvider };
};

/** Uses the client library for legacy auth providers (oidc, gcp, azure); it is loaded only for them. */
const fromProvider = async (user: FileUser): Promise<Auth | undefined> => {
  const provider = user["auth-provider"];
  if (!provider) return undefined;
  const { KubeConfig } = await import("@kubernetes/client-node");
  const config = new KubeConfig();
  const cluster = { name: "it", server: "https://127.0.0.1", skipTLSVerify: false };
  config.loadFromClusterAndUser(cluster, { name: "it", authProvider: provider });
  const tokenProvider = async (): Promise<string> => {
    const options: { headers?: Record<string, string> } = { headers: {} };
    await config.applyToHTTPSOptions(options);
    const header = options.headers?.["Authorization"] ?? "";
    if (!header.startsWith("Bearer ")) throw new KubeconfigError(`auth provider ${provider.name} gave no token`);
    return header.slice("Bearer ".length);
  };
  return { tokenProvider, tokenAgeMs: 60_000 };
};

const fromToken = (user: FileUser): Auth | undefined => {
  const { token, tokenFile } = user;
  // As kubectl: the file wins, because it may be renewed.
  if (tokenFile)
    return { tokenProvider: async () => (await needed(user, tokenFile, "token file")).trim(), tokenAgeMs: 60_000 };
  return token ? { token: token.trim() } : undefined;
};

const fromCertificate = async (user: FileUser): Promise<Auth | undefined> => {
  const cert = await pem(user, "client-certificate");
  const key = await pem(user, "client-key");
  return cert !== undefined && key !== undefined ? { cert, key } : undefined;
};

/** Returns the credentials of this user; a missing file or a mistake throws one line. */
export const loginOf = async (user: FileUser, around: Surroundings): Promise<Login> => {
  const auth =
    (await fromCertificate(user)) ?? fromToken(user) ?? (await fromPlugin(user, around)) ?? (await fromProvider(user));
  const basic =
    auth === undefined && user.username ? Buffer.from(`${user.username}:${user.password ?? ""}`) : undefined;
  const headers = {
    ...actingAs(user),
    ...(basic === undefined ? {} : { authorization: `Basic ${basic.toString("base64")}` }),
  };
  return {
    ...(auth === undefined ? {} : { auth }),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
  };
};
