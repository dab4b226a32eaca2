/** The real embedded queue and the real coalescer with a journal, which is replayed in a fork. */
import {
  type Delivery,
  type EmbeddedQueue,
  openQueue,
  type Returned,
} from "../../../shared/adapters/embedded/queue.ts";
import { type Message, noticedKind, textOf } from "../../../shared/core/key.ts";
import type { Sending } from "../../../shared/forward/keys.ts";
import { type Coalescer, openCoalescer, usualWindows } from "../../../shared/forward/sender.ts";

type Entry =
  | { readonly at: number; readonly do: "send"; readonly message: Message; readonly id: string }
  | { readonly at: number; readonly do: "later"; readonly message: Message; readonly id: string; readonly ms: number }
  | { readonly at: number; readonly do: "receive" }
  | { readonly at: number; readonly do: "acknowledge"; readonly delivery: Delivery }
  | {
      readonly at: number;
      readonly do: "giveBack";
      readonly delivery: Delivery;
      readonly ms: number;
      readonly returned: Returned | undefined;
    }
  | { readonly at: number; readonly do: "offer"; readonly sending: Sending }
  | { readonly at: number; readonly do: "due" };

export type Journal = readonly Entry[];

/** The parts of a host that exist in its memory only. */
export type Post = {
  readonly send: (message: Message, id: string) => void;
  readonly later: (message: Message, id: string, ms: number) => void;
  readonly receive: () => Delivery | undefined;
  readonly acknowledge: (delivery: Delivery) => void;
  readonly giveBack: (delivery: Delivery, ms: number, returned?: Returned) => void;
  /** The queue that gave the delivery out: of two beside each other one of them. */
  readonly ownerOf: (delivery: Delivery) => Post;
  /** Returns the sending, if it is due at once. */
  readonly offer: (sending: Sending) => Sending | undefined;
  readonly due: () => readonly Sending[];
  readonly nextDue: () => number | undefined;
  readonly nextWindow: () => number | undefined;
  readonly waiting: () => number;
  /** All that the queue still delivers: a copy of it is emptied, each delivery acknowledged. */
  readonly left: () => readonly Left[];
  readonly journal: () => Journal;
  /** The offers to the coalescer, and the times of its questions, since no window was open: they make the open windows again. */
  readonly windows: () => Journal;
  /**
   * The journal of a restarted host: only notices that no step has taken. The sender of a notice gets its answer when
   * it is written down (see deployments/host/single-process.ts and deployments/dispatch/start.ts), and until then sends it again.
   */
  readonly untaken: () => Journal;
};

/** A delivery that is still to come. */
export type Left = Omit<Delivery, "receipt" | "namespace"> & { readonly at: number };

/** The bounds of a queue; see `openQueue`; and the longest wait of patient news, ms. */
export type Bounds = Omit<Parameters<typeof openQueue>[0], "now"> & { readonly patientMs: number };

type Insides = { readonly queue: EmbeddedQueue; readonly coalescer: Coalescer };

/** All calls resolve at once: the embedded queue is asynchronous in its type only. */
const perform = ({ queue, coalescer }: Insides, entry: Entry): unknown => {
  switch (entry.do) {
    case "send":
      return queue.send(entry.message, entry.id);
    case "later":
      return queue.sendLater(entry.message, entry.id, entry.ms);
    case "receive":
      return queue.receive(1)[0];
    case "acknowledge":
      return queue.acknowledge(entry.delivery);
    case "giveBack":
      return queue.giveBack(entry.delivery, entry.ms, entry.returned);
    case "offer":
      return coalescer.offer(entry.sending, entry.at);
    case "due":
      return coalescer.due(entry.at);
  }
};

/** A notice is taken when all messages of its key are acknowledged: one that is held up adds another. */
const untakenIn = (entries: Journal): Journal => {
  const put = entries.filter((entry) => entry.do === "send" || entry.do === "later");
  const taken = entries.flatMap((entry) => (entry.do === "acknowledge" ? entry.delivery.messages : []));
  const sent = put.filter((entry) => entry.do === "send" && noticedKind(entry.message) !== undefined);
  const first = new Map(sent.toReversed().map((entry) => [textOf(entry.message), entry]));
  return [...first].flatMap(([key, entry]) => {
    const isOpen =
      put.filter(({ message }) => textOf(message) === key).length > taken.filter((one) => textOf(one) === key).length;
    return isOpen ? [entry] : [];
  });
};

/** The deliveries of a queue in the state at the end of the journal, from this instant on. */
const leftIn = (past: Journal, bounds: Bounds, from: number): readonly Left[] => {
  let now = from;
  const post = openPost(() => now, bounds, past);
  const left: Left[] = [];
  for (let due: number | undefined = now; due !== undefined; due = post.nextDue()) {
    now = Math.max(now, due);
    for (let one = post.receive(); one !== undefined; one = post.receive()) {
      left.push({ at: now, group: one.group, messages: one.messages, received: one.received });
      post.acknowledge(one);
    }
  }
  return left;
};

/** Opens the queue on a clock, in the state at the end of the journal. What changes nothing is not written into it. */
export const openPost = (now: () => number, bounds: Bounds, past: Journal = []): Post => {
  let replaying: number | undefined;
  const queue = openQueue({ ...bounds, now: () => replaying ?? now() });
  const insides: Insides = { queue, coalescer: openCoalescer({ ...usualWindows, patientMs: bounds.patientMs }) };
  const entries: Entry[] = [];
  let closedAt = 0;
  /** Nothing was ready at the last question, and no message has come since. */
  let isEmpty = false;
  let known: { readonly entries: number; readonly left: readonly Left[] } | undefined;
  const written = (entry: Entry): unknown => {
    entries.push(entry);
    const result = perform(insides, entry);
    if (insides.coalescer.next() === undefined) closedAt = entries.length;
    if (entry.do !== "offer" && entry.do !== "due") isEmpty = entry.do === "receive" && result === undefined;
    return result;
  };
  const isDue = (at: number | undefined): boolean => at !== undefined && at <= now();
  for (const entry of past) {
    replaying = entry.at;
    written(entry);
  }
  replaying = undefined;
  const post: Post = {
    send: (message, id) => void written({ at: now(), do: "send", message, id }),
    later: (message, id, ms) => void written({ at: now(), do: "later", message, id, ms }),
    receive: () => {
      if (isEmpty && !isDue(queue.nextDue())) return undefined;
      return written({ at: now(), do: "receive" }) as Delivery | undefined;
    },
    acknowledge: (delivery) => void written({ at: now(), do: "acknowledge", delivery }),
    giveBack: (delivery, ms, returned) => void written({ at: now(), do: "giveBack", delivery, ms, returned }),
    ownerOf: () => post,
    offer: (sending) => written({ at: now(), do: "offer", sending }) as Sending | undefined,
    due: () => (isDue(insides.coalescer.next()) ? (written({ at: now(), do: "due" }) as readonly Sending[]) : []),
    nextDue: queue.nextDue,
    nextWindow: insides.coalescer.next,
    waiting: () => queue.depth().ready + queue.depth().delayed,
    left: () => {
      const isKnown = known?.entries === entries.length && !isDue(known.left[0]?.at);
      const left = isKnown && known !== undefined ? known.left : leftIn(entries, bounds, now());
      known = { entries: entries.length, left };
      return left;
    },
    journal: () => entries.slice(),
    windows: () => entries.slice(closedAt).filter((entry) => entry.do === "offer" || entry.do === "due"),
    untaken: () => untakenIn(entries),
  };
  return post;
};
