/** A folder of Hadoop's configuration as a ConfigMap beside an application, as sparkctl makes one of HADOOP_CONF_DIR. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Obj } from "../../core/object.ts";
import { isRecord } from "../../kube/responses.ts";
import { Refused } from "../io/failure.ts";
import { usual } from "../kinds/all.ts";

/** Files by name: text in `data`, other content in base64 in `binaryData`. */
export type HadoopFiles = {
  readonly data: Readonly<Record<string, string>>;
  readonly binaryData: Readonly<Record<string, string>>;
};

/** The largest total of the files in one ConfigMap, bytes: the API server's limit, less room for the names. */
const mostBytes = 1_000_000;

const isKey = (name: string): boolean => /^[-._a-zA-Z0-9]{1,253}$/.test(name);

const textOf = (bytes: Uint8Array): string | undefined => {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
};

/** Reads the files of a folder; folders in it stay out. */
export const hadoopFiles = async (folder: string): Promise<HadoopFiles> => {
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause: unknown) => {
    throw new Refused(`--hadoop-conf-dir ${folder}: cannot be read`, { cause });
  });
  const names = entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
  const wrong = names.find((name) => !isKey(name));
  if (wrong !== undefined)
    throw new Refused(`--hadoop-conf-dir ${folder}: ${JSON.stringify(wrong)} is no name that a ConfigMap can hold`);
  if (names.length === 0) throw new Refused(`--hadoop-conf-dir ${folder}: there is no file in it`);
  const read = await Promise.all(names.sort().map(async (name) => [name, await readFile(join(folder, name))] as const));
  const bytes = read.reduce((sum, [, content]) => sum + content.length, 0);
  if (bytes > mostBytes)
    throw new Refused(`--hadoop-conf-dir ${folder}: its files have ${bytes} bytes, and a ConfigMap holds ${mostBytes}`);
  const texts = read.map(([name, content]) => ({ name, content, text: textOf(content) }));
  return {
    data: Object.fromEntries(texts.flatMap(({ name, text }) => (text === undefined ? [] : [[name, text]]))),
    binaryData: Object.fromEntries(
      texts.flatMap(({ name, content, text }) => (text === undefined ? [[name, content.toString("base64")]] : [])),
    ),
  };
};

/** The ConfigMap and the application that names it; undefined without files, and for objects that need no ConfigMap. */
export const withHadoop = (
  object: Obj,
  files: HadoopFiles | undefined,
): { readonly object: Obj; readonly config: Obj } | undefined => {
  const { spec, kind, apiVersion, metadata } = object;
  const isApplication = kind === usual.resource.kind && apiVersion.startsWith(`${usual.resource.group}/`);
  if (files === undefined || !isApplication || !isRecord(spec) || spec["hadoopConfigMap"] !== undefined)
    return undefined;
  if (metadata.name === undefined)
    throw new Refused("--hadoop-conf-dir needs metadata.name: the ConfigMap is named after the application");
  const name = `${metadata.name}-hadoop-config`;
  const { namespace } = metadata;
  const config: Obj = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    ...files,
  };
  return { object: { ...object, spec: { ...spec, hadoopConfigMap: name } }, config };
};
