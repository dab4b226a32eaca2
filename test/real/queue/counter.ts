/** A queue as the conformance suite sees it, whatever it is made of: what goes in, what is handed over, and time. */
import type { Message } from "../../../shared/core/key.ts";
import type { Queue } from "../../../shared/engine/ports.ts";

/** One message of a delivery. */
export type Handed = { readonly message: Message; readonly received: number; readonly token: unknown };

export type Counter = Queue & {
  /** One batch of at most ten messages, timers that are due among them. */
  receive(): Promise<readonly Handed[]>;
  /** The same, waiting for it. */
  poll(waitMs: number): Promise<readonly Handed[]>;
  /** All that was handed over of some groups is done. */
  acknowledge(handed: readonly Handed[]): Promise<void>;
  /** The same comes back after so long. */
  giveBack(handed: readonly Handed[], delayMs: number): Promise<void>;
  /** Lets time go by. */
  pass(ms: number): Promise<void>;
  /** Reasons of the messages that were delivered too often. */
  dead(): Promise<readonly string[]>;
  /** Texts that are not sent the usual way; undefined where there is no such way. */
  readonly raw?: Raw;
};

/** Past the port, to what SQS itself refuses. */
export type Raw = {
  sendDelayedToFifo(): Promise<string>;
  sendLarge(): Promise<string>;
  sendTo(url: "missing" | "standard"): Promise<string>;
};

/** How long a delivery stays hidden, and how often there is one: oftener than it takes until a key is let go of. */
export const visibilityMs = 2_000;
export const maxReceives = 5;

export const messageOf = (name: string, reason: string): Message => ({
  cluster: "here",
  kind: "Toy",
  namespace: "ns",
  name,
  reason,
});

/** `a1 a2 b1`: name and reason of what was handed over. */
export const shown = (handed: readonly Handed[]): string =>
  handed.map(({ message }) => `${message.name}${message.reason}`).join(" ");

/** What was handed over of one key. */
export const of = (handed: readonly Handed[], name: string): readonly Handed[] =>
  handed.filter(({ message }) => message.name === name);

/** Sends `a1 b1 a2`: to key a with reason 1, and so on, each under an id of its own. */
export const sendAll = async (queue: Queue, texts: string): Promise<void> => {
  for (const text of texts.split(" ")) await queue.send(messageOf(text.slice(0, 1), text.slice(1)), text);
};
