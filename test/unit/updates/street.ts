/**
 * One sender of updates and one listener under a clock that the test sets: the real step, delivery and queue, a
 * listener with scripted answers, and a sender that can die at any call.
 */
import { type EmbeddedQueue, openQueue } from "../../../shared/adapters/embedded/queue.ts";
import { deliveryKey, type Message } from "../../../shared/core/key.ts";
import type { Sent, Sink, StateUpdate } from "../../../shared/core/updates.ts";
import { provenRecords } from "../../../shared/deployments/common/proven-records.ts";
import { readDelivery, readRecord } from "../../../shared/engine/checkpoint/record.ts";
import type { World } from "../../../shared/engine/context/world.ts";
import { merged } from "../../../shared/engine/reconcile/intake.ts";
import { step } from "../../../shared/engine/reconcile/step.ts";
import { recovery } from "../../../shared/engine/settings.ts";
import { type Cursor, readCursor } from "../../../shared/updates/cursor.ts";
import { deliver } from "../../../shared/updates/deliver.ts";
import { openUpdates } from "../../../shared/updates/listeners.ts";
import { type Fixture, message, openFixture, toys } from "../engine/fakes.ts";

/** One request that reached the listener. */
export type Heard = {
  readonly at: number;
  readonly to: string;
  readonly id: string;
  readonly sequence: number;
  readonly state: string;
  readonly latest: string;
  readonly answered: Sent["did"];
};

export type Street = {
  readonly fixture: Fixture;
  readonly world: World;
  readonly heard: Heard[];
  /** Returns the listener's answer to a request; an error that it throws kills the sender. */
  answer: (heard: Omit<Heard, "answered">) => Sent;
  /** The queue of keys. */
  readonly queue: EmbeddedQueue;
  /** Called when a sender has died, before the next one begins. */
  revive: () => void;
  /** Loses all messages. */
  forget(): void;
  /** Sets the state of the application and takes its step. */
  enter(state: string, more?: Partial<StateUpdate>): Promise<void>;
  /** Advances time by this many ms and takes every step that becomes due, in order. */
  pass(ms: number): Promise<void>;
  /** Sends the keys that a resync sends, and takes their steps. */
  resync(): Promise<void>;
  cursor(): Promise<Cursor | undefined>;
};

export const listener = "https://listener.example/hook";

export const acknowledged: Sent = { did: "acknowledged" };
export const silence: Sent = { did: "failed", error: "no answer" };

const memoryOf = (word: StateUpdate, count: number) => ({ count, word });

type Settings = {
  readonly to?: string;
  readonly strict?: boolean;
  /** Sends updates to a real listener; its acknowledgement can be lost on the way back. */
  readonly carrier?: Sink;
};

export const openStreet = (settings: Settings = {}): Street => {
  const home = openFixture();
  const anew = (): EmbeddedQueue => openQueue({ now: () => home.time.now, visibilityMs: 90_000 });
  let queue = anew();
  const heard: Heard[] = [];
  let said: StateUpdate | undefined;
  let count = 0;
  home.decide = ({ object }) =>
    object === undefined
      ? { memory: { count }, stages: [], next: { do: "forget" } }
      : { memory: memoryOf(said ?? { state: "", attempt: 0, terminal: false }, count), stages: [] };
  home.statusUpdate = () => said;
  const sink: Sink = async (to, parcel, now) => {
    const { id, body, update } = parcel;
    const { data } = JSON.parse(body);
    const request = {
      at: home.time.now,
      to,
      id,
      sequence: update.sequence,
      state: update.state,
      latest: data.latest.state,
    };
    await home.before("tell");
    const carried = (await settings.carrier?.(to, parcel, now)) ?? acknowledged;
    const sent = carried.did === "acknowledged" ? street.answer(request) : carried;
    heard.push({ ...request, answered: sent.did });
    home.after("tell");
    return sent;
  };
  const ports = {
    ...home.world,
    checkpoints: provenRecords(home.world.checkpoints, { to: settings.to ?? listener }, home.world.report),
    queue: {
      send: async (sending: Message, id: string) => {
        await home.before("send");
        await queue.send(sending, id);
        home.after("send");
      },
      sendLater: async (sending: Message, id: string, delayMs: number) => {
        await home.before("sendLater");
        await queue.sendLater(sending, id, delayMs);
        home.after("sendLater");
      },
    },
    clock: { monotonic: () => home.time.now },
  };
  const updates = openUpdates({
    ...ports,
    readDelivery,
    fallback: settings.to ?? listener,
    now: () => home.time.now,
  });
  const resourceOf = (kind: string) => (kind === "Toy" ? toys : undefined);
  const desk = {
    ...ports,
    read: readRecord,
    readDelivery,
    resourceOf,
    destinationOf: updates.destinationOf,
    listenerAt: updates.listenerAt,
    sink,
  };
  const world: World = {
    ...ports,
    updates,
    deliver: (asked) => deliver(desk, asked),
    recovery: { ...recovery, strict: settings.strict ?? true },
  };

  const take = async (messages: readonly Message[]): Promise<boolean> => {
    const [first, ...others] = messages;
    if (first === undefined) return true;
    try {
      await step(world, merged([first, ...others]));
      return true;
    } catch {
      street.revive();
      return false;
    }
  };
  const drain = async (): Promise<void> => {
    for (let found = queue.receive(10); found.length > 0; found = queue.receive(10)) {
      for (const delivery of found) {
        const from = queue;
        if (await take(delivery.messages)) from.acknowledge(delivery);
        else from.giveBack(delivery, 90_000);
      }
    }
  };
  const street: Street = {
    fixture: home,
    world,
    heard,
    get queue() {
      return queue;
    },
    revive: () => {},
    forget: () => {
      queue = anew();
    },
    answer: () => acknowledged,
    enter: async (state, more = {}) => {
      said = { state, attempt: 1, terminal: false, ...more };
      count += 1;
      await queue.send(message, `enter ${count}`);
      await drain();
    },
    pass: async (ms) => {
      const until = home.time.now + ms;
      await drain();
      for (let due = queue.nextDue(); due !== undefined && due <= until; due = queue.nextDue()) {
        home.time.now = Math.max(home.time.now, due);
        await drain();
      }
      home.time.now = until;
    },
    resync: async () => {
      count += 1;
      await queue.send({ ...message, reason: "resync" }, `sweep ${count}`);
      await queue.send({ ...deliveryKey(message), reason: "resync" }, `sweep ${count} updates`);
      await drain();
    },
    cursor: async () => {
      const kept = await home.checkpoints.load(deliveryKey(message));
      const read = kept === undefined ? undefined : readRecord(kept.record);
      return read?.ok === true ? readCursor(read.record.memory) : undefined;
    },
  };
  return street;
};
