/**
 * A submission that another operator sends, by the contract of its RestSubmitter: the arguments of `spark-submit` and
 * the two pod templates become the objects that Spark's own client would create. Pure.
 */
import * as z from "zod";
import type { Obj, OwnerReference, Stored } from "../../core/object.ts";
import { type Built, build } from "./client.ts";
import { lineOf } from "./line.ts";
import { assembled, podOf } from "./pods/pod.ts";
import { pruned } from "./pods/prune.ts";
import { prepare } from "./prepare.ts";
import { identityOf } from "./steps/identity.ts";
import { executorTemplateConf } from "./steps/template.ts";

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

export type Handed = z.infer<typeof request>;

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
