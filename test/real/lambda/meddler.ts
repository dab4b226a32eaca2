/**
 * A proxy between functions and the queue that disturbs their messages: some arrive twice, some late and out of order.
 * It delivers every message that it accepted. It counts the requests by action.
 */
import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text as textOf } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { listening } from "../../support/port.ts";
import type { Random } from "./random.ts";

/** Probabilities per message, from 0 to 1; the longest delay. */
export type Mischief = { readonly twice: number; readonly late: number; readonly lateMs: number };

export const none: Mischief = { twice: 0, late: 0, lateMs: 0 };

export type Meddler = {
  /** The endpoint for functions, instead of the queue's own. */
  readonly endpoint: string;
  /** Returns the URL of a queue at this proxy. */
  urlOf(queueUrl: string): string;
  /** Requests so far, by action. */
  requests(): Readonly<Record<string, number>>;
  done(): { readonly twice: number; readonly late: number };
  /** Sends one of the recent messages again; false if there is none. */
  echo(): boolean;
  /** Number of accepted messages that are not yet delivered. */
  held(): number;
  close(): Promise<void>;
};

type Options = {
  readonly endpoint: string;
  readonly random: Random;
  readonly mischief: () => Mischief;
  /** Called with every message, and the delay that it asks for, when a function sends it. */
  readonly heard?: (queueUrl: string, body: string, delaySeconds: number) => void;
};

/** The number of recent messages that may be sent again. */
const remembered = 100;

const sent = z.looseObject({
  MessageBody: z.string(),
  MessageDeduplicationId: z.string().optional(),
  DelaySeconds: z.number().optional(),
});
type Sent = z.infer<typeof sent>;
const single = sent.extend({ QueueUrl: z.string() });
const batch = z.looseObject({ QueueUrl: z.string(), Entries: z.array(sent.extend({ Id: z.string() })) });
const answered = z.looseObject({
  Successful: z.array(z.looseObject({})).optional(),
  Failed: z.array(z.looseObject({})).optional(),
});

const contentType = "application/x-amz-json-1.0";
const prefix = "AmazonSQS.";

type Answer = { readonly status: number; readonly text: string };

/** Returns the answer of a queue that has accepted the message. */
const receiptOf = (message: Sent): object => ({
  MessageId: randomUUID(),
  MD5OfMessageBody: createHash("md5").update(message.MessageBody).digest("hex"),
  ...(message.MessageDeduplicationId === undefined ? {} : { SequenceNumber: String(Date.now()) }),
});

class Between implements Meddler {
  endpoint = "";
  readonly #options: Options;
  readonly #requests: Record<string, number> = {};
  readonly #holding = new Set<Promise<void>>();
  readonly #last: { readonly url: string; readonly message: Sent }[] = [];
  #twice = 0;
  #late = 0;
  readonly #server = createServer((request, response) => {
    this.#serve(request, response).catch((cause: unknown) => response.writeHead(500).end(String(cause)));
  });

  constructor(options: Options) {
    this.#options = options;
  }

  async open(): Promise<this> {
    this.endpoint = `http://127.0.0.1:${await listening(this.#server)}`;
    return this;
  }

  urlOf(queueUrl: string): string {
    return `${this.endpoint}${new URL(queueUrl).pathname}`;
  }

  requests(): Readonly<Record<string, number>> {
    return { ...this.#requests };
  }

  done(): { readonly twice: number; readonly late: number } {
    return { twice: this.#twice, late: this.#late };
  }

  echo(): boolean {
    const one = this.#last[Math.floor(this.#options.random() * this.#last.length)];
    if (one === undefined) return false;
    this.#again(one.url, one.message, 0);
    return true;
  }

  held(): number {
    return this.#holding.size;
  }

  async close(): Promise<void> {
    await Promise.all(this.#holding);
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const action = String(request.headers["x-amz-target"] ?? "").slice(prefix.length);
    this.#requests[action] = (this.#requests[action] ?? 0) + 1;
    const { status, text } = await this.#answer(action, await textOf(request));
    response.writeHead(status, { "content-type": contentType }).end(text);
  }

  async #answer(action: string, text: string): Promise<Answer> {
    if (action === "SendMessage") return this.#one(text);
    if (action === "SendMessageBatch") return this.#many(text);
    return this.#ask(action, text);
  }

  async #one(text: string): Promise<Answer> {
    const { QueueUrl, ...message } = single.parse(JSON.parse(text));
    if (this.#meddle(QueueUrl, message)) return { status: 200, text: JSON.stringify(receiptOf(message)) };
    return this.#ask("SendMessage", text);
  }

  async #many(text: string): Promise<Answer> {
    const given = batch.parse(JSON.parse(text));
    const late = given.Entries.filter(({ Id: _, ...message }) => this.#meddle(given.QueueUrl, message));
    if (late.length === 0) return this.#ask("SendMessageBatch", text);
    const Entries = given.Entries.filter((entry) => !late.includes(entry));
    const taken = late.map(({ Id, ...message }) => ({ Id, ...receiptOf(message) }));
    if (Entries.length === 0) return { status: 200, text: JSON.stringify({ Successful: taken, Failed: [] }) };
    const answer = await this.#ask("SendMessageBatch", JSON.stringify({ ...given, Entries }));
    if (answer.status !== 200) return answer;
    const { Successful = [], Failed = [] } = answered.parse(JSON.parse(answer.text));
    return { status: 200, text: JSON.stringify({ Successful: [...Successful, ...taken], Failed }) };
  }

  /** Returns true if the message is delayed; it is delivered later. */
  #meddle(url: string, message: Sent): boolean {
    const { random, mischief, heard } = this.#options;
    heard?.(url, message.MessageBody, message.DelaySeconds ?? 0);
    this.#last.push({ url, message });
    if (this.#last.length > remembered) this.#last.shift();
    const { twice, late, lateMs } = mischief();
    const drawn = random();
    if (drawn < late) {
      this.#late += 1;
      this.#later(url, message, random() * lateMs);
      return true;
    }
    if (drawn < late + twice) this.#again(url, message, random() * lateMs);
    return false;
  }

  /** A FIFO queue would silently drop a copy with the same id. */
  #again(url: string, message: Sent, afterMs: number): void {
    const id = message.MessageDeduplicationId;
    this.#twice += 1;
    this.#later(url, id === undefined ? message : { ...message, MessageDeduplicationId: randomUUID() }, afterMs);
  }

  #later(url: string, message: Sent, afterMs: number): void {
    const holding: Promise<void> = (async () => {
      await sleep(afterMs);
      const { status, text } = await this.#ask("SendMessage", JSON.stringify({ QueueUrl: url, ...message }));
      if (status !== 200) console.error(`the queue refused a message that was held back: ${text}`);
    })()
      .catch((error: unknown) => console.error(`a message that was held back is lost: ${String(error)}`))
      .finally(() => this.#holding.delete(holding));
    this.#holding.add(holding);
  }

  async #ask(action: string, body: string): Promise<Answer> {
    const headers = { "content-type": contentType, "x-amz-target": `${prefix}${action}` };
    const reply = await fetch(this.#options.endpoint, { method: "POST", headers, body });
    return { status: reply.status, text: await reply.text() };
  }
}

export const openMeddler = (options: Options): Promise<Meddler> => new Between(options).open();
