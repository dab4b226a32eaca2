/**
 * A submission that another operator sends, by the contract of its RestSubmitter: the arguments of `spark-submit` and
 * the two pod templates become the objects that Spark's own client would create. Pure.
 */

import * as z from "zod";
import type { Obj, OwnerReference, Stored } from "../../core/object.ts";
import { type Built, build, type CommandLine, prepare } from "./client.ts";
import { assembled, podOf, pruned } from "./pods/pod.ts";
import { executorTemplateConf } from "./steps/driver.ts";
import { identityOf } from "./steps/step.ts";

type Line = Omit<CommandLine, "submittedAt"> & { readonly proxyUser: string | undefined };

/** Options that stand for a conf. */
const confOf: Readonly<Record<string, string>> = {
  "--jars": "spark.jars",
  "--packages": "spark.jars.packages",
  "--exclude-packages": "spark.jars.excludes",
  "--repositories": "spark.jars.repositories",
  "--py-files": "spark.submit.pyFiles",
  "--files": "spark.files",
  "--archives": "spark.archives",
  "--driver-memory": "spark.driver.memory",
  "--driver-cores": "spark.driver.cores",
  "--driver-java-options": "spark.driver.extraJavaOptions",
  "--driver-class-path": "spark.driver.extraClassPath",
  "--driver-library-path": "spark.driver.extraLibraryPath",
  "--executor-memory": "spark.executor.memory",
  "--executor-cores": "spark.executor.cores",
  "--num-executors": "spark.executor.instances",
  "--principal": "spark.kerberos.principal",
  "--keytab": "spark.kerberos.keytab",
};

const own = ["--master", "--deploy-mode", "--class", "--name", "--conf", "-c", "--proxy-user"];

/** Options without a value. */
const switches = ["--verbose", "-v", "--load-spark-defaults"];

type Split = {
  readonly options: readonly (readonly [name: string, value: string])[];
  readonly rest: readonly string[];
};

type Read = { readonly option: readonly [string, string] | undefined; readonly width: number };

/** One option: `--name value` and `--name=value` mean the same. Undefined where the program begins. */
const readOption = (args: readonly string[], at: number): Read | { readonly refused: string } | undefined => {
  const [, name, equals] = /^(--[^=]+|-[a-z])(?:=(.*))?$/s.exec(args[at] ?? "") ?? [];
  if (name === undefined) return undefined;
  if (switches.includes(name)) return { option: undefined, width: 1 };
  if (!own.includes(name) && confOf[name] === undefined) return { refused: `${name} is not an option of submissions` };
  const value = equals ?? args[at + 1];
  if (value === undefined) return { refused: `${name} needs a value` };
  return { option: [name, value], width: equals === undefined ? 2 : 1 };
};

/** Splits the arguments: the first that is no option is the program. */
const split = (args: readonly string[]): Split | { readonly refused: string } => {
  const options: (readonly [string, string])[] = [];
  for (let at = 0; at < args.length; ) {
    const read = readOption(args, at);
    if (read === undefined) return { options, rest: args.slice(at) };
    if ("refused" in read) return read;
    if (read.option !== undefined) options.push(read.option);
    at += read.width;
  }
  return { options, rest: [] };
};

const pairOf = (text: string): readonly [string, string] | undefined => {
  const at = text.indexOf("=");
  return at <= 0 ? undefined : [text.slice(0, at), text.slice(at + 1)];
};

/** Returns an error when an argument is missing or asks for an unsupported mode. */
const wrong = ({ options, rest }: Split): string | undefined => {
  const last = (name: string): string | undefined => options.findLast(([key]) => key === name)?.[1];
  const master = last("--master") ?? "";
  const mode = last("--deploy-mode") ?? "client";
  const bare = options.find(([key, value]) => ["--conf", "-c"].includes(key) && pairOf(value) === undefined);
  if (!master.startsWith("k8s://")) return `--master ${JSON.stringify(master)}: k8s://… is needed`;
  if (mode !== "cluster") return `--deploy-mode ${mode}: the driver must run in the cluster; use cluster`;
  if (bare !== undefined) return `--conf ${JSON.stringify(bare[1])}: key=value is needed`;
  return (rest[0] ?? "") === "" ? "the program is missing: a jar, a Python file or spark-internal" : undefined;
};

/** Parses a command line, or says why it is none. Of options and confs that are given twice the last counts. */
const lineOf = (args: readonly string[]): Line | { readonly refused: string } => {
  const read = split(args);
  if ("refused" in read) return read;
  const refused = wrong(read);
  if (refused !== undefined) return { refused };
  const { options, rest } = read;
  const last = (name: string): string | undefined => options.findLast(([key]) => key === name)?.[1];
  const [resource = "", ...given] = rest;
  const confs = options.flatMap(([key, value]) => (["--conf", "-c"].includes(key) ? [pairOf(value) ?? ["", ""]] : []));
  const named = Object.fromEntries(confs)["spark.app.name"];
  return {
    master: last("--master") ?? "",
    name: last("--name") ?? named ?? last("--class") ?? resource,
    mainClass: last("--class"),
    resource,
    arguments: given,
    confs: confs.map(([key = "", value = ""]) => [key, value] as const),
    options: Object.fromEntries(
      options.flatMap(([key, value]) => (confOf[key] === undefined ? [] : [[confOf[key], value]])),
    ),
    proxyUser: last("--proxy-user"),
  };
};

/** The contract's codes with their HTTP status; the last two ask the caller to retry. */
export const codes = {
  BAD_REQUEST: 400,
  INVALID_SPARK_SUBMIT_ARGS: 400,
  METHOD_NOT_ALLOWED: 405,
  DRIVER_POD_ALREADY_EXISTS: 409,
  UNSUPPORTED_MEDIA_TYPE: 415,
  INVALID_POD_TEMPLATE: 422,
  INTERNAL_SERVER_ERROR: 500,
  SUBMITTER_OVERLOADED: 503,
} as const;

export type Code = keyof typeof codes;

/** The reason for which nothing was submitted. `id` is the submission's, if it could be read. */
export type Fault = { readonly code: Code; readonly message: string; readonly id?: string | undefined };

const template = z.record(z.string(), z.unknown(), { error: "an object is needed" }).nullish();

const request = z.object({
  submission_id: z
    .string({ error: "is missing" })
    .regex(/^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/, { error: "must fit into a label" }),
  spark_submit_args: z
    .array(z.string({ error: "texts are needed" }), { error: "is missing: a list of texts" })
    .min(1, { error: "is empty" }),
  driver_pod_template: template,
  executor_pod_template: template,
});

type Handed = z.infer<typeof request>;

const idIn = (body: unknown): string | undefined =>
  z.looseObject({ submission_id: z.string() }).safeParse(body).data?.submission_id;

/** Parses the body; errors are reported field by field. */
export const readHanded = (body: unknown): Handed | Fault => {
  const parsed = request.safeParse(body);
  if (parsed.success) return parsed.data;
  const message = parsed.error.issues
    .map(({ path, message: says }) => `${path.join(".") || "body"}: ${says}`)
    .join("; ");
  const isTemplate = parsed.error.issues.every(({ path }) => String(path[0]).endsWith("_pod_template"));
  return { code: isTemplate ? "INVALID_POD_TEMPLATE" : "BAD_REQUEST", message, id: idIn(body) };
};

export type Submission = {
  readonly id: string;
  readonly appName: string;
  readonly namespace: string;
  readonly driver: Obj;
  /** The kinds of the other objects. */
  readonly kinds: readonly string[];
  /** Objects that are created after the driver pod and owned by it, as by Spark's own client: they end with it. */
  readonly others: (driver: Stored) => readonly Obj[];
};

export const idLabel = "sparkoperator.k8s.io/submission-id";
const idConf = `spark.kubernetes.driver.label.${idLabel}`;

/** The version in an image tag. */
const versionIn = (image: string | undefined): string | undefined =>
  /:v?(\d+\.\d+\.\d+)(?:[-@]|$)/.exec(image ?? "")?.[1];

const owner = ({ metadata }: Stored): OwnerReference => ({
  apiVersion: "v1",
  kind: "Pod",
  name: metadata.name,
  uid: metadata.uid,
  controller: true,
});

const completed = (built: Built, id: string, appName: string): Submission => {
  const { metadata, spec } = assembled(built.pod);
  const { namespace, driverPodName } = built;
  const rest = [...built.first, ...built.objects];
  return {
    id,
    appName,
    namespace,
    driver: { apiVersion: "v1", kind: "Pod", metadata: { ...metadata, name: driverPodName, namespace }, spec },
    kinds: rest.map(({ kind }) => kind),
    others: (driver) =>
      rest.map((object) => ({
        ...object,
        metadata: { ...object.metadata, namespace, ownerReferences: [owner(driver)] },
      })),
  };
};

/** The templates as a typed client would send them; the executors' as the text that the driver reads. */
const templatesOf = (handed: Handed): { readonly driver?: unknown; readonly executor?: string } | Fault => {
  const { driver_pod_template: driver, executor_pod_template: executor, submission_id: id } = handed;
  for (const [role, one] of [["driver", driver] as const, ["executor", executor] as const]) {
    const read = one === undefined || one === null ? undefined : podOf(pruned(one), undefined);
    if (read !== undefined && "error" in read)
      return { code: "INVALID_POD_TEMPLATE", message: `${role}_pod_template: ${read.error}`, id };
  }
  return {
    ...(driver ? { driver: pruned(driver) } : {}),
    ...(executor ? { executor: JSON.stringify(pruned(executor)) } : {}),
  };
};

type Options = {
  /** Epoch ms. */
  readonly now: number;
  /** The Spark version for an image whose tag names none. */
  readonly sparkVersion: string;
};

/** The objects of a submission; the same id gives the same names. */
export const submissionOf = (handed: Handed, { now, sparkVersion }: Options): Submission | Fault => {
  const { submission_id: id, spark_submit_args: args } = handed;
  const refused = (message: string): Fault => ({ code: "INVALID_SPARK_SUBMIT_ARGS", message, id });
  const line = lineOf(args);
  if ("refused" in line) return refused(line.refused);
  const templates = templatesOf(handed);
  if ("code" in templates) return templates;
  // The operator omits the conf that names the file when it sends the file's content.
  const named = templates.executor === undefined ? [] : [[executorTemplateConf, "inline"] as const];
  const prepared = prepare({ ...line, confs: [[idConf, id], ...line.confs, ...named], submittedAt: now });
  if ("refused" in prepared) return refused(prepared.refused);
  const { conf, program } = prepared;
  const image = conf.get("spark.kubernetes.driver.container.image") ?? conf.get("spark.kubernetes.container.image");
  const built = build({
    ...{ conf, program, proxyUser: line.proxyUser, machine: { user: "spark" }, templates },
    sparkVersion: versionIn(image) ?? sparkVersion,
    identity: identityOf(line.name, `handed/${id}`),
  });
  return "refused" in built ? refused(built.refused) : completed(built, id, line.name);
};
