/**
 * The intents of external events: CloudEvents 1.0 in both modes and in batches, events of EventBridge, and
 * Alertmanager's webhook. A subject, or the labels of an alert that name an object, request its step; the type
 * `dev.rekindle.node.leaving` and EC2's interruption and rebalance events give notice of a node, and
 * `dev.rekindle.node.staying` takes it back. The steps decide what follows.
 */

import * as z from "zod";
import { jsonOf } from "../core/json.ts";
import { namespaceName, subdomain } from "../core/object.ts";
import { instantOf } from "../core/time.ts";
import type { Ability } from "./callers.ts";

export type ObjectName = { readonly kind: string; readonly namespace: string; readonly name: string };

/** `event`: deduplication id; two intents with the same one count once. */
export type Intent =
  | ({ readonly do: "step"; readonly event: string } & ObjectName)
  /** `node`: its name, or its machine's. `until`: when it goes, epoch ms; undefined: it stays. */
  | { readonly do: "notice"; readonly node: string; readonly until: number | undefined; readonly event: string }
  | { readonly do: "nothing"; readonly why: string };

/** The ability that each intent needs. */
export const abilityFor: Readonly<Record<"step" | "notice", Ability>> = { step: "trigger", notice: "notice" };

/** The longest time after its node has gone at which a notice is still accepted, ms: a node may be late. */
const lateMs = 300_000;

/**
 * Returns whether the API server accepts a text as a name. Cluster-scoped objects have no namespace and cannot be named
 * here.
 */
export const isName = (text: string): boolean => text.length <= 253 && subdomain.test(text);
export const isNamespace = (text: string): boolean => namespaceName.test(text);

export const stepOf = (named: ObjectName, kinds: readonly string[], event: string): Intent => {
  if (!kinds.includes(named.kind)) return nothing(`kind must be one of ${kinds.join(", ")}`);
  if (!isNamespace(named.namespace) || !isName(named.name)) return nothing("not a Kubernetes name");
  return { do: "step", ...named, event };
};

/** Returns a notice; nothing where the name is not valid or the time is long over. `now`: epoch ms. */
const noticeOf = (node: string, until: number | undefined, event: string, now: number): Intent => {
  if (!isName(node)) return nothing("not a node's name");
  return until !== undefined && until + lateMs < now
    ? nothing("the time of this notice is long past")
    : { do: "notice", node, until, event };
};

/** Headers by their names in lower case. */
export type Headers = (name: string) => string | undefined;

export type EventContext = {
  /** Kinds that Rekindle runs. */
  readonly kinds: readonly string[];
  /** Kinds by the resource of their objects, as `sparkoperator.k8s.io/sparkapplications`. */
  readonly plurals: Readonly<Record<string, string>>;
  /** Epoch ms. */
  readonly now: number;
};

const text = z.string().min(1).max(1_024);

const cloudEvent = z.looseObject({
  specversion: z.literal("1.0"),
  id: text,
  source: text,
  type: text,
  subject: text.optional(),
  time: z.iso.datetime({ offset: true }).optional(),
  data: z.unknown().optional(),
});

type CloudEvent = z.infer<typeof cloudEvent>;

const batch = z.array(cloudEvent).max(100);

const bridged = z.looseObject({
  id: text,
  source: text,
  "detail-type": text,
  time: z.iso.datetime({ offset: true }),
  detail: z.looseObject({ "instance-id": z.string().regex(/^i-[0-9a-f]{8,17}$/) }),
});

/** The CloudEvents type of a notice; `subject` is the name of the node or of its machine. */
export const leavingType = "dev.rekindle.node.leaving";

/** The CloudEvents type that takes notices of a node back; `subject` as above. */
export const stayingType = "dev.rekindle.node.staying";

/**
 * By detail type: the time from EventBridge's event until the machine goes, ms. A recommendation names no time, and no
 * pod is ended for one alone.
 */
export const machineEvents: Readonly<Record<string, number>> = {
  "EC2 Spot Instance Interruption Warning": 120_000,
  "EC2 Instance Rebalance Recommendation": 3_600_000,
};

/** The data of a notice, which may say when the node goes. */
const leavingData = z.looseObject({ until: z.iso.datetime({ offset: true }).optional() }).optional();

/** The time until the node goes where the event has no `until`, ms: as long as EC2 gives. */
const usualMs = 120_000;

const nothing = (why: string): Intent => ({ do: "nothing", why });

/** Parses a subject: `KIND/NAMESPACE/NAME`, or the path of an object as Knative's sources write it. */
const stepIn = (subject: string, event: string, { kinds, plurals }: EventContext): Intent => {
  const path = /^\/apis\/([^/]+)\/[^/]+\/namespaces\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(subject);
  const [, kind = "", namespace = "", name = ""] =
    path === null
      ? (/^([^/]+)\/([^/]+)\/([^/]+)$/.exec(subject) ?? [])
      : ["", plurals[`${path[1]}/${path[3]}`] ?? "", path[2] ?? "", path[4] ?? ""];
  if (name === "") return nothing("its subject names no object that Rekindle runs");
  return stepOf({ kind, namespace, name }, kinds, event);
};

const intentOf = ({ id, source, type, subject = "", time, data }: CloudEvent, reading: EventContext): Intent => {
  const event = `${source} ${id}`;
  if (type === stayingType) return noticeOf(subject, undefined, event, reading.now);
  if (type !== leavingType) return stepIn(subject, event, reading);
  const { data: said } = leavingData.safeParse(data);
  const until = instantOf(said?.until) ?? (instantOf(time) ?? reading.now) + usualMs;
  return noticeOf(subject, until, event, reading.now);
};

const bridgeIntent = (given: z.infer<typeof bridged>, { now }: EventContext): Intent => {
  const lasts = given.source === "aws.ec2" ? machineEvents[given["detail-type"]] : undefined;
  if (lasts === undefined) return nothing(`nothing is done about ${given["detail-type"]} of ${given.source}`);
  return noticeOf(
    given.detail["instance-id"],
    (instantOf(given.time) ?? now) + lasts,
    `${given.source} ${given.id}`,
    now,
  );
};

/**
 * Returns the intent of an event of EventBridge, also of one with which it invokes a function directly; undefined for
 * any other value.
 */
export const bridgedIntent = (given: unknown, reading: EventContext): Intent | undefined => {
  const { data } = bridged.safeParse(given);
  return data === undefined ? undefined : bridgeIntent(data, reading);
};

/** Attributes of a CloudEvent that are headers in binary mode. */
const attributes = ["specversion", "id", "source", "type", "subject", "time"] as const;

/** Returns the headers with attributes of an event, by name. A signed request must sign them beside its body. */
export const eventHeaders = (headers: Headers): Readonly<Record<string, string>> =>
  Object.fromEntries(
    attributes.flatMap((name) => {
      const value = headers(`ce-${name}`);
      return value === undefined ? [] : [[`ce-${name}`, value]];
    }),
  );

const inBinary = (headers: Headers, body: string): unknown => {
  const given = Object.entries(eventHeaders(headers)).map(([name, value]) => [name.slice("ce-".length), value]);
  return { ...Object.fromEntries(given), data: jsonOf(body) };
};

/** Returns the intents of the events in a request; undefined where it holds none. */
export const eventIntents = (headers: Headers, body: string, reading: EventContext): readonly Intent[] | undefined => {
  const type = (headers("content-type") ?? "").toLowerCase();
  if (headers("ce-specversion") !== undefined) {
    const { data } = cloudEvent.safeParse(inBinary(headers, body));
    return data === undefined ? undefined : [intentOf(data, reading)];
  }
  const given = jsonOf(body);
  if (type.startsWith("application/cloudevents-batch+json"))
    return batch.safeParse(given).data?.map((one) => intentOf(one, reading));
  if (type.startsWith("application/cloudevents+json")) {
    const { data } = cloudEvent.safeParse(given);
    return data === undefined ? undefined : [intentOf(data, reading)];
  }
  const bridge = bridgedIntent(given, reading);
  return bridge === undefined ? undefined : [bridge];
};

const labels = z.record(z.string(), z.string());

const alert = z.looseObject({
  status: z.enum(["firing", "resolved"]),
  labels,
  annotations: labels.default({}),
  startsAt: z.string(),
  fingerprint: z.string().max(64).default(""),
});

type Alert = z.infer<typeof alert>;

/** Version 4 is what Alertmanager has sent since 0.16. */
const webhook = z.looseObject({ version: z.literal("4"), alerts: z.array(alert).max(500) });

/**
 * Labels of the object's namespace, the first one counts: where Prometheus sets its own `namespace`, the object's is
 * the exported one.
 */
const places = ["rekindle_namespace", "exported_namespace", "namespace"] as const;

/** The values of the label `rekindle_action`; an alert without it requests a step. */
export const actions = ["step", "node-leaving", "node-staying"] as const;

type AlertReading = {
  readonly kinds: readonly string[];
  /** Labels that name an object, each with the object's kind. The first one that an alert has counts. */
  readonly naming: readonly { readonly label: string; readonly kind: string }[];
  readonly now: number;
};

const namedIn = (given: Alert["labels"], naming: AlertReading["naming"]): ObjectName | undefined => {
  const namespace = places.map((place) => given[place]).find((one) => one !== undefined) ?? "";
  const { rekindle_kind: kind, rekindle_name: name } = given;
  if (kind !== undefined && name !== undefined) return { kind, namespace, name };
  const row = naming.find(({ label }) => given[label] !== undefined);
  return row === undefined ? undefined : { kind: row.kind, namespace, name: given[row.label] ?? "" };
};

const aboutNode = ({ status, labels: given, annotations, startsAt }: Alert, event: string, now: number): Intent => {
  const { node, rekindle_action: action } = given;
  if (node === undefined) return nothing("no label names a node");
  // An alert is resolved as well when its node's metrics end because the node goes.
  if (status === "resolved") return nothing("resolved: only a firing alert is about a node");
  if (action === "node-staying") return noticeOf(node, undefined, event, now);
  const until = instantOf(annotations["until"]) ?? (instantOf(startsAt) ?? now) + usualMs;
  return noticeOf(node, until, event, now);
};

const intentOfAlert = (given: Alert, { kinds, naming, now }: AlertReading): Intent => {
  const event = `alert ${given.fingerprint} ${given.status} ${given.startsAt}`;
  const action = given.labels["rekindle_action"] ?? "step";
  if (action === "node-leaving" || action === "node-staying") return aboutNode(given, event, now);
  if (action !== "step") return nothing(`rekindle_action must be one of ${actions.join(", ")}`);
  const named = namedIn(given.labels, naming);
  return named === undefined ? nothing("no label names an object that Rekindle runs") : stepOf(named, kinds, event);
};

/** Returns the intents of the alerts; undefined where the body is not this webhook's. */
export const alertIntents = (body: string, reading: AlertReading): readonly Intent[] | undefined => {
  try {
    return webhook.parse(JSON.parse(body)).alerts.map((one) => intentOfAlert(one, reading));
  } catch {
    return undefined;
  }
};
