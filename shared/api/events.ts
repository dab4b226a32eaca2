/**
 * External events: CloudEvents 1.0 in both modes and in batches, and events of EventBridge. A subject that names an
 * object requests its step; the type `dev.rekindle.node.leaving` and EC2's interruption and rebalance events give
 * notice of a node.
 */
import * as z from "zod";
import { jsonOf } from "../core/json.ts";
import { instantOf } from "../core/time.ts";
import { type Intent, noticeOf, stepOf } from "./intent.ts";

/** Headers by their names in lower case. */
export type Headers = (name: string) => string | undefined;

export type Reading = {
  /** Kinds that Rekindle runs. */
  readonly kinds: readonly string[];
  /** Kinds by the plural of their resource, as `sparkapplications`. */
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
const stepIn = (subject: string, event: string, { kinds, plurals }: Reading): Intent => {
  const path = /^\/apis\/[^/]+\/[^/]+\/namespaces\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(subject);
  const [, kind = "", namespace = "", name = ""] =
    path === null
      ? (/^([^/]+)\/([^/]+)\/([^/]+)$/.exec(subject) ?? [])
      : ["", plurals[path[2] ?? ""] ?? "", path[1] ?? "", path[3] ?? ""];
  if (name === "") return nothing("its subject names no object that Rekindle runs");
  return stepOf({ kind, namespace, name }, kinds, event);
};

const intentOf = ({ id, source, type, subject = "", time, data }: CloudEvent, reading: Reading): Intent => {
  const event = `${source} ${id}`;
  if (type !== leavingType) return stepIn(subject, event, reading);
  const { data: said } = leavingData.safeParse(data);
  const until = instantOf(said?.until) ?? (instantOf(time) ?? reading.now) + usualMs;
  return noticeOf(subject, until, event, reading.now);
};

const bridgeIntent = (given: z.infer<typeof bridged>, { now }: Reading): Intent => {
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
export const bridgedIntent = (given: unknown, reading: Reading): Intent | undefined => {
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
export const eventIntents = (headers: Headers, body: string, reading: Reading): readonly Intent[] | undefined => {
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
