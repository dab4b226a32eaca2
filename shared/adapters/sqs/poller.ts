/** Takes batches off an SQS queue, so many at once, group by group: what one group waits for delays no other. */
import type { Report } from "../../engine/ports.ts";
import type { Received, Receiver } from "./receiver.ts";

export type Poller = {
  /** Receives nothing new, and resolves when what is in hand is done or `graceMs` has passed. */
  stop(graceMs: number): Promise<void>;
};

type Options = {
  readonly receiver: Receiver;
  /** Takes messages of one group (of a standard queue: all that came together); gives the ids of those that must come again. */
  readonly take: (messages: readonly Received[]) => Promise<readonly string[]>;
  /** Batches in hand at once. */
  readonly parallel: number;
  /** How long a failed message rests before it is delivered again. */
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

/** One group's messages: taken, then acknowledged or given back at once. */
const settle = async ({ receiver, take, againMs, report }: Options, messages: readonly Received[]): Promise<void> => {
  const failed = new Set(await take(messages).catch(() => messages.map(({ id }) => id)));
  try {
    await receiver.acknowledge(messages.filter(({ id }) => !failed.has(id)));
    await receiver.giveBack(
      messages.filter(({ id }) => failed.has(id)),
      againMs,
    );
  } catch (cause) {
    // They come again when their visibility ends, and are then found done.
    report("warn", "messages could not be acknowledged", { error: String(cause), messages: messages.length });
  }
};

/** Polls until told to stop; a queue that cannot be reached is tried again, less and less often. */
export const startPoller = (options: Options): Poller => {
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
        const waitMs = Math.min(longestWaitMs, 500 * 2 ** Math.min(failures, 8));
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
      const grace = new Promise<void>((resolve) => setTimeout(resolve, graceMs).unref());
      await Promise.race([loops, grace]);
    },
  };
};
