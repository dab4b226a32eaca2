/**
 * Polling of a queue, for deployments that poll: what is received is taken, and acknowledged or given back. A limited number
 * of deliveries runs at once, group by group, so a slow group does not delay the others.
 */
import { backoffOf } from "../core/time.ts";
import type { Report } from "../engine/ports.ts";

/** One delivery of a message. */
export type Received = {
  readonly id: string;
  readonly receipt: string;
  /** Undefined on a standard queue. */
  readonly group: string | undefined;
  readonly body: string;
  /** The number of deliveries of the message, this one included. */
  readonly received: number;
  /** The time at which the queue took the message, epoch ms; undefined where the queue does not say it. */
  readonly sentAt: number | undefined;
};

export type Receiver = {
  /** Returns at most one batch; waits up to `waitMs` for its first message. */
  receive(waitMs: number): Promise<readonly Received[]>;
  /** Removes the messages. An expired receipt does no harm. */
  acknowledge(messages: readonly Received[]): Promise<void>;
  /** Returns the messages after `delayMs`; their groups stay locked until then. */
  giveBack(messages: readonly Received[], delayMs: number): Promise<void>;
  /** Ends polls, and returns messages that wait in this process. Absent: none do. */
  close?(): Promise<void>;
};

export type Poller = {
  /** Receives no new messages, and resolves when those in hand are done or `graceMs` has passed. */
  stop(graceMs: number): Promise<void>;
};

type PollOptions = {
  readonly receiver: Receiver;
  /** Takes messages of one group (of a standard queue: all of a batch); returns the ids of those to deliver again. */
  readonly take: (messages: readonly Received[]) => Promise<readonly string[]>;
  /** Batches in hand at once. */
  readonly parallel: number;
  /** The wait before a failed message is delivered again, ms. */
  readonly againMs: number;
  readonly report: Report;
  readonly pause: (ms: number) => Promise<void>;
};

const pollMs = 20_000;
const longestWaitMs = 30_000;

const byGroup = (messages: readonly Received[]): readonly (readonly Received[])[] => {
  const groups = new Map<string, Received[]>();
  for (const message of messages) {
    const name = message.group ?? "";
    groups.set(name, [...(groups.get(name) ?? []), message]);
  }
  return [...groups.values()];
};

/** Takes the messages of one group, then acknowledges them or gives them back at once. */
const settle = async (
  { receiver, take, againMs, report }: PollOptions,
  messages: readonly Received[],
): Promise<void> => {
  const failed = new Set(await take(messages).catch(() => messages.map(({ id }) => id)));
  try {
    await receiver.acknowledge(messages.filter(({ id }) => !failed.has(id)));
    await receiver.giveBack(
      messages.filter(({ id }) => failed.has(id)),
      againMs,
    );
  } catch (cause) {
    // The messages return when their visibility timeout ends, and their steps then find nothing to do.
    report("warn", "messages could not be acknowledged", { error: String(cause), messages: messages.length });
  }
};

/** Polls until it is stopped; a queue that cannot be reached is retried with growing waits. */
export const startPoller = (options: PollOptions): Poller => {
  const { receiver, report, pause, parallel } = options;
  let stopping = false;
  const loop = async (): Promise<void> => {
    for (let failures = 0; !stopping; ) {
      try {
        const messages = await receiver.receive(pollMs);
        failures = 0;
        await Promise.all(byGroup(messages).map((group) => settle(options, group)));
      } catch (cause) {
        if (stopping) return;
        const waitMs = backoffOf(failures, 500, longestWaitMs);
        failures += 1;
        report("warn", "the queue cannot be read, trying again", { error: String(cause), waitMs });
        await pause(waitMs);
      }
    }
  };
  const loops = Promise.all(Array.from({ length: parallel }, loop));
  return {
    stop: async (graceMs) => {
      stopping = true;
      await receiver.close?.();
      const grace = new Promise<void>((resolve) => setTimeout(resolve, graceMs).unref());
      await Promise.race([loops, grace]);
    },
  };
};
