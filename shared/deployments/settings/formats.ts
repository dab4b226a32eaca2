/**
 * The forms of settings, each with an error that says what to write: the record store, `kubernetes` or
 * `dynamodb://TABLE?region=eu-west-1&keepDays=90`; a secret as the text itself, a file that holds it, or the ARN under
 * which AWS stores it; the flat cluster record of functions, which needs no file, no exec plugin and no lookup.
 */
import * as z from "zod";
import type { Auth, Credential } from "../../adapters/kubernetes/credentials.ts";
import type { Endpoint } from "../../adapters/kubernetes/https.ts";
import { groupsShape } from "../../api/groups.ts";
import { namespaceName } from "../../core/object.ts";
import { isListener } from "../../core/updates.ts";
import type { Reach } from "../../installation/webhooks.ts";
import { pricesShape } from "../../kube/prices.ts";
import { resourceGroups } from "../../kube/resource-groups.ts";
import { type Family, families } from "../../kube/resources.ts";
import { selectorOf } from "../../kube/selector.ts";
import { everyNamespace } from "../../volcano/gang/settings.ts";

const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

const inMs = (text: string): number => {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text) ?? [];
  return Math.round(Number(amount) * (units[unit ?? ""] ?? Number.NaN));
};

const durationError = { error: "write a duration such as 30s or 5m" };

export const duration = z
  .union([z.int().min(0).transform(String), z.string()], durationError)
  .transform((text) => (/^\d+$/.test(text) ? Number(text) : inMs(text)))
  .refine((ms) => Number.isFinite(ms), durationError);

export const durationUpTo = (longest: string) =>
  duration.refine((ms) => ms <= inMs(longest), { error: `write a duration up to ${longest}` });

/** A duration in which a number without a unit counts seconds. */
const secondsFrom = (shortestMs: number, longestMs: number, error: string) =>
  z
    .union([z.int(), z.string()], { error })
    .transform((given) => (/^\d+$/.test(String(given)) ? Number(given) * 1_000 : inMs(String(given))))
    .refine((ms) => ms >= shortestMs && ms <= longestMs, { error });

export const windowLength = () => secondsFrom(1_000, 9_999_000, "write seconds such as 50s");

export const lookLength = () => secondsFrom(0, 60_000, "write a duration up to 60s such as 500ms, or 0");

export const yesOrNo = z.union(
  [z.boolean(), z.stringbool({ truthy: ["true", "yes", "1"], falsy: ["false", "no", "0"] })],
  { error: "write true or false" },
);

export const list = z.union(
  [z.array(z.string().min(1)), z.string().transform((text) => text.split(",").filter(Boolean))],
  { error: "write names separated by commas, or a list" },
);

export const text = z.union([z.string(), z.number().transform(String)], { error: "write a text" });
export const required = text.pipe(z.string().min(1, { error: "must not be empty" }));

export const count = (max: number, min = 1) => {
  const error = `write a whole number from ${min} to ${max}`;
  return z
    .union([z.number(), z.string().regex(/^\d+$/, { error }).transform(Number)], { error })
    .pipe(z.int({ error }).min(min, { error }).max(max, { error }));
};

export const choice = <const Options extends readonly [string, ...string[]]>(...options: Options) =>
  z.enum(options, { error: `write ${options.join(" or ")}` });

const parsed = (value: unknown, context: z.RefinementCtx): unknown => {
  if (typeof value !== "string") return value;
  try {
    return value.trim() === "" ? undefined : JSON.parse(value);
  } catch {
    context.addIssue("write JSON");
    return z.NEVER;
  }
};

/** JSON text, or in a file the value itself. */
const json = <Shape extends z.ZodType>(shape: Shape) => z.unknown().transform(parsed).pipe(shape);

const annotationsError = { error: 'write JSON such as [{"key": "value"}]' };

const texts = z.record(z.string(), z.string(), annotationsError);

/** A map, or a list of maps as upstream writes it. */
export const annotations = () =>
  json(
    z
      .union([texts, z.array(texts)], annotationsError)
      .default({})
      .transform((given): Record<string, string> => Object.assign({}, ...[given].flat())),
  );

/** Matches a conf that may be a default: no conf of the application's place, account, credentials or image. */
const defaultConf =
  /^spark\.(?!master$|kubernetes\.(?:namespace$|driver\.master$|authenticate\.|(?:driver\.|executor\.)?container\.image$))/;

const asConfs = 'write JSON such as {"spark.eventLog.enabled": "true"}';

/** Confs of Spark by name. */
export const sparkConfs = () =>
  json(z.record(z.string(), z.string({ error: asConfs }), { error: asConfs }).default({})).refine(
    (confs) => Object.keys(confs).every((name) => defaultConf.test(name)),
    { error: "write names that begin with spark. and set no namespace, account, credentials, image or API server" },
  );

/** Prices of cores and memory; none where nothing is set. */
export const prices = () => json(pricesShape().optional());

/** Groups of an identity provider, and what they grant. */
export const userGroups = () => json(groupsShape().optional());

const overTls = /^https:\/\/|^http:\/\/(127\.0\.0\.1|localhost)[:/]/;

export const httpsAddress = () => z.url({ error: "write a URL" }).regex(overTls, { error: "write an https:// URL" });

export const pageAddress = () =>
  httpsAddress().regex(/^https?:\/\/[^/?#]+\/page$/, { error: "write an https:// URL that ends with /page" });

/** Volcano's resource groups. */
export const groupsOfPods = () => json(resourceGroups());

export const ingressTls = () =>
  json(
    z.array(z.record(z.string(), z.unknown()), { error: 'write JSON such as [{"secretName": "name"}]' }).default([]),
  );

const rising = (values: readonly number[]): boolean =>
  values.length > 0 && values.every((value, at) => Number.isFinite(value) && value > (values[at - 1] ?? 0));

export const buckets = () =>
  list
    .transform((numbers) => numbers.map(Number))
    .refine(rising, { error: "write growing numbers separated by commas" });

export const address = () =>
  text.refine((value) => /^(\[[0-9a-f:]+\]|[\w.-]+):\d{1,5}$/i.test(value), {
    error: "write an address and a port, such as 127.0.0.1:8080",
  });

/** A name that the API server accepts for a namespace. */
export const namespace = () =>
  text.refine((name) => namespaceName.test(name), { error: "write the name of a namespace" });

const namespacesError = "write names of namespaces separated by commas";

export const namespaces = () =>
  list.refine((names) => names.every((name) => namespaceName.test(name)), { error: namespacesError });

/** Names of namespaces, or `*` for all of them; empty means none. */
export const commandNamespaces = () =>
  list.refine((names) => names.every((name) => name === everyNamespace || namespaceName.test(name)), {
    error: `${namespacesError}, or ${everyNamespace} for all of them`,
  });

const isFamily = (name: string): name is Family => families.some((one) => one === name);

export const chosenFamilies = () =>
  list.transform((names, context): readonly Family[] => {
    if (names.length > 0 && names.every(isFamily)) return names.filter(isFamily);
    context.addIssue(`write names of ${families.join(", ")}, separated by commas`);
    return z.NEVER;
  });

export const labelSelector = () =>
  text.refine((value) => selectorOf(value) !== undefined, { error: "write a label selector, such as team=data" });

const service = /^([a-z0-9][-a-z0-9]{0,62})\/([a-z0-9][-a-z0-9.]{0,252})(?::(\d{1,5}))?$/;

/** A URL, or a Service as `NAMESPACE/NAME` or `NAMESPACE/NAME:PORT`. */
export const reach = () =>
  text.transform((value, context): Reach => {
    if (z.url({ protocol: /^https$/ }).safeParse(value).success) return { url: value };
    const [, namespace, name, port = "443"] = service.exec(value) ?? [];
    if (namespace !== undefined && name !== undefined) return { service: { namespace, name, port: Number(port) } };
    context.addIssue("write an https:// URL, or a Service such as rekindle/rekindle-admission");
    return z.NEVER;
  });

export const reference = () =>
  text.transform((value, context) => {
    const [, namespace, name, port] = service.exec(value) ?? [];
    if (namespace !== undefined && name !== undefined && port === undefined) return { namespace, name };
    context.addIssue("write a namespace and a name, such as rekindle/rekindle-admission");
    return z.NEVER;
  });

const listenerQueue = /^sqs:https?:/;

export const listener = () =>
  text.refine((value) => value === "" || isListener(value) || listenerQueue.test(value), {
    error: "write an https:// URL, sqs: and a queue's URL, events, or none",
  });

const queueUrl = () => z.url({ error: "write the URL of a queue" });

export const fifoQueue = () =>
  queueUrl().refine((url) => url.endsWith(".fifo"), {
    error: "is not a FIFO queue: the URL of one ends with .fifo",
  });

export const standardQueue = () =>
  queueUrl().refine((url) => !url.endsWith(".fifo"), {
    error: "is a FIFO queue, which cannot delay a single message: write the URL of a standard queue",
  });

/** `nats://HOST:PORT`, or `tls://`, one for each server of a cluster. */
export const natsServers = () =>
  list.refine(
    (urls) => urls.length > 0 && urls.every((url) => /^(nats|tls):\/\/(\[[0-9a-f:]+\]|[\w.-]+)(:\d{1,5})?$/i.test(url)),
    { error: "write URLs of servers such as nats://host:4222 separated by commas, without credentials" },
  );

/** The first part of the names of streams, which are parts of subjects. */
export const streamPrefix = () =>
  text.refine((value) => /^[A-Za-z0-9][\w-]{0,62}$/.test(value), { error: "write letters, digits, - and _" });

const called = ["reconcile", "deliver"] as const;
type Called = (typeof called)[number];

/** Returns the URL in `NAME=URL` of a function. */
const urlIn = (texts: readonly string[], name: Called): string | undefined => {
  const url = texts.find((one) => one.startsWith(`${name}=`))?.slice(name.length + 1);
  return z.url({ protocol: /^https?$/ }).safeParse(url).data;
};

/** `reconcile=URL,deliver=URL`. */
export const functionUrls = () =>
  list.transform((texts, context): Readonly<Record<Called, string>> => {
    const [reconcile, deliver] = called.map((name) => urlIn(texts, name));
    if (texts.length === called.length && reconcile !== undefined && deliver !== undefined)
      return { reconcile, deliver };
    context.addIssue("write reconcile=URL,deliver=URL with URLs of http:// or https://");
    return z.NEVER;
  });

export const version = () =>
  text.refine((value) => /^\d+\.\d+\.\d+$/.test(value), { error: "write a version, such as 4.1.1" });

/** `team-a=4,team-b=2`. */
export const weights = () =>
  list.refine((texts) => texts.every((one) => /^[a-z0-9][-a-z0-9]{0,62}=(?:[1-9]\d?|100)$/.test(one)), {
    error: "write namespaces with a weight from 1 to 100, such as team-a=4,team-b=2",
  });

export type Place =
  | { readonly in: "kubernetes" }
  /** `keepMs`: the retention of a record at rest, 0 for ever; absent: the table adapter's default. */
  | {
      readonly in: "dynamodb";
      readonly table: string;
      readonly region?: string | undefined;
      readonly keepMs?: number | undefined;
    };

const dayMs = 86_400_000;

const options = z.strictObject({
  region: z
    .string()
    .regex(/^[a-z]{2}(-[a-z]+)+-\d$/, { error: "a region is needed, such as eu-west-1" })
    .optional(),
  keepDays: z
    .string()
    .regex(/^\d{1,4}$/, { error: "keepDays needs a whole number up to 9999, 0 for ever" })
    .transform((text) => Number(text) * dayMs)
    .optional(),
});

const form = /^dynamodb:\/\/([A-Za-z0-9_.-]{3,255})(?:\?(.*))?$/;

export const place = z.string().transform((value, context): Place => {
  if (value === "kubernetes") return { in: "kubernetes" };
  const [, table, query = ""] = form.exec(value) ?? [];
  if (table === undefined) {
    context.addIssue("write kubernetes, or dynamodb://TABLE");
    return z.NEVER;
  }
  const { data, error } = options.safeParse(Object.fromEntries(new URLSearchParams(query)));
  if (data === undefined) {
    context.addIssue(`${error?.issues[0]?.message ?? ""}: dynamodb://TABLE takes region and keepDays`);
    return z.NEVER;
  }
  return { in: "dynamodb", table, region: data.region, keepMs: data.keepDays };
});

/** The place of a stored secret. */
type Kept = { readonly file: string } | { readonly arn: string };

export type SecretSource = { readonly text: string } | Kept;

const arn = /^arn:aws[a-z-]*:(secretsmanager|ssm):[a-z0-9-]+:\d{12}:(secret:|parameter\/)\S+$/;

/** Returns whether a text is the ARN of a secret in Secrets Manager or of a parameter in the Parameter Store. */
const isArn = (text: string): boolean => arn.test(text);

const fileForm = z.strictObject({ file: z.string().min(1) });

/** Returns the value of `NAME_FILE` in the form that the schemas of this module accept. */
export const inFile = (path: unknown): z.input<typeof fileForm> => ({ file: String(path ?? "") });

/**
 * The schema of a text that `read` accepts, of its file, or of its ARN. `read` returns undefined for a wrong text; no
 * error repeats the text.
 */
const textOrPlace = <Read extends object>(read: (text: string) => Read | undefined, error: string) =>
  z.unknown().transform((value, context): Read | Kept => {
    const file = fileForm.safeParse(value);
    if (file.success) return file.data;
    if (typeof value === "string" && isArn(value)) return { arn: value };
    const found = typeof value === "string" ? read(value) : undefined;
    if (found !== undefined) return found;
    context.addIssue(error);
    return z.NEVER;
  });

const matching =
  (form: RegExp) =>
  (text: string): SecretSource | undefined =>
    form.test(text) ? { text } : undefined;

/** A signing key, a list of them, or callers as JSON. */
export const signingSecret = () =>
  textOrPlace(matching(/^[\s\S]{16,}$/), "write at least 16 characters, or the ARN of a secret");

/** The first part of a path, which is a secret; two of them while it is changed. */
export const secretPath = () =>
  textOrPlace(matching(/^[\w-]{16,128}(,[\w-]{16,128})?$/), "write 16 to 128 of a-z, A-Z, 0-9, - and _, or an ARN");

/** PEM texts. */
const shape = z.object({
  server: z.url(),
  ca: z.string().optional(),
  token: z.string().optional(),
  cert: z.string().optional(),
  key: z.string().optional(),
  /** Logs in to EKS with the role of the process. */
  eks: z.object({ name: z.string().min(1), region: z.string().min(1) }).optional(),
  proxy: z.url().optional(),
});

export type ClusterRecord = z.infer<typeof shape>;

/** The endpoint of the API server, or the place of its record: the pod's own account, an ARN, or a file. */
export type Access =
  | Endpoint
  | { readonly own: typeof inCluster }
  | { readonly arn: string }
  | { readonly file: string };

/** Value in place of a record: the service account of the pod. */
export const inCluster = "in-cluster";

/**
 * The longest age of a reused token, ms. EKS accepts a token for 15 minutes after its signature, whatever expiry it
 * states.
 */
const ageMs = 600_000;

const authOf = ({ token, cert, key, eks }: ClusterRecord): Auth | undefined => {
  if (eks !== undefined) {
    const provider = async (): Promise<Credential> => {
      const { eksToken } = await import("../../adapters/aws/eks-token.ts");
      return { token: await eksToken(eks, Date.now()) };
    };
    return { provider, ageMs };
  }
  if (token !== undefined) return { token };
  return cert === undefined || key === undefined ? undefined : { cert, key };
};

/** Parses a record. Throws where the text is none; the error contains nothing of the text. */
export const endpointIn = (text: string): Endpoint => {
  const record = shape.parse(JSON.parse(text));
  const auth = authOf(record);
  return {
    server: record.server,
    ...(record.ca === undefined ? {} : { ca: record.ca }),
    ...(record.proxy === undefined ? {} : { proxy: record.proxy }),
    ...(auth === undefined ? {} : { auth }),
  };
};

const accessIn = (text: string): Endpoint | { readonly own: typeof inCluster } | undefined => {
  if (text === inCluster) return { own: inCluster };
  try {
    return endpointIn(text);
  } catch {
    return undefined;
  }
};

/** The schema of the setting: the record itself, or its place. */
export const clusterRecord = () =>
  textOrPlace(
    accessIn,
    "write JSON with server, ca and token (or cert and key, or eks), the ARN under which Secrets Manager or the Parameter Store keeps it, or in-cluster",
  );
