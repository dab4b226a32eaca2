/**
 * The queue on SQS: a FIFO queue for keys, a standard queue for timers. Sends are collected into batches of at most
 * ten messages, several requests at once, each group in its order.
 */

import { groupOf, withShortReason } from "../../core/key.ts";
import type { Queue } from "../../engine/ports.ts";
import { openSqs, refusalOf, type Sqs } from "./client.ts";

/** One message to send. Without a group its order is not guaranteed. */
export type Entry<T> = { readonly group: string | undefined; readonly fields: T };

export type Batches<T> = {
  /** Resolves when the queue has accepted the message; rejects with the queue's error for it. */
  add(entry: Entry<T>): Promise<void>;
};

/** Sends a batch, and returns for each of its entries the error, if any. */
export type Post<T> = (entries: readonly T[]) => Promise<readonly (Error | undefined)[]>;

const largest = 10;
const atOnce = 8;

type Waiting<T> = Entry<T> & { readonly resolve: () => void; readonly reject: (cause: unknown) => void };

/** Takes the next messages to send: a group with messages in flight waits, so that they cannot overtake each other. */
const takeFrom = <T>(waiting: Waiting<T>[], busy: ReadonlySet<string>): readonly Waiting<T>[] => {
  const taken: Waiting<T>[] = [];
  for (let at = 0; at < waiting.length && taken.length < largest; ) {
    const entry = waiting[at];
    if (entry === undefined || (entry.group !== undefined && busy.has(entry.group))) at += 1;
    else taken.push(...waiting.splice(at, 1));
  }
  return taken;
};

export const openBatches = <T>(post: Post<T>): Batches<T> => {
  const waiting: Waiting<T>[] = [];
  const busy = new Set<string>();
  let flights = 0;
  let scheduled = false;
  const fly = async (batch: readonly Waiting<T>[]): Promise<void> => {
    try {
      const wrong = await post(batch.map(({ fields }) => fields));
      for (const [at, { resolve, reject }] of batch.entries()) {
        if (wrong[at] === undefined) resolve();
        else reject(wrong[at]);
      }
    } catch (cause) {
      for (const { reject } of batch) reject(cause);
    }
  };
  const pump = (): void => {
    scheduled = false;
    while (flights < atOnce) {
      const batch = takeFrom(waiting, busy);
      if (batch.length === 0) return;
      const groups = batch.flatMap(({ group }) => (group === undefined ? [] : [group]));
      for (const group of groups) busy.add(group);
      flights += 1;
      void fly(batch).finally(() => {
        for (const group of groups) busy.delete(group);
        flights -= 1;
        pump();
      });
    }
  };
  return {
    add: (entry) =>
      new Promise((resolve, reject) => {
        waiting.push({ ...entry, resolve, reject });
        if (scheduled) return;
        scheduled = true;
        queueMicrotask(pump);
      }),
  };
};

/** URLs of the two queues. */
export type SqsQueues = { readonly fifo: string; readonly delay: string };

type Fields = {
  readonly MessageBody: string;
  readonly DelaySeconds?: number;
  readonly MessageGroupId?: string;
  readonly MessageDeduplicationId?: string;
};

type SendEntry = Fields & { readonly Id: string };

const longestDelayS = 900;
const againMs = 200;

type Failed = { readonly Id: string; readonly SenderFault: boolean; readonly error: Error };

const sendOne = async (sqs: Sqs, url: string, fields: Fields): Promise<void> => {
  await sqs("SendMessage", url, ({ client, sdk }, limits) =>
    client.send(new sdk.SendMessageCommand({ QueueUrl: url, ...fields }), limits),
  );
};

/** Sends a batch; returns the entries that the queue did not accept. */
const sendMany = async (sqs: Sqs, url: string, entries: readonly SendEntry[]): Promise<readonly Failed[]> => {
  const { Failed = [] } = await sqs("SendMessage", url, ({ client, sdk }, limits) =>
    client.send(new sdk.SendMessageBatchCommand({ QueueUrl: url, Entries: [...entries] }), limits),
  );
  return Failed.map(({ Id = "", SenderFault = false, Code = "", Message }) => ({
    Id,
    SenderFault,
    error: refusalOf("SendMessage", url, Object.assign(new Error(Message ?? Code), { name: Code })),
  }));
};

/** Sends a batch, and once more the entries that failed at the queue's fault; its refusals are final. */
const post =
  (sqs: Sqs, url: string) =>
  async (batch: readonly Fields[]): Promise<readonly (Error | undefined)[]> => {
    const [first, ...others] = batch;
    if (first === undefined) return [];
    if (others.length === 0) {
      await sendOne(sqs, url, first);
      return [undefined];
    }
    const entries = batch.map((fields, at) => ({ Id: String(at), ...fields }));
    const failed = await sendMany(sqs, url, entries);
    const again = entries.filter(({ Id }) => failed.some((one) => one.Id === Id && !one.SenderFault));
    if (again.length > 0) await new Promise((resolve) => setTimeout(resolve, againMs));
    const still = again.length === 0 ? [] : await sendMany(sqs, url, again);
    const refused = failed.filter((one) => one.SenderFault);
    return entries.map(({ Id }) => [...refused, ...still].find((one) => one.Id === Id)?.error);
  };

/** Sends keys to the FIFO queue, one group per key. */
export const sqsSender = (fifo: string, sqs: Sqs = openSqs()): Queue["send"] => {
  const batches = openBatches(post(sqs, fifo));
  return (message, id) => {
    const group = groupOf(message);
    const fields = {
      MessageBody: JSON.stringify(withShortReason(message)),
      MessageGroupId: group,
      MessageDeduplicationId: id,
    };
    return batches.add({ group, fields });
  };
};

/**
 * Opens the queue. Delays are cut to SQS's 900 s: `wakeAt` in the record is authoritative, and a resync sends later
 * timers.
 */
export const sqsQueue = (queues: SqsQueues, sqs: Sqs = openSqs()): Queue => {
  const later = openBatches(post(sqs, queues.delay));
  return {
    send: sqsSender(queues.fifo, sqs),
    sendLater: (message, id, delayMs) => {
      const MessageBody = JSON.stringify({ message: withShortReason(message), id });
      const DelaySeconds = Math.min(longestDelayS, Math.max(0, Math.ceil(delayMs / 1_000)));
      return later.add({ group: undefined, fields: { MessageBody, DelaySeconds } });
    },
  };
};
