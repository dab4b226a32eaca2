/** A queue as the conformance suite uses it, independent of its implementation: sending, delivery, and time. */
import type { Message } from "../../../shared/core/key.ts";
import type { Queue } from "../../../shared/engine/ports.ts";

/** One message of a delivery. */
export type Handed = { readonly message: Message; readonly received: number; readonly token: unknown };

export type Counter = Queue & {
  /** Receives one batch of at most ten messages, including due timers. */
  receive(): Promise<readonly Handed[]>;
  /** Receives one batch, and waits up to `waitMs` for it. */
  poll(waitMs: number): Promise<readonly Handed[]>;
  /** Acknowledges all deliveries of some groups. */
  acknowledge(handed: readonly Handed[]): Promise<void>;
  /** Returns the deliveries to the queue after `delayMs`. */
  giveBack(handed: readonly Handed[], delayMs: number): Promise<void>;
  /** Advances the time. */
  pass(ms: number): Promise<void>;
  /** Returns the reasons of the messages in the dead-letter queue. */
  dead(): Promise<readonly string[]>;
  /** Requests beyond the port; undefined for a queue that has none. */
  readonly raw?: Raw;
};

/** Requests beyond the port that SQS itself refuses. */
export type Raw = {
  sendDelayedToFifo(): Promise<string>;
  sendLarge(): Promise<string>;
  sendTo(url: "missing" | "standard"): Promise<string>;
};

/** The visibility timeout, and the largest number of deliveries: more than the intake needs to give a key up. */
export const visibilityMs = 2_000;
export const maxReceives = 5;

export const messageOf = (name: string, reason: string): Message => ({
  cluster: "here",
  kind: "Toy",
  namespace: "ns",
  name,
  reason,
});

/** Returns `a1 a2 b1`: name and reason of each delivery. */
export const shown = (handed: readonly Handed[]): string =>
  handed.map(({ message }) => `${message.name}${message.reason}`).join(" ");

/** Returns the deliveries of one key. */
export const of = (handed: readonly Handed[], name: string): readonly Handed[] =>
  handed.filter(({ message }) => message.name === name);

/** Sends `a1 b1 a2`: to key a with reason 1, and so on, each with its own id. */
export const sendAll = async (queue: Queue, texts: string): Promise<void> => {
  for (const text of texts.split(" ")) await queue.send(messageOf(text.slice(0, 1), text.slice(1)), text);
};

/** A behaviour that every queue has. */
export type Behaviour = { readonly name: string; readonly run: (counter: Counter) => Promise<void> };
