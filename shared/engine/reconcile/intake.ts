/**
 * Turns deliveries of a queue into steps. The messages of one key are one step, keys run in parallel, and only the
 * messages of failed steps are delivered again. A body that is no message is dropped. A message that is delivered
 * again and again is first sent on its own, then given up with an Event, so that neither a bad message nor a bad
 * object blocks its group or other keys.
 */
import { omit } from "../../core/json.ts";
import { dedupe, groupOf, idOf, type Message, subjectOf, textOf, timerReason } from "../../core/key.ts";
import type { Trouble } from "../../core/plan.ts";
import { type Ending, type World, withTrace } from "../context/world.ts";
import { isNewer, mostReplaced, readMessage } from "../message.ts";
import { readLive } from "../reads/live.ts";
import { publishTrouble, type RequeueContext, requeue } from "../writes/requeue.ts";
import { step } from "./step.ts";

/**
 * Returns the reason of the messages together: the newest. A step's timer may be outdated, so it hides no other message;
 * a delivery's never is.
 */
const reasonOf = (messages: readonly Message[], last: Message): string => {
  const isStep = subjectOf(last) === undefined;
  const newest = isStep ? messages.findLast(({ reason }) => reason !== timerReason) : undefined;
  return (newest ?? last).reason;
};

/** Of two notices about one node, the earlier end counts; those before one that takes them back do not. */
const endIn = (messages: readonly Message[]): Pick<Message, "until" | "stays"> => {
  const back = messages.findLastIndex(({ stays }) => stays === true);
  const until = Math.min(...messages.slice(Math.max(0, back)).map((one) => one.until ?? Number.POSITIVE_INFINITY));
  return { ...(Number.isFinite(until) ? { until } : {}), ...(back < 0 ? {} : { stays: true }) };
};

/** Returns the changes of all messages that a merged message must wait for, and its fewest looks. */
const allReplaced = (messages: readonly Message[]): Pick<Message, "after" | "looks"> => {
  const all = new Map(messages.flatMap(({ after = [] }) => after.map((one) => [JSON.stringify(one), one] as const)));
  if (all.size === 0) return {};
  const looks = Math.min(...messages.flatMap((one) => (one.after === undefined ? [] : (one.looks ?? 0))));
  return { after: [...all.values()].slice(-mostReplaced), ...(looks === 0 ? {} : { looks }) };
};

/**
 * Merges the messages of one key: the newest one, with the fewest tries of all, because a new message starts the
 * backoff again.
 */
export const merged = (messages: readonly [Message, ...Message[]]): Message => {
  const tries = Math.min(...messages.map((message) => message.tries ?? 0));
  const last = messages[messages.length - 1] ?? messages[0];
  const { watched, ...newest } = omit(last, "tries", "after", "looks");
  const reason = reasonOf(messages, last);
  // A message without `watched` asks for live reads.
  const all = watched === true && messages.every((message) => message.watched === true);
  const ends = endIn(messages);
  const due = Math.max(...messages.map((message) => message.due ?? 0));
  const times = { ...ends, ...(due === 0 ? {} : { due }), ...allReplaced(messages) };
  return { ...newest, reason, ...(all ? { watched } : {}), ...(tries === 0 ? {} : { tries }), ...times };
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

/** Takes the step of the messages whose changes are visible, and puts the others off. */
const stepOf = async (world: World, message: Message, messages: readonly Message[]): Promise<Ending> => {
  if (message.after === undefined) return await step(world, message);
  // Loaded with the first message of a bell.
  const { putOff, visibleIn } = await import("./visibility.ts");
  const { visible, early } = await visibleIn(world, messages);
  await putOff(world, early, merged);
  const [first, ...more] = visible;
  if (first === undefined) return { did: "nothing", why: "its change is not visible yet" };
  return await step(world, omit(merged([first, ...more]), "after", "looks"));
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
  return await withTrace(world, message, async () => {
    try {
      const ending = await stepOf(world, message, messages);
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

/** Writes the trouble as an Event and into the record, so that a resync finds the key unfinished. */
const giveUp = async (world: World, message: Message, trouble: Trouble): Promise<void> => {
  world.report("error", "gave up on a key until its next event or resync", { key: textOf(message), ...trouble });
  const operator = world.operatorOf(message.kind);
  if (operator === undefined || world.shadow !== undefined) return;
  const observed = await readLive(world, message, operator);
  if (observed.see !== "observation") return;
  const { observation } = observed;
  const began = world.clock.monotonic();
  const run = { world, message, operator, observation, began, looked: began };
  await publishTrouble(run, { record: observation.record, version: observation.version }, trouble);
};

/** One delivery; its body is not parsed yet. */
export type Delivered = {
  readonly id: string;
  readonly body: string;
  /** The number of deliveries of the message, this one included. */
  readonly received: number;
  /** The time at which the queue took the message, epoch ms; absent: not known. */
  readonly sentAt?: number | undefined;
};

/** A message that was delivered more often than this is not taken together with others. */
const mostReceived = 3;
/** The reason of a message that was sent on its own. */
const alone = "alone: its steps did not finish";
/** Longest body that is parsed, characters; Rekindle's messages are keys and shorter than that. */
export const longestBody = 8_192;

type Read = Envelope & Pick<Delivered, "received" | "sentAt">;

const read = (world: Pick<World, "report">, delivered: readonly Delivered[]): readonly Read[] =>
  delivered.flatMap(({ id, body, received, sentAt }): readonly Read[] => {
    const message = body.length > longestBody ? undefined : readMessage(body);
    if (message !== undefined) return [{ id, message, received, sentAt }];
    world.report("error", "dropped a message that is not Rekindle's", { id, characters: body.length });
    return [];
  });

const keyOf = ({ cluster, kind, namespace, name, until }: Message): Omit<Message, "reason"> => ({
  cluster,
  kind,
  namespace,
  name,
  ...(until === undefined ? {} : { until }),
});

/**
 * Returns the delay of a key that is sent on its own, from 1 to 17 s, so that keys that failed together come back
 * apart.
 */
const apartMs = (message: Message): number => 1_000 * (1 + (Number.parseInt(groupOf(message).slice(0, 4), 16) % 17));

/** The trouble of a message that is given up. `cause`: the error of sending it on its own. */
const troubleOf = (received: number, cause: unknown): Trouble => {
  const why = cause instanceof Error ? cause.message : "see the log";
  const message = `steps for this object were begun ${received} times in a row and did not finish: ${why}`;
  return { reason: "StepsFailed", message };
};

/** Sends the key on its own, or gives it up. True if the messages need not be delivered again. */
const setAside = async (world: World, messages: readonly Read[]): Promise<boolean> => {
  const [first] = messages;
  if (first === undefined) return true;
  const worst = messages.reduce((most, one) => (one.received > most.received ? one : most), first);
  const { message, received, id } = worst;
  const given = async (cause?: unknown): Promise<boolean> => {
    await giveUp(world, message, troubleOf(received, cause));
    return true;
  };
  try {
    if (message.reason === alone) return await given();
    world.report("warn", "steps did not finish; trying this key alone", {
      key: textOf(message),
      received,
    });
    const again = { ...keyOf(message), reason: alone };
    return await world.queue
      .sendLater(again, dedupe.timer(message, `alone ${id}`), apartMs(message))
      .then(() => true, given);
  } catch (cause) {
    world.report("error", "cannot give up on a key whose steps never finish", {
      key: textOf(message),
      error: String(cause),
    });
    return false;
  }
};

/** The bounds of the delay of a key that gives way, ms. */
const [leastWayMs, waySpreadMs] = [5_000, 15_000];

/** Returns the delay of a key that gives way, so that keys of one backlog come back apart. */
const wayMs = (message: Message): number =>
  leastWayMs + (Number.parseInt(groupOf(message).slice(0, 8), 16) % waySpreadMs);

/** True if the namespace of a key has had its share, and other namespaces may wait behind the key. */
const givesWay = ({ share }: World, group: readonly Read[]): boolean =>
  group.every(({ message, sentAt }) => sentAt !== undefined && share?.givesWay(message.namespace, sentAt) === true);

/** Sends a key to the end of the queue, by way of the delay queue. Returns the ids to deliver again. */
const sendBack = async (world: World, [first, ...others]: readonly Read[]): Promise<readonly string[]> => {
  if (first === undefined) return [];
  const message = merged([first.message, ...others.map((one) => one.message)]);
  const sent = withTrace(world, message, () =>
    world.queue.sendLater(message, dedupe.timer(message, `way ${first.id}`), wayMs(message)),
  );
  return await sent.then(
    () => [],
    () => [first, ...others].map(({ id }) => id),
  );
};

const groupsOf = (batch: readonly Read[]): readonly (readonly Read[])[] => {
  const groups = new Map<string, Read[]>();
  for (const one of batch) {
    const key = textOf(one.message);
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups.values()];
};

/** Separates the messages of a newer version, which stay in the queue for it, from those that this version takes. */
const sorted = ({ report }: Pick<World, "report">, delivered: readonly Delivered[]) => {
  const left = delivered.filter(({ body }) => body.length <= longestBody && isNewer(body)).map(({ id }) => id);
  for (const id of left) report("warn", "left a message for the newer Rekindle that sent it", { id });
  return { left, ours: delivered.filter(({ id }) => !left.includes(id)) };
};

/** Requeues all keys when no step can begin (trouble with the platform). Returns the ids to deliver again. */
export const postpone = async (
  context: RequeueContext,
  delivered: readonly Delivered[],
  trouble: Trouble,
): Promise<readonly string[]> => {
  const { left, ours } = sorted(context, delivered);
  const failed = await Promise.all(
    groupsOf(read(context, ours)).map(async ([first, ...others]): Promise<readonly string[]> => {
      if (first === undefined) return [];
      const message = merged([first.message, ...others.map((one) => one.message)]);
      const done = withTrace(context, message, () => requeue(context, message, trouble)).then(() => true);
      return (await done.catch(() => false)) ? [] : [first, ...others].map(({ id }) => id);
    }),
  );
  return [...left, ...failed.flat()];
};

/**
 * Takes the deliveries of a queue. Returns the ids of the messages that must be delivered again: all messages of each
 * failed key, and no others.
 */
export const intake = async (world: World, delivered: readonly Delivered[]): Promise<readonly string[]> => {
  const { left, ours } = sorted(world, delivered);
  const groups = groupsOf(read(world, ours));
  const isWorn = (group: readonly Read[]): boolean => group.some(({ received }) => received > mostReceived);
  const fresh = groups.filter((group) => !isWorn(group));
  const behind = fresh.filter((group) => givesWay(world, group));
  const taken = fresh.filter((group) => !behind.includes(group));
  // Keys that may end this invocation are set aside before any step begins.
  const aside = await Promise.all(
    groups.filter(isWorn).map(async (group) => {
      const [first] = group;
      const done = first === undefined || (await withTrace(world, first.message, () => setAside(world, group)));
      return done ? [] : group.map(({ id }) => id);
    }),
  );
  const back = await Promise.all(behind.map((group) => sendBack(world, group)));
  return [...left, ...aside.flat(), ...back.flat(), ...(await takeBatch(world, taken.flat()))];
};
