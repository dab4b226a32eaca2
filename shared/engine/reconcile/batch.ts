/**
 * Takes a batch of messages: the messages of one key are one step, keys run in parallel, and only the messages of
 * failed steps are delivered again.
 */
import { idOf, type Message, textOf } from "../../core/key.ts";
import { along, type Ending, type World } from "../context/world.ts";
import { step } from "./step.ts";

/**
 * Merges the messages of one key: the newest one, with the fewest tries of all, because a new message starts the
 * backoff again.
 */
export const merged = (messages: readonly [Message, ...Message[]]): Message => {
  const tries = Math.min(...messages.map((message) => message.tries ?? 0));
  const { tries: _, watched, ...newest } = messages[messages.length - 1] ?? messages[0];
  // A message without `watched` asks for live reads.
  const all = watched === true && messages.every((message) => message.watched === true);
  // Of two notices about one node, the earlier end counts.
  const until = Math.min(...messages.map((message) => message.until ?? Number.POSITIVE_INFINITY));
  const ends = Number.isFinite(until) ? { until } : {};
  return { ...newest, ...(all ? { watched } : {}), ...(tries === 0 ? {} : { tries }), ...ends };
};

/** A message, the queue's id of it, and the time at which the queue took it, epoch ms, if it says so. */
export type Envelope = { readonly id: string; readonly message: Message; readonly sentAt?: number | undefined };

/** Returns the time at which the queue took the oldest of the messages, epoch ms. */
const oldestOf = (group: readonly Envelope[]): number | undefined => {
  const times = group.flatMap(({ sentAt }) => sentAt ?? []);
  return times.length === 0 ? undefined : Math.min(...times);
};

const byKey = (batch: readonly Envelope[]): readonly (readonly Envelope[])[] => {
  const groups = new Map<string, Envelope[]>();
  for (const envelope of batch) {
    const key = textOf(envelope.message);
    groups.set(key, [...(groups.get(key) ?? []), envelope]);
  }
  return [...groups.values()];
};

/** Ids of the traces of the other messages that this step serves. */
const others = (messages: readonly Message[], own: Message): { readonly also?: readonly string[] } => {
  const traces = new Set(messages.flatMap(({ trace }) => (trace === undefined || trace === own.trace ? [] : [trace])));
  return traces.size === 0 ? {} : { also: [...traces].map(idOf) };
};

/**
 * Takes one step for the messages of a key and reports it at the given level; undefined if the step threw, because it
 * could not even requeue the key.
 */
export const take = async (
  world: World,
  messages: readonly Message[],
  level: "debug" | "info" = "debug",
): Promise<Ending | undefined> => {
  const [first, ...more] = messages;
  if (first === undefined) return { did: "nothing", why: "no message" };
  const message = merged([first, ...more]);
  const about = { key: textOf(message), for: message.reason, ...others(messages, message) };
  return await along(world, message, async () => {
    try {
      const ending = await step(world, message);
      world.report(level, "step", { ...about, ...ending });
      return ending;
    } catch (cause) {
      const error = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
      world.report("error", "a step failed and will be delivered again", { ...about, error });
      return undefined;
    }
  });
};

/**
 * Returns the ids of the messages that must be delivered again: all messages of each key whose step failed, and no
 * others.
 */
export const takeBatch = async (world: World, batch: readonly Envelope[]): Promise<readonly string[]> => {
  const failed = await Promise.all(
    byKey(batch).map(async (group) => {
      const began = world.clock.monotonic();
      const ending = await take(
        world,
        group.map((envelope) => envelope.message),
        "info",
      );
      const tookMs = world.clock.monotonic() - began;
      const message = group[0]?.message;
      if (message !== undefined) {
        world.share?.took(message.namespace, tookMs);
        world.ended?.({ message, ending, tookMs, sentAt: oldestOf(group) });
      }
      return ending === undefined ? group.map((envelope) => envelope.id) : [];
    }),
  );
  return failed.flat();
};
