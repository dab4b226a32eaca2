/**
 * One delivery: sends at most one update of one stream, as a CloudEvent 1.0, and saves the outcome. Any process may
 * take it and may die at any point; an unreachable listener holds up neither a step nor another stream.
 *
 * U1. Exactly one update of a stream is outstanding: the oldest that is not acknowledged.
 * U2. A send is saved before it happens, so of two deliveries at once one sends.
 * U3. An acknowledged update is never sent again; any other acknowledgement changes nothing.
 * U4. Only the listener that an update was sent to can acknowledge it.
 * U5. A record names no destination that its object could not name.
 */
import { eventOf, events } from "../core/event.ts";
import { dedupe, deliveryKey, type Key, type Message, subjectOf, textOf } from "../core/key.ts";
import type { Meter } from "../core/metric.ts";
import type { Resource, Stored } from "../core/object.ts";
import { timeText } from "../core/time.ts";
import {
  isOfOthers,
  type Outbox,
  type Position,
  positionText,
  type Sent,
  type SentUpdate,
  type Sink,
  type Update,
  waiting,
} from "../core/updates.ts";
import type {
  CheckpointRecord,
  Checkpoints,
  Clock,
  Cluster,
  DeliveryRecord,
  Queue,
  ReadResult,
  Report,
  Updates,
  Version,
} from "../engine/ports.ts";
import { type Acknowledgement, acknowledgementIn, acknowledgementOf } from "./acknowledgement.ts";
import { acknowledged, type Cursor, type Due, dueOf, failed, readCursor } from "./cursor.ts";

const standing = ({ sequence, state, attempt, terminal, at, message }: Update) => ({
  ...{ sequence, state, attempt, terminal },
  time: timeText(at),
  ...(message === undefined ? {} : { message }),
});

/**
 * Returns an update as it is sent. The same update gives the same text, apart from the latest state that it carries.
 */
const sentUpdateOf = (key: Key, stream: string, update: Update, latest: Update): SentUpdate => {
  const { cluster, kind, namespace, name } = key;
  const id = positionText({ stream, sequence: update.sequence });
  const { uid } = update;
  const event = {
    specversion: "1.0",
    id,
    source: `/rekindle/${encodeURIComponent(cluster)}`,
    type: "dev.rekindle.status",
    subject: [kind, namespace, name].filter((part) => part !== "").join("/"),
    time: timeText(update.at),
    datacontenttype: "application/json",
    sequence: String(update.sequence).padStart(10, "0"),
    data: { kind, namespace, name, uid, ...standing(update), latest: standing(latest) },
  };
  return { key, uid, id, stream, update, body: JSON.stringify(event) };
};

/** The dependencies of a delivery. */
export type DeliveryContext = {
  readonly cluster: Pick<Cluster, "get" | "create">;
  readonly checkpoints: Checkpoints;
  readonly queue: Queue;
  readonly clock: Clock;
  readonly report: Report;
  readonly meter?: Meter;
  readonly clusterUid: string;
  readonly resourceOf: (kind: string) => Resource | undefined;
  /** Parses stored records of objects. */
  readonly read: (stored: unknown) => ReadResult<CheckpointRecord>;
  /** Parses stored records of deliveries. */
  readonly readDelivery: (stored: unknown) => ReadResult<DeliveryRecord>;
  readonly destinationOf: Updates["destinationOf"];
  /** Returns the listener that a destination stands for. */
  readonly listenerAt: (key: Key, to: string) => Promise<string>;
  /** True if this deployment is in charge of the key; absent: of every key. */
  readonly inCharge?: (key: Key, labels: Readonly<Record<string, string>>) => boolean | Promise<boolean>;
  readonly sink: Sink;
};

export type Delivered =
  | { readonly did: "nothing"; readonly why: string }
  | { readonly did: "step"; readonly writes: number }
  | { readonly did: "raced" }
  | { readonly did: "stopped"; readonly why: string };

/**
 * No update is sent later than this after the save that planned it, ms: by then another delivery may send it, and after a
 * first claim all updates may be acknowledged and the records deleted.
 */
const fenceMs = 5_000;

type Own = { readonly saves: number; readonly version: Version | undefined; readonly cursor: Cursor | undefined };

type SendContext = {
  readonly ports: DeliveryContext;
  readonly key: Key;
  readonly resource: Resource;
  readonly object: Stored | undefined;
  readonly outbox: Outbox;
  readonly to: string;
  readonly own: Own;
  readonly now: number;
  /** Monotonic time before the first read, ms. */
  readonly began: number;
};

const nothing = (why: string): Delivered => ({ did: "nothing", why });

/** Stops a delivery whose record cannot be read, because the update may be acknowledged there. */
const stopped = ({ report }: DeliveryContext, key: Key, error: string): Delivered => {
  report("error", "cannot deliver updates: repair the record, or delete it", { key: textOf(key), error });
  return { did: "stopped", why: error };
};

const ownOf = ({ readDelivery }: DeliveryContext, loaded: Awaited<ReturnType<Checkpoints["load"]>>): Own | string => {
  if (loaded === undefined) return { saves: 0, version: undefined, cursor: undefined };
  const found = readDelivery(loaded.record);
  if (!found.ok) return found.error;
  const cursor = readCursor(found.record.memory);
  return cursor === undefined
    ? "the record of a delivery cannot be read"
    : { saves: found.record.saves, version: loaded.version, cursor };
};

type At = Pick<SendContext, "ports" | "key" | "own">;

/** Requeues after a lost race: this message may be about a newer state than the winner has read. */
const lost = async ({ ports, key, own }: At, reason = "raced"): Promise<Delivered> => {
  const delivery = deliveryKey(key);
  const id = dedupe.timer(delivery, `raced ${own.version} ${ports.clock.monotonic()}`);
  await ports.queue.sendLater({ ...delivery, reason }, id, 1_000);
  return { did: "raced" };
};

/** Removes the record of a delivery that has no listener or no stream. */
const closed = async (at: At, why: string): Promise<Delivered> => {
  const { ports, key, own } = at;
  if (own.version === undefined) return nothing(why);
  const removed = await ports.checkpoints.remove(deliveryKey(key), own.version);
  return removed === "raced" ? await lost(at) : { did: "step", writes: 1 };
};

/** Removes the cursor if a second read agrees that there is no record of the key. */
const unrecorded = async (at: At, message: Message): Promise<Delivered> => {
  const { ports, key, own } = at;
  const isBack = own.version !== undefined && (await ports.checkpoints.load(key)) !== undefined;
  return isBack ? await deliver(ports, message) : await closed(at, `there is no stream of ${textOf(key)}`);
};

/**
 * Returns where updates go: as the object says, or, when it is gone, as it could have said when its record was written.
 * U5: only the namespace and the operator may name a queue, or the listeners of both.
 */
const destinationOf = async (
  ports: DeliveryContext,
  { key, object, outbox }: Pick<SendContext, "key" | "object"> & { readonly outbox: Outbox | undefined },
): Promise<string | undefined> => {
  if (object !== undefined) return await ports.destinationOf(key, object.metadata.annotations);
  if (outbox === undefined || !isOfOthers(outbox.to)) return outbox?.to;
  return await ports.destinationOf(key, undefined);
};

/** Takes a delivery of the stream that the message names. Throws the platform's errors. */
export const deliver = async (ports: DeliveryContext, message: Message): Promise<Delivered> => {
  const key = subjectOf(message);
  const resource = key === undefined ? undefined : ports.resourceOf(key.kind);
  if (key === undefined || resource === undefined) return nothing(`no updates are delivered for ${message.kind}`);
  const began = ports.clock.monotonic();
  const { value, date: now } = await ports.cluster.get({ resource, namespace: key.namespace, name: key.name });
  const [loaded, kept] = await Promise.all([ports.checkpoints.load(key), ports.checkpoints.load(deliveryKey(key))]);
  const own = ownOf(ports, kept);
  if (typeof own === "string") return stopped(ports, deliveryKey(key), own);
  if (loaded === undefined) return await unrecorded({ ports, key, own }, message);
  const read = ports.read(loaded.record);
  if (!read.ok) return stopped(ports, key, read.error);
  const { outbox, uid, cluster, labels } = read.record;
  if ((await ports.inCharge?.(key, value?.metadata.labels ?? labels ?? {})) === false)
    return nothing("outside the scope of this process");
  if (cluster !== ports.clusterUid) return stopped(ports, key, `the record was made in another cluster (${cluster})`);
  const object = value?.metadata.uid === uid ? value : undefined;
  const to = await destinationOf(ports, { key, object, outbox });
  if (outbox === undefined && object !== undefined && to !== undefined)
    await ports.queue.send({ ...key, reason: "no updates" }, dedupe.timer(key, `no updates ${loaded.version}`));
  if (outbox === undefined || to === undefined) return await closed({ ports, key, own }, "no listener is set");
  return await carryOn({ ports, key, resource, object, outbox, to, own, now, began }, message);
};

const carryOn = async (context: SendContext, message: Message): Promise<Delivered> => {
  const { outbox, own, to, now } = context;
  const given = acknowledgementIn(message);
  if (given !== undefined) return await acknowledge(context, given);
  const due = dueOf(outbox, own.cursor, to, now);
  switch (due.do) {
    case "rest":
      return await rested(context);
    case "wait":
      await arm(context, due.until);
      return nothing("it is too early for the next try");
    case "send":
      return await send(context, due);
  }
};

/**
 * Sends the key if its record waits only for its updates, or names another listener: the message of that change may
 * have been lost.
 */
const rested = async ({ ports, key, outbox, to }: SendContext): Promise<Delivered> => {
  const left = outbox.leftAt !== undefined;
  const reason = left ? "acknowledged" : "another listener";
  if (left || outbox.to !== to)
    await ports.queue.send({ ...key, reason }, dedupe.timer(key, `${reason} ${outbox.stream} ${to}`));
  return nothing("all updates are acknowledged");
};

const arm = async ({ ports, key, outbox, now }: SendContext, at: number): Promise<void> => {
  const own = deliveryKey(key);
  const id = dedupe.timer(own, `retry ${outbox.stream} ${at}`);
  await ports.queue.sendLater({ ...own, reason: "timer" }, id, Math.max(1_000, at - now));
};

const save = async (context: SendContext, own: Own, cursor: Cursor): Promise<Own | "raced"> => {
  const { ports, key, outbox } = context;
  const { stream, acknowledged: sequence, outstanding } = cursor;
  const record: DeliveryRecord = {
    schema: 1,
    cluster: ports.clusterUid,
    uid: outbox.entries.at(-1)?.uid ?? ports.clusterUid,
    saves: own.saves + 1,
    ...(outstanding === undefined ? {} : { wakeAt: outstanding.nextAt }),
    acknowledged: { stream, sequence },
    memory: cursor,
  };
  const version = await ports.checkpoints.save(deliveryKey(key), record, own.version);
  return version === "raced" ? "raced" : { saves: record.saves, version, cursor };
};

const figures = { acknowledged: "delivered", failed: "failed", refused: "refused" } as const;

/**
 * U2: the saved claim is the lock and holds the time of the next try; the loser sends nothing. A first claim creates the
 * record of the delivery. That succeeds again once all updates are acknowledged and the record is deleted, so the fence of a
 * first claim counts from before the reads.
 */
const send = async (context: SendContext, due: Extract<Due, { do: "send" }>): Promise<Delivered> => {
  const { ports, key, outbox, to, own, now, began } = context;
  const planned = own.version === undefined ? began : ports.clock.monotonic();
  const claimed = await save(context, own, due.cursor);
  if (claimed === "raced") return await lost(context);
  if (ports.clock.monotonic() - planned > fenceMs) {
    await arm(context, due.cursor.outstanding?.nextAt ?? now);
    return { did: "step", writes: 1 };
  }
  const sent = await ports.sink(
    await ports.listenerAt(key, to),
    sentUpdateOf(key, outbox.stream, due.update, due.latest),
    now,
  );
  ports.meter?.([{ do: "count", name: "rekindle_updates_total", value: 1, of: { outcome: figures[sent.did] } }]);
  if (sent.did === "acknowledged")
    return await settle(context, claimed, { stream: outbox.stream, sequence: due.update.sequence });
  return await miss(context, claimed, due.cursor, sent);
};

const ignored = ({ ports, key }: SendContext, position: Position, why: string): Delivered => {
  ports.report("warn", "an acknowledgement is ignored", { key: textOf(key), id: positionText(position), why });
  return nothing(`an acknowledgement was ${why}`);
};

/** Returns the listener that the outstanding update was sent to; the present one if none is. */
const listenerSentTo = async ({ ports, key, to }: SendContext, { cursor }: Own): Promise<string> => {
  const sentTo = cursor?.outstanding?.to ?? to;
  return await ports.listenerAt(key, sentTo);
};

/** U4: an acknowledgement of any other listener changes nothing. */
const acknowledge = async (context: SendContext, { position, isBy }: Acknowledgement): Promise<Delivered> => {
  const { own } = context;
  return isBy(await listenerSentTo(context, own))
    ? await settle(context, own, position)
    : ignored(context, position, "another listener's");
};

/**
 * U3: an acknowledgement that comes after the next try has been claimed loses the save; any other invalid one is logged
 * and changes nothing.
 */
const settle = async (context: SendContext, own: Own, position: Position): Promise<Delivered> => {
  const { ports, key, outbox } = context;
  const next = acknowledged(outbox, own.cursor, position);
  if (typeof next === "string") return ignored(context, position, next);
  const saved = await save(context, own, next);
  if (saved === "raced") {
    const by = await listenerSentTo(context, own);
    return await lost(context, acknowledgementOf(key, positionText(position), by)?.reason);
  }
  if (waiting(outbox, position).length > 0) {
    const delivery = deliveryKey(key);
    await ports.queue.send({ ...delivery, reason: "next" }, dedupe.timer(delivery, `next ${positionText(position)}`));
  } else await rested(context);
  return { did: "step", writes: 1 };
};

/** Saves the failure of a try in the cursor, where people see it. The claim was saved with the time of the next try. */
const miss = async (
  context: SendContext,
  claimed: Own,
  cursor: Cursor,
  sent: Exclude<Sent, { did: "acknowledged" }>,
): Promise<Delivered> => {
  const { ports, key, now } = context;
  const { sequence, tries, error } = cursor.outstanding ?? {};
  const isNews = error !== sent.error;
  const fields = { key: textOf(key), sequence, tries, error: sent.error };
  ports.report(isNews ? "warn" : "debug", "an update was not acknowledged, trying again", fields);
  await arm(context, cursor.outstanding?.nextAt ?? now);
  if (!isNews) return { did: "step", writes: 1 };
  const saved = await save(context, claimed, failed(cursor, sent.error));
  if (sent.did === "refused") await tellRefusal(context, sent.error);
  return saved === "raced" ? { did: "raced" } : { did: "step", writes: 2 };
};

/** Writes one Event per refusal, on the object that names the listener; a failed write of the Event is not repeated. */
const tellRefusal = async ({ ports, object, resource, now }: SendContext, error: string): Promise<void> => {
  if (object === undefined) return;
  const input = { about: object.metadata, subject: resource, occasion: error, reason: "UpdatesRefused" } as const;
  const event = eventOf({ ...input, type: "Warning", message: `status updates are not sent: ${error}` }, now);
  const { name, namespace = "default" } = event.metadata;
  await ports.cluster.create({ resource: events, namespace, name }, event).catch(() => {});
};
