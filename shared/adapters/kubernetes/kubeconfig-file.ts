/**
 * Reads kubeconfig files as kubectl does: several are merged, the first entry of a name wins, and paths are relative to
 * their own file.
 */
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { parse } from "yaml";
import * as z from "zod";

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
export type FileUser = z.infer<typeof userShape> & { readonly folder: string };
export type FileContext = z.infer<typeof contextShape>;
export type Exec = z.infer<typeof execShape>;

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

const parseFile = (path: string, content: string): z.infer<typeof fileShape> => {
  let value: unknown;
  try {
    value = parse(content);
  } catch (cause) {
    const [line = ""] = String(cause instanceof Error ? cause.message : cause).split("\n");
    throw new KubeconfigError(`kubeconfig ${path} is not YAML: ${line}`);
  }
  const parsed = fileShape.safeParse(value ?? {});
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new KubeconfigError(
    `kubeconfig ${path} is not one: ${issue?.path.join(".") || "all of it"}: ${issue?.message}`,
  );
};

type File = { readonly folder: string; readonly content: z.infer<typeof fileShape> };

const fileAt = async (path: string): Promise<File | undefined> => {
  const content = await textOf(path, "kubeconfig");
  return content === undefined ? undefined : { folder: dirname(resolve(path)), content: parseFile(path, content) };
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
