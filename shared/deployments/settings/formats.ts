/** The forms of settings, each with an error that says what to write. */
import * as z from "zod";
import type { Reach } from "../../cli/installation/webhooks.ts";
import { isListener } from "../../core/sink.ts";
import { type Family, families } from "../../kube/families.ts";
import { resourceGroups } from "../../kube/resource-groups.ts";
import { selectorOf } from "../../kube/selector.ts";
import { everyNamespace } from "../../volcano/queue/command-namespaces.ts";

const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

const inMs = (text: string): number => {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text) ?? [];
  return Math.round(Number(amount) * (units[unit ?? ""] ?? Number.NaN));
};

export const duration = z
  .union([z.int().min(0).transform(String), z.string()], { error: "write a duration such as 30s or 5m" })
  .transform((text) => (/^\d+$/.test(text) ? Number(text) : inMs(text)))
  .refine((ms) => Number.isFinite(ms), { error: "write a duration such as 30s or 5m" });

export const durationUpTo = (longest: string) =>
  duration.refine((ms) => ms <= inMs(longest), { error: `write a duration up to ${longest}` });

/** A duration in which a number without a unit counts seconds. */
export const windowLength = z
  .union([z.int(), z.string()], { error: "write seconds such as 50s" })
  .transform((given) => (/^\d+$/.test(String(given)) ? Number(given) * 1_000 : inMs(String(given))))
  .refine((ms) => ms >= 1_000 && ms <= 9_999_000, { error: "write seconds such as 50s" });

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

const texts = z.record(z.string(), z.string(), { error: 'write JSON such as [{"key": "value"}]' });

/** A map, or a list of maps as upstream writes it. */
export const annotations = () =>
  json(
    z
      .union([texts, z.array(texts)], { error: 'write JSON such as [{"key": "value"}]' })
      .default({})
      .transform((given): Record<string, string> => Object.assign({}, ...[given].flat())),
  );

/** Volcano's resource groups. */
export const groupsOfPods = () => json(resourceGroups);

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

const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** A name that the API server accepts for a namespace. */
export const namespace = () => text.refine((name) => label.test(name), { error: "write the name of a namespace" });

export const namespaces = () =>
  list.refine((names) => names.every((name) => label.test(name)), {
    error: "write names of namespaces separated by commas",
  });

/** Names of namespaces, or `*` for all of them; empty means none. */
export const commandNamespaces = () =>
  list.refine((names) => names.every((name) => name === everyNamespace || label.test(name)), {
    error: `write names of namespaces separated by commas, or ${everyNamespace} for all of them`,
  });

const isFamily = (name: string): name is Family => families.some((one) => one === name);

export const chosenFamilies = () =>
  list.transform((names, context): readonly Family[] => {
    if (names.length > 0 && names.every(isFamily)) return names.filter(isFamily);
    context.addIssue(`write ${families.join(", ")} or both separated by a comma`);
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
    error: "is a FIFO queue, which holds no single message back: write the URL of a standard queue",
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
