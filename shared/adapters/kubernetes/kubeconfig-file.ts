/**
 * Kubeconfig files, read and merged by the client library, and what it reads otherwise than kubectl: of a name in several
 * files the first entry counts, and a name twice in one file is an error; files that do not exist are skipped; data win
 * over the file that is named beside them; token files; exec plugins; the uid, groups and extras of an impersonation.
 */
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { KubeConfig } from "@kubernetes/client-node";
import * as z from "zod";
import { execProvider, execShape } from "./exec-plugin.ts";
import { KubeconfigError } from "./kubeconfig-error.ts";

const text = z.string().nullish();

const clusterShape = z.looseObject({
  server: text,
  "certificate-authority": text,
  "certificate-authority-data": text,
  "insecure-skip-tls-verify": z.boolean().nullish(),
  "tls-server-name": text,
  "proxy-url": text,
  extensions: z.array(z.looseObject({ name: z.string(), extension: z.unknown() })).nullish(),
});

const userShape = z.looseObject({
  ...{ token: text, tokenFile: text, username: text, password: text },
  ...{ "client-certificate": text, "client-certificate-data": text, "client-key": text, "client-key-data": text },
  ...{ as: text, "as-uid": text, "as-groups": z.array(z.string()).nullish() },
  "as-user-extra": z.record(z.string(), z.array(z.string())).nullish(),
  exec: execShape.nullish(),
  "auth-provider": z.looseObject({ name: z.string() }).nullish(),
});

const contextShape = z.looseObject({ cluster: text, user: text, namespace: text });

const fileShape = z.looseObject({
  "current-context": text,
  clusters: z.array(z.looseObject({ name: z.string(), cluster: clusterShape.nullish() })).nullish(),
  users: z.array(z.looseObject({ name: z.string(), user: userShape.nullish() })).nullish(),
  contexts: z.array(z.looseObject({ name: z.string(), context: contextShape.nullish() })).nullish(),
});

type File = z.infer<typeof fileShape>;
/** An entry as it is in its file, for what the library does not know. */
export type FileUser = z.infer<typeof userShape> & { readonly folder: string };
export type FileCluster = z.infer<typeof clusterShape>;

/** All files merged. */
export type Kubeconfig = {
  readonly config: KubeConfig;
  readonly users: ReadonlyMap<string, FileUser>;
  readonly clusters: ReadonlyMap<string, FileCluster>;
};

const codeOf = (cause: unknown): string => (cause instanceof Error && "code" in cause ? String(cause.code) : "");

/** Returns the text of a kubeconfig; undefined if it does not exist. */
export const kubeconfigText = async (path: string): Promise<string | undefined> => {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    if (codeOf(cause) === "ENOENT") return undefined;
    throw new KubeconfigError(`kubeconfig ${path} cannot be read: ${codeOf(cause) || String(cause)}`);
  }
};

type Library = typeof import("./client-library.ts");

const parsed = (path: string, content: string, { loadYaml }: Library): File => {
  let value: unknown;
  try {
    value = content.trim() === "" ? {} : loadYaml(content);
  } catch (cause) {
    const [line = ""] = String(cause instanceof Error ? cause.message : cause).split("\n");
    throw new KubeconfigError(`kubeconfig ${path} is not YAML: ${line}`);
  }
  const { data, error } = fileShape.safeParse(value ?? {});
  if (data !== undefined) return data;
  const [issue] = error.issues;
  const place = issue?.path.join(".") || "all of it";
  throw new KubeconfigError(`kubeconfig ${path} is not valid: ${place}: ${issue?.message}`);
};

const refuseTwice = (path: string, what: string, entries: readonly { readonly name: string }[]): void => {
  const names = entries.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) throw new KubeconfigError(`kubeconfig ${path} names the ${what} ${twice} twice: keep one`);
};

/** A refusal of kubectl's, of a user whose entries contradict each other. */
const contradictionIn = (user: FileUser): string | undefined => {
  const has = (name: keyof FileUser): boolean => Boolean(user[name]);
  const certificate = has("client-certificate") || has("client-certificate-data");
  const acts = has("as-uid") || (user["as-groups"] ?? []).length > 0 || has("as-user-extra");
  if (has("token") && (has("username") || has("password"))) return "has a token and a password: keep one";
  if (has("exec") && has("auth-provider")) return "has an exec plugin and an auth-provider: keep one";
  if (certificate && !has("client-key") && !has("client-key-data")) return "has a client certificate without its key";
  return acts && !has("as") ? "has as-uid, as-groups or as-user-extra without as: name the user in as" : undefined;
};

/** Returns the user in the form in which the library reads what kubectl reads. */
const mendedUser = (user: FileUser): object => {
  const { exec, tokenFile, token, ...rest } = user;
  const file = tokenFile ? { config: { tokenFile: resolve(user.folder, tokenFile) }, name: "tokenFile" } : undefined;
  const plugin = exec && !token ? { name: execProvider } : undefined;
  return {
    ...rest,
    ...(token && !file ? { token } : {}),
    "client-certificate": user["client-certificate-data"] ? undefined : user["client-certificate"],
    "client-key": user["client-key-data"] ? undefined : user["client-key"],
    "auth-provider": file ?? plugin ?? user["auth-provider"] ?? undefined,
  };
};

const mendedCluster = (cluster: FileCluster): object => ({
  ...cluster,
  "certificate-authority": cluster["certificate-authority-data"] ? undefined : cluster["certificate-authority"],
  // The library refuses an address without TLS otherwise.
  "insecure-skip-tls-verify": cluster["insecure-skip-tls-verify"] ?? cluster.server?.startsWith("http:"),
});

type Entries = { readonly users: Map<string, FileUser>; readonly clusters: Map<string, FileCluster> };

const addFile = (path: string, file: File, merged: Entries & Kubeconfig, { KubeConfig }: Library): void => {
  const folder = dirname(resolve(path));
  const [clusters, users] = [file.clusters ?? [], file.users ?? []];
  refuseTwice(path, "cluster", clusters);
  refuseTwice(path, "user", users);
  refuseTwice(path, "context", file.contexts ?? []);
  const added = users.map(({ name, user }) => ({ name, user: { ...user, folder } }));
  const mended = {
    ...file,
    clusters: clusters.map(({ name, cluster }) => ({ name, cluster: mendedCluster(cluster ?? {}) })),
    users: added.map(({ name, user }) => ({ name, user: mendedUser(user) })),
  };
  const read = new KubeConfig();
  read.loadFromString(JSON.stringify(mended), { onInvalidEntry: "filter" });
  read.makePathsAbsolute(folder);
  const { config } = merged;
  read.clusters = read.clusters.filter(({ name }) => config.getCluster(name) === null);
  read.users = read.users.filter(({ name }) => config.getUser(name) === null);
  read.contexts = read.contexts.filter(({ name }) => config.getContextObject(name) === null);
  config.mergeConfig(read, Boolean(config.currentContext));
  for (const { name, user } of added) if (!merged.users.has(name)) merged.users.set(name, user);
  for (const { name, cluster } of clusters) if (!merged.clusters.has(name)) merged.clusters.set(name, cluster ?? {});
};

/** Merges the files that exist; throws if none does. */
export const readKubeconfig = async (paths: readonly string[], library: Library): Promise<Kubeconfig> => {
  const texts = await Promise.all(paths.map(async (path) => ({ path, content: await kubeconfigText(path) })));
  const merged = { config: new library.KubeConfig(), users: new Map(), clusters: new Map() };
  for (const { path, content } of texts)
    if (content !== undefined) addFile(path, parsed(path, content, library), merged, library);
  if (texts.every(({ content }) => content === undefined))
    throw new KubeconfigError(`kubeconfig not found: ${paths.join(", ")}`);
  return merged;
};

/** Throws what kubectl refuses of a user. */
export const checkUser = (name: string, user: FileUser): void => {
  const contradiction = contradictionIn(user);
  if (contradiction !== undefined) throw new KubeconfigError(`the kubeconfig's user ${name} ${contradiction}`);
};

/** Header values are bytes; Node writes each character as one. */
const bytes = (value: string): string => Buffer.from(value).toString("latin1");

/** As client-go's transport escapes the key of an extra. */
const escapedKey = (key: string): string =>
  bytes(key).replace(
    /[^!#$&'*+.^_`|~0-9A-Za-z-]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
  );

/** Returns the headers by which a user acts as another, and those of a password. */
export const headersOf = (user: FileUser): Record<string, string | string[]> => {
  const { as, username, password } = user;
  const [uid, groups] = [user["as-uid"], user["as-groups"] ?? []];
  const extras = Object.entries(user["as-user-extra"] ?? {}).map(([key, values]): [string, string[]] => [
    `impersonate-extra-${escapedKey(key)}`.toLowerCase(),
    values.map(bytes),
  ]);
  const basic = Buffer.from(`${username}:${password ?? ""}`).toString("base64");
  return {
    ...(as ? { "impersonate-user": bytes(as) } : {}),
    ...(uid ? { "impersonate-uid": bytes(uid) } : {}),
    ...(groups.length > 0 ? { "impersonate-group": groups.map(bytes) } : {}),
    ...Object.fromEntries(extras),
    ...(username ? { authorization: `Basic ${basic}` } : {}),
  };
};
