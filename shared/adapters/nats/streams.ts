/**
 * The streams of one queue: its messages and timers, the locks of its groups, and the messages that were delivered too
 * often; and the consumer that its workers share. They are created where they are missing; an operator may create them
 * with more replicas or with limits. Senders store a message under the subject of its group, a timer as a schedule
 * whose target is that subject. An id vanishes for five minutes.
 */
import * as z from "zod";
import { groupOf, type Message, withShortReason } from "../../core/key.ts";
import type { Queue } from "../../engine/ports.ts";
import { openPlaces } from "../places.ts";
import { type Headers, type Nats, Refused, refusalOf, streamMissing } from "./connection.ts";

/** Names and subjects of a queue. */
export type Names = {
  readonly queue: string;
  readonly locks: string;
  readonly dead: string;
  readonly key: (group: string) => string;
  readonly timer: (group: string, id: string) => string;
  readonly lock: (group: string) => string;
  readonly burial: (group: string) => string;
  /** Subject on which a worker says that a group is free again. */
  readonly free: string;
};

/** Name of the consumer of all workers. */
export const consumer = "steps";

export const namesOf = (queue: string): Names => ({
  queue,
  locks: `${queue}-locks`,
  dead: `${queue}-dead`,
  key: (group) => `${queue}.k.${group}`,
  timer: (group, id) => `${queue}.at.${group}.${id}`,
  lock: (group) => `${queue}.l.${group}`,
  burial: (group) => `${queue}.dead.${group}`,
  free: `${queue}.free`,
});

const nanosecondsPerMs = 1_000_000;
/** Ids within this time vanish, ms. */
const dedupeMs = 300_000;
const keepDeadMs = 14 * 24 * 3_600_000;
const mostDead = 10_000;
const largestMessage = 65_536;
/** Messages that workers hold or work on together. */
const mostUnacknowledged = 20_000;

const fileStream = (name: string, subjects: readonly string[]) => ({
  name,
  subjects,
  storage: "file",
  num_replicas: 1,
});

/** Locks are on disk, too: a server that restarts would forget those in memory while their steps run on. */
const streamsOf = ({ queue, locks, dead, key, timer, lock, burial }: Names) => [
  {
    ...fileStream(queue, [key("*"), timer("*", "*")]),
    retention: "workqueue",
    max_msg_size: largestMessage,
    duplicate_window: dedupeMs * nanosecondsPerMs,
    allow_msg_schedules: true,
  },
  { ...fileStream(locks, [lock("*")]), max_msgs_per_subject: 1, allow_msg_ttl: true },
  { ...fileStream(dead, [burial("*")]), max_age: keepDeadMs * nanosecondsPerMs, max_msgs: mostDead },
];

const infoShape = z.object({
  ts: z.string(),
  config: z.object({
    retention: z.string(),
    max_msgs_per_subject: z.number().catch(-1),
    allow_msg_schedules: z.boolean().catch(false),
    allow_msg_ttl: z.boolean().catch(false),
  }),
});

type DesiredStream = ReturnType<typeof streamsOf>[number];

/** Returns what an operator's stream lacks; undefined: nothing. */
const lacks = (desired: DesiredStream, { config }: z.infer<typeof infoShape>): string | undefined => {
  if ("retention" in desired && config.retention !== desired.retention) return `retention ${desired.retention}`;
  if ("allow_msg_schedules" in desired && !config.allow_msg_schedules) return "allow_msg_schedules";
  if ("allow_msg_ttl" in desired && !config.allow_msg_ttl) return "allow_msg_ttl";
  if ("max_msgs_per_subject" in desired && config.max_msgs_per_subject !== 1) return "max_msgs_per_subject 1";
  return undefined;
};

const infoOf = async (nats: Nats, name: string): Promise<z.infer<typeof infoShape> | undefined> => {
  try {
    return infoShape.parse(await nats.ask(`$JS.API.STREAM.INFO.${name}`));
  } catch (cause) {
    if (cause instanceof Refused && cause.code === streamMissing) return undefined;
    throw cause;
  }
};

/** Creates a stream unless it is there. */
const ensureStream = async (nats: Nats, desired: DesiredStream): Promise<void> => {
  const there = await infoOf(nats, desired.name);
  const { ts, config } = there ?? infoShape.parse(await nats.ask(`$JS.API.STREAM.CREATE.${desired.name}`, desired));
  const missing = lacks(desired, { ts, config });
  if (missing === undefined) return;
  throw new Error(`the stream ${desired.name} lacks ${missing}: give it that, or remove it and let Rekindle create it`);
};

export type Clock = {
  /** The server's time, epoch ms; never behind it. */
  readonly now: () => number;
};

const clockOf = async (nats: Nats, { queue }: Names): Promise<Clock> => {
  const startedAt = performance.now();
  const at = Date.parse((await infoOf(nats, queue))?.ts ?? "");
  if (Number.isNaN(at)) throw new Error(`the stream ${queue} is gone`);
  return { now: () => at + performance.now() - startedAt };
};

/**
 * Creates what is missing of a queue. The consumer exists before the first worker does, because a scaler would take
 * every message ever sent for its lag. Returns the server's clock.
 */
const ensureQueue = async (nats: Nats, names: Names, visibilityMs: number): Promise<Clock> => {
  await Promise.all(streamsOf(names).map((desired) => ensureStream(nats, desired)));
  await nats.ask(`$JS.API.CONSUMER.CREATE.${names.queue}.${consumer}.${names.key("*")}`, {
    stream_name: names.queue,
    config: {
      durable_name: consumer,
      name: consumer,
      filter_subject: names.key("*"),
      ack_policy: "explicit",
      ack_wait: visibilityMs * nanosecondsPerMs,
      max_deliver: -1,
      max_ack_pending: mostUnacknowledged,
    },
  });
  return await clockOf(nats, names);
};

const stateShape = z.object({ state: z.object({ messages: z.number() }) });
const progressShape = z.object({ num_pending: z.number(), num_ack_pending: z.number() });

/** Messages that wait or are out, and timers that are not due. */
export type Depth = { readonly ready: number; readonly delayed: number };

export const depthOf = async (nats: Nats, { queue }: Names): Promise<Depth> => {
  const { state } = stateShape.parse(await nats.ask(`$JS.API.STREAM.INFO.${queue}`));
  const progress = progressShape.parse(await nats.ask(`$JS.API.CONSUMER.INFO.${queue}.${consumer}`));
  const ready = progress.num_pending + progress.num_ack_pending;
  return { ready, delayed: Math.max(0, state.messages - ready) };
};

/** Publishes under way: more of them outrun the server, and time out. */
const mostUnderWay = 500;

/** Opens a queue once: its streams are created by the first caller. A failure is forgotten, so that the next one tries again. */
export const opening = (nats: Nats, names: Names, visibilityMs: number): (() => Promise<Clock>) => {
  let opened: Promise<Clock> | undefined;
  nats.onReconnect(() => {
    opened = undefined;
  });
  return async () => {
    opened ??= ensureQueue(nats, names, visibilityMs);
    try {
      return await opened;
    } catch (cause) {
      opened = undefined;
      throw refusalOf("open", names.queue, cause);
    }
  };
};

type Options = { readonly nats: Nats; readonly names: Names; readonly open: () => Promise<Clock> };

export const natsQueue = ({ nats, names, open }: Options): Queue => {
  const { within } = openPlaces(mostUnderWay);
  const publish = (subject: string, message: Message, headers: Headers): Promise<void> =>
    within(async () => {
      try {
        await nats.ask(subject, JSON.stringify(withShortReason(message)), headers);
      } catch (cause) {
        throw refusalOf("publish", names.queue, cause);
      }
    });
  return {
    send: async (message, id) => {
      await open();
      await publish(names.key(groupOf(message)), message, { "Nats-Msg-Id": id });
    },
    sendLater: async (message, id, delayMs) => {
      const clock = await open();
      const group = groupOf(message);
      await publish(names.timer(group, id), message, {
        "Nats-Msg-Id": id,
        "Nats-Schedule": `@at ${new Date(Math.ceil(clock.now() + Math.max(0, delayMs))).toISOString()}`,
        "Nats-Schedule-Target": names.key(group),
      });
    },
  };
};
