/**
 * The queue on SQS: a FIFO queue for keys, a standard queue for timers. Sends are collected into batches of at most
 * ten messages, several requests at once, each group in its order. Each request is limited in time and tries; an error
 * becomes one line that names the queue and what to change.
 */

import * as z from "zod";
import { ApiError } from "../../core/http.ts";
import { groupOf, type Message } from "../../core/key.ts";
import type { Queue } from "../../engine/ports.ts";
import type { Calls, Signer } from "../aws.ts";

type Meaning = { readonly reason: string; readonly text: (what: string) => string };

const missing: Meaning = {
  reason: "QueueMissing",
  text: () => "there is no such queue: create it, or correct its URL",
};
const forbidden: Meaning = {
  reason: "QueueForbidden",
  text: (what) => `no permission: allow sqs:${what} on it to the role that this runs as`,
};
const unknown: Meaning = {
  reason: "QueueForbidden",
  text: () =>
    "AWS does not accept the credentials: give this process a role, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or correct this machine's clock if it is wrong by minutes",
};
const throttled: Meaning = { reason: "QueueThrottled", text: () => "too many requests for it" };
const tooLarge: Meaning = { reason: "QueueRefused", text: () => "the message is larger than the queue takes" };

/** By the error's name in either of SQS's two protocols. */
const meanings: Readonly<Record<string, Meaning>> = {
  QueueDoesNotExist: missing,
  "AWS.SimpleQueueService.NonExistentQueue": missing,
  AccessDenied: forbidden,
  AccessDeniedException: forbidden,
  InvalidClientTokenId: unknown,
  UnrecognizedClientException: unknown,
  SignatureDoesNotMatch: unknown,
  InvalidSignatureException: unknown,
  RequestExpired: unknown,
  ExpiredToken: unknown,
  CredentialsProviderError: unknown,
  RequestThrottled: throttled,
  ThrottlingException: throttled,
  OverLimit: throttled,
  BatchRequestTooLong: tooLarge,
  TimeoutError: { reason: "QueueUnreachable", text: () => "no answer in time" },
  AbortError: { reason: "QueueUnreachable", text: () => "no answer in time" },
};

const firstLine = (text: string): string => text.split("\n")[0]?.slice(0, 300) ?? "";

const nameAndText = (cause: unknown): { readonly name: string; readonly text: string } => {
  if (!(cause instanceof Error)) return { name: "", text: firstLine(String(cause)) };
  const code = "code" in cause ? String(cause.code) : "";
  return { name: cause.name, text: firstLine(cause.message) || code || cause.name };
};

/** True if a FIFO queue was used as a standard queue, or the other way round. */
const isOtherKind = (text: string): boolean => /MessageGroupId|MessageDeduplicationId|FIFO queue/i.test(text);

/** True if the request was signed for another region than the queue's. */
const isElsewhere = (text: string): boolean =>
  /scoped to a valid region|specified queue does not exist.*region/i.test(text);

/** Returns the error to throw. `what` is the SQS action. The error contains nothing of a message. */
const refusalOf = (what: string, queue: string, cause: unknown): ApiError => {
  if (cause instanceof ApiError) return cause;
  const { name, text } = nameAndText(cause);
  const known = Object.hasOwn(meanings, name) ? meanings[name] : undefined;
  const apiError = (reason: string, message: string): ApiError =>
    new ApiError({ status: 0, reason, message: `SQS ${what} ${queue}: ${message}`, cause });
  if (isElsewhere(text))
    return apiError("QueueElsewhere", "it is in another region than AWS_REGION: correct its URL, or AWS_REGION");
  if (known !== undefined) return apiError(known.reason, known.text(what));
  if (isOtherKind(text))
    return apiError(
      "QueueMismatch",
      `keys need a FIFO queue, and timers need a standard queue; this is the other kind (${text})`,
    );
  return apiError("QueueUnreachable", text);
};

/** Time limit of one try, and of all tries of one request together, ms. */
const tryMs = 5_000;
const requestMs = 12_000;

type RequestLimits = {
  /** Added to the time limits for a long poll, ms. */
  readonly pollMs?: number;
  /** In place of both time limits, ms. */
  readonly withinMs?: number;
};

/** Sends a request about `queue`, and returns its answer; rejects with one line about the queue. */
export type Sqs = (
  action: string,
  queue: string,
  input: object,
  patience?: RequestLimits,
) => Promise<Readonly<Record<string, unknown>>>;

/** Returns the signer of the AWS client, which finds credentials and region where no variable has them. */
const clientSigner = async (): Promise<Signer> => {
  const { SQSClient } = await import("@aws-sdk/client-sqs");
  const { config } = new SQSClient({});
  return { credentials: config.credentials, region: config.region };
};

/** Opens the calls; nothing is loaded before the first request. */
export const openSqs = (): Sqs => {
  let loading: Promise<Calls> | undefined;
  const load = async (): Promise<Calls> => {
    const { openCalls } = await import("../aws.ts");
    return openCalls({ name: "sqs", target: "AmazonSQS", client: clientSigner, env: process.env });
  };
  return async (action, queue, input, { pollMs = 0, withinMs } = {}) => {
    const limits = { tryMs: withinMs ?? tryMs + pollMs, callMs: withinMs ?? requestMs + pollMs };
    loading ??= load();
    try {
      const calls = await loading;
      return await calls({ action, endpoint: queue, input: { QueueUrl: queue, ...input }, ...limits });
    } catch (cause) {
      // A right is named after the action of one message, also where a request has ten.
      throw refusalOf(action.replace(/Batch$/, ""), queue, cause);
    }
  };
};

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
const longestReason = 200;
const againMs = 200;

/** Shortens the reason, which may contain a long name: a receiver rejects longer ones. */
const readable = (message: Message): Message => ({ ...message, reason: message.reason.slice(0, longestReason) });

type Failed = { readonly Id: string; readonly SenderFault: boolean; readonly error: Error };

/** The entries that the queue did not accept. */
const failedShape = () =>
  z.object({
    Failed: z
      .array(
        z.object({
          Id: z.string(),
          SenderFault: z.boolean().default(false),
          Code: z.string().default(""),
          Message: z.string().optional(),
        }),
      )
      .nullish(),
  });

const sendOne = async (sqs: Sqs, url: string, fields: Fields): Promise<void> => {
  await sqs("SendMessage", url, fields);
};

/** Sends a batch; returns the entries that the queue did not accept. */
const sendMany = async (sqs: Sqs, url: string, Entries: readonly SendEntry[]): Promise<readonly Failed[]> => {
  const { Failed } = failedShape().parse(await sqs("SendMessageBatch", url, { Entries }));
  return (Failed ?? []).map(({ Id, SenderFault, Code, Message }) => ({
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
      MessageBody: JSON.stringify(readable(message)),
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
      const MessageBody = JSON.stringify({ message: readable(message), id });
      const DelaySeconds = Math.min(longestDelayS, Math.max(0, Math.ceil(delayMs / 1_000)));
      return later.add({ group: undefined, fields: { MessageBody, DelaySeconds } });
    },
  };
};
