/**
 * Local files of an application: uploaded to a bucket and named there instead, as `sparkctl create --upload-to` does
 * it; a folder of Hadoop's configuration becomes a ConfigMap, as sparkctl makes one of HADOOP_CONF_DIR.
 */

import { readdir, readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Bucket, type BucketPlace, digestsOf, objectUrl, openGcs, openS3 } from "../../adapters/buckets.ts";
import { isRecord } from "../../core/json.ts";
import type { Obj } from "../../core/object.ts";
import type { Document } from "../../inspection/io/documents.ts";
import { Refused } from "../../inspection/io/refusal.ts";
import { usual } from "../../inspection/kinds/all.ts";
import { scheduledSparkApplications } from "../../spark/schema/resource.ts";

export type UploadOptions = {
  readonly uploadTo?: string;
  readonly uploadPrefix?: string;
  readonly uploadToEndpoint?: string;
  readonly uploadToRegion?: string;
  readonly public?: true;
  readonly s3ForcePathStyle?: true;
};

export type UploadTarget = { readonly place: BucketPlace; readonly path: readonly string[] };

/** A file of this machine, the field that names it, and the key of its object. */
export type Upload = { readonly field: string; readonly file: string; readonly key: string };

/** The largest file, bytes: digest and upload need one content, so a file is read whole, and Node reads no more. */
const mostBytes = 2 ** 31 - 1;

/** Values that stand in place of a file: Spark reads no file for them. */
const noFiles = ["spark-internal", "spark-shell", "pyspark-shell", "sparkr-shell"];

const segments = (text = ""): readonly string[] => text.split("/").filter((part) => part !== "");

const dependents: readonly (readonly [keyof UploadOptions, string])[] = [
  ["uploadPrefix", "--upload-prefix"],
  ["uploadToEndpoint", "--upload-to-endpoint"],
  ["uploadToRegion", "--upload-to-region"],
  ["public", "--public"],
  ["s3ForcePathStyle", "--s3-force-path-style"],
];

/** The target of `--upload-to`; undefined where it is not given. */
export const uploadTarget = (options: UploadOptions): UploadTarget | undefined => {
  const { uploadTo: text, uploadToEndpoint: endpoint } = options;
  if (text === undefined) {
    const [, flag] = dependents.find(([name]) => options[name] !== undefined) ?? [];
    if (flag !== undefined) throw new Refused(`${flag} needs --upload-to`);
    return undefined;
  }
  const [, scheme, bucket = "", path] = /^(s3a?|gs):\/\/([a-z0-9][a-z0-9._-]+[a-z0-9])(?:\/(.*))?$/.exec(text) ?? [];
  if (scheme === undefined)
    throw new Refused(`--upload-to ${text}: write s3://BUCKET/PATH or gs://BUCKET/PATH; PATH may be left out`);
  if (endpoint !== undefined && !/^https?:\/\/[^/]/.test(endpoint))
    throw new Refused(`--upload-to-endpoint ${endpoint}: write an http:// or https:// URL`);
  const place: BucketPlace = {
    scheme: scheme === "gs" ? "gs" : "s3",
    bucket,
    endpoint,
    region: options.uploadToRegion,
    isPublic: options.public === true,
    pathStyle: options.s3ForcePathStyle === true,
  };
  return { place, path: [...segments(path), ...segments(options.uploadPrefix)] };
};

/** The path of a local file, and the name after `#` that Spark gives it; undefined for a value with another scheme. */
const localOf = (value: string): { readonly file: string; readonly alias: string } | undefined => {
  if (value === "" || noFiles.includes(value)) return undefined;
  const [, scheme] = /^([a-z][a-z0-9+.-]*):/i.exec(value) ?? [];
  if (scheme !== undefined && scheme.toLowerCase() !== "file") return undefined;
  const hash = value.indexOf("#");
  const [path, alias] = hash === -1 ? [value, ""] : [value.slice(0, hash), value.slice(hash)];
  return { file: scheme === undefined ? path : fileURLToPath(path), alias };
};

type Replace = (value: unknown, field: string) => unknown;

const withDeps = (deps: Readonly<Record<string, unknown>>, path: string, replace: Replace) =>
  Object.fromEntries(
    Object.entries(deps).map(([name, value]) => {
      const isOfFiles = ["jars", "files", "pyFiles", "archives"].includes(name) && Array.isArray(value);
      return [name, isOfFiles ? value.map((item, index) => replace(item, `${path}.${name}[${index}]`)) : value];
    }),
  );

const withFiles = (spec: Readonly<Record<string, unknown>>, path: string, replace: Replace) => {
  const { mainApplicationFile: main, deps } = spec;
  return {
    ...spec,
    ...(main === undefined ? {} : { mainApplicationFile: replace(main, `${path}.mainApplicationFile`) }),
    ...(isRecord(deps) ? { deps: withDeps(deps, `${path}.deps`, replace) } : {}),
  };
};

/** Replaces every local file in the spec of a SparkApplication or in the template of its schedule. */
const replaced = (object: Obj, replace: Replace): Obj => {
  const { spec, kind, apiVersion } = object;
  if (!apiVersion.startsWith(`${usual.resource.group}/`) || !isRecord(spec)) return object;
  if (kind === usual.resource.kind) return { ...object, spec: withFiles(spec, "spec", replace) };
  const { template } = spec;
  if (kind !== scheduledSparkApplications.kind || !isRecord(template)) return object;
  return { ...object, spec: { ...spec, template: withFiles(template, "spec.template", replace) } };
};

/** The object as it is after the upload, and the files to upload. Nothing is read and nothing is sent. */
export const withUploads = (
  given: Obj,
  namespace: string,
  { place, path }: UploadTarget,
): { readonly object: Obj; readonly uploads: readonly Upload[] } => {
  const uploads: Upload[] = [];
  const object = replaced(given, (value, field) => {
    const local = typeof value === "string" ? localOf(value) : undefined;
    if (local === undefined) return value;
    if (given.metadata.name === undefined)
      throw new Refused("--upload-to needs metadata.name: the objects in the bucket are named after the application");
    const { file, alias } = local;
    const key = [...path, namespace, given.metadata.name, basename(file)].join("/");
    if (!/^[\w./=+@-]+$/.test(key))
      throw new Refused(`${field}: ${file}: Spark cannot read a URL with this name; use letters, digits and ._=+@-`);
    const other = uploads.find((upload) => upload.key === key && upload.file !== file);
    if (other !== undefined)
      throw new Refused(
        `${field}: ${file} and ${other.file} of ${other.field} have one name in the bucket: rename one`,
      );
    uploads.push({ field, file, key });
    return `${objectUrl(place, key)}${alias}`;
  });
  return { object, uploads };
};

/** The reasons why a file cannot be uploaded; empty: it can. */
const problemOf = async ({ field, file }: Upload): Promise<readonly string[]> => {
  const found = await stat(file).catch((cause: unknown) => (cause instanceof Error ? cause : new Error(String(cause))));
  if (found instanceof Error) return [`${field}: ${file}: cannot be read (${found.message.split(",")[0] ?? ""})`];
  if (!found.isFile()) return [`${field}: ${file}: is not a file`];
  return found.size > mostBytes ? [`${field}: ${file}: has ${found.size} bytes, and ${mostBytes} is the most`] : [];
};

/** A line for each file that is missing or cannot be uploaded. */
export const uploadProblems = async (uploads: readonly Upload[]): Promise<readonly string[]> =>
  (await Promise.all(uploads.map(problemOf))).flat();

export type Prepared = Document & { readonly uploads: readonly Upload[] };

const isSame = (content: Uint8Array, existing: Awaited<ReturnType<Bucket["find"]>>): boolean => {
  const { sha256, md5 } = digestsOf(content);
  return existing?.sha256 === undefined ? existing?.md5 === md5 : existing.sha256 === sha256;
};

type How = { readonly override: boolean; readonly dryRun: boolean };

const uploadOne = async (
  bucket: Bucket,
  { place }: UploadTarget,
  { field, file, key }: Upload,
  { override, dryRun }: How,
) => {
  const url = `${place.scheme}://${place.bucket}/${key}`;
  const content = await readFile(file);
  const existing = override ? undefined : await bucket.find(key);
  if (existing !== undefined && !isSame(content, existing))
    throw new Refused(`${field}: ${url} is there already with other content; --override replaces it`);
  // Whether an existing object is public is not known, so --public writes it again.
  if (existing !== undefined && !place.isPublic) return `${url} is there already`;
  if (!dryRun) await bucket.put(key, content);
  return `${url} uploaded${dryRun ? " (dry run)" : ""}`;
};

/** Uploads the files one after the other, each once; gives a line for each. */
export const uploadAll = async (
  target: UploadTarget,
  uploads: readonly Upload[],
  how: How,
): Promise<readonly string[]> => {
  const bucket = await (target.place.scheme === "s3" ? openS3 : openGcs)(target.place);
  const lines: string[] = [];
  try {
    for (const upload of new Map(uploads.map((one) => [one.key, one])).values())
      lines.push(await uploadOne(bucket, target, upload, how));
    return lines;
  } finally {
    bucket.close();
  }
};

/** Files by name: text in `data`, other content in base64 in `binaryData`. */
export type HadoopFiles = {
  readonly data: Readonly<Record<string, string>>;
  readonly binaryData: Readonly<Record<string, string>>;
};

/** The largest total of the files in one ConfigMap, bytes: the API server's limit, less room for the names. */
const mostConfigBytes = 1_000_000;

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
    throw new Refused(
      `--hadoop-conf-dir ${folder}: ${JSON.stringify(wrong)} cannot be the name of a key in a ConfigMap`,
    );
  if (names.length === 0) throw new Refused(`--hadoop-conf-dir ${folder}: there is no file in it`);
  const read = await Promise.all(names.sort().map(async (name) => [name, await readFile(join(folder, name))] as const));
  const bytes = read.reduce((sum, [, content]) => sum + content.length, 0);
  if (bytes > mostConfigBytes)
    throw new Refused(
      `--hadoop-conf-dir ${folder}: its files have ${bytes} bytes, and a ConfigMap holds ${mostConfigBytes}`,
    );
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
