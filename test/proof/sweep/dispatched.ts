/**
 * A dispatcher in an execution: each delivery of its queue is a call of a function, and the answer carries what the step
 * sends. Functions outlive their dispatcher: they work on, and their answers reach no queue.
 */
import { type Called, eventOf, takingBy } from "../../../shared/adapters/dispatch/call.ts";
import { openCarrier } from "../../../shared/adapters/dispatch/carrier.ts";
import { enclosureIn } from "../../../shared/adapters/dispatch/enclosed.ts";
import type { Delivery } from "../../../shared/adapters/embedded/queue.ts";
import { recordsOf } from "../../../shared/adapters/lambda.ts";
import { readMessage } from "../../../shared/engine/message.ts";
import type { Enclosure } from "../../../shared/engine/ports.ts";
import { intake } from "../../../shared/engine/reconcile/intake.ts";
import { type Enclosing, openEnclosing } from "../../../shared/forward/enclosures.ts";
import { carry, reporting, worldFor } from "./calls.ts";
import type { ExecutionState, Flight } from "./execution-state.ts";
import type { Bounds, Post } from "./journal.ts";

const limitMs = 60_000;
/** The bounds of a dispatcher's queue, as `deployments/dispatch/start.ts` sets them. */
export const bounds: Bounds = {
  ...{ visibilityMs: limitMs + 5_000, maxReceives: 10, mostMessages: 10 },
  patientMs: 0,
};

type By = "step" | "delivery";

const lost = (): Error => new Error("the connection broke");

/** Ends a function's call with its answer. */
const answer = (execution: ExecutionState, flight: Flight, called: Called): void => {
  if (flight.dead) return;
  const verdict = execution.register(flight, { via: "dispatcher", what: "answer", write: false });
  const effect = (): void => {
    execution.log(() => `  invocation ${flight.id} ends: ${JSON.stringify(called)}`);
    execution.close(flight);
    flight.called?.end(called);
  };
  carry(verdict, { execution, flight, n: execution.count.calls, effect, lost }).catch(() => {
    execution.close(flight);
    flight.called?.end({ did: "broke", why: "the answer is lost" });
  });
};

const longAgoMs = 60_000;

/** Enclosures that no function may believe: as the watch showed the key a minute ago, or about another object. */
const wrong: Readonly<Record<"old" | "another", (enclosure: Enclosure | undefined) => Enclosure | undefined>> = {
  old: (enclosure) => {
    if (enclosure === undefined) return undefined;
    const { status: _, ...object } = enclosure.object;
    return { date: enclosure.date - longAgoMs, object, lists: enclosure.lists.map(() => []) };
  },
  another: (enclosure) => {
    if (enclosure === undefined) return undefined;
    const { object } = enclosure;
    return { ...enclosure, object: { ...object, metadata: { ...object.metadata, name: "another", uid: "another" } } };
  },
};

/** Calls a function: the result is the end of the call as the dispatcher sees it. */
const call = (
  execution: ExecutionState,
  { post, by }: { readonly post: Post; readonly by: By },
  delivery: Delivery,
  enclosure: Enclosure | undefined,
): Promise<Called> =>
  new Promise((end) => {
    const { queue, during } = openCarrier();
    const flight = execution.flight(by, delivery, { post, called: { queue, end } });
    const { messages } = delivery;
    execution.log(
      () => `invocation ${flight.id}: ${messages.map(({ name, reason }) => `${name}: ${reason}`).join("; ")}`,
    );
    const verdict = execution.register(flight, { via: "dispatcher", what: "call", write: false });
    const enclosing = verdict.do === "enclose" ? wrong[verdict.what](enclosure) : enclosure;
    const event = JSON.parse(eventOf(delivery, limitMs, enclosing));
    const delivered = recordsOf(event);
    const enclosed = enclosureIn(event);
    const work = (): void => {
      during(() => intake(worldFor(execution, flight, enclosed), delivered)).then(
        ({ value, carried }) => {
          const failed = value.map((id) => delivered.findIndex((one) => one.id === id));
          answer(execution, flight, { did: "answered", failed, carried });
        },
        (cause) => answer(execution, flight, { did: "broke", why: String(cause) }),
      );
    };
    if (verdict.do === "answer") {
      execution.close(flight);
      end({ did: "refused", why: "the platform answered 503", againMs: 7_000 });
    } else if (verdict.do === "die" && verdict.effect && verdict.host) {
      work();
      execution.crash();
    } else
      carry(verdict, { execution, flight, n: execution.count.calls, effect: work, lost }).catch(() =>
        end({ did: "broke", why: "the connection broke" }),
      );
  });

/** The dispatcher looks at the server's clock and at its watch at each call. */
const enclosingOf = (execution: ExecutionState): Enclosing => {
  const now = (): number => execution.now();
  return openEnclosing({
    watchers: execution.operators,
    known: (asked) => execution.watching.known(asked),
    whole: (trimmed) => execution.watching.whole(trimmed),
    serverTime: () => ({ date: now() - (now() % 1_000), at: now() }),
    now,
  });
};

export type Dispatching = {
  /** Takes a delivery of a dispatcher's queue. */
  readonly take: (post: Post, by: By, delivery: Delivery) => void;
};

/** Opens the dispatchers of an execution: each queue is one dispatcher's, which knows which calls have failed. */
export const openDispatching = (execution: ExecutionState): Dispatching => {
  const taking = (post: Post, by: By) =>
    takingBy({
      call: (delivery, enclosure) => call(execution, { post, by }, delivery, enclosure),
      enclosing: enclosingOf(execution),
      put: async ({ body, id, delayMs }) => {
        const message = readMessage(body);
        if (message === undefined) throw new Error(`a function sends ${body}`);
        execution.send({ by, post }, message, id, delayMs);
      },
      ...{ report: reporting(execution), now: () => execution.now(), random: () => 0 },
    });
  const open = (post: Post) => ({ step: taking(post, "step"), delivery: taking(post, "delivery") });
  const dispatchers = new WeakMap<Post, ReturnType<typeof open>>();
  return {
    take: (post, by, delivery) => {
      const dispatcher = dispatchers.get(post) ?? open(post);
      dispatchers.set(post, dispatcher);
      void dispatcher[by](delivery).then((outcome) => {
        if (outcome === "done") post.acknowledge(delivery);
        else post.giveBack(delivery, outcome.againMs, outcome);
      });
    },
  };
};

const least = (times: readonly (number | undefined)[]): number | undefined => {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
};

/** The queues of two dispatchers that are both active: each hears every event. */
export const beside = (one: Post, other: Post): Post => {
  const both = [one, other];
  const owners = new WeakMap<Delivery, Post>();
  const ownerOf = (delivery: Delivery): Post => owners.get(delivery) ?? one;
  return {
    ownerOf,
    send: (message, id) => {
      for (const post of both) post.send(message, id);
    },
    later: (message, id, ms) => {
      for (const post of both) post.later(message, id, ms);
    },
    receive: () => {
      for (const post of both) {
        const delivery = post.receive();
        if (delivery === undefined) continue;
        owners.set(delivery, post);
        return delivery;
      }
      return undefined;
    },
    acknowledge: (delivery) => ownerOf(delivery).acknowledge(delivery),
    giveBack: (delivery, ms, returned) => ownerOf(delivery).giveBack(delivery, ms, returned),
    offer: (sending) => {
      const [first, second] = both.map((post) => post.offer(sending));
      return first ?? second;
    },
    due: () => both.flatMap((post) => post.due()),
    nextDue: () => least(both.map((post) => post.nextDue())),
    nextWindow: () => least(both.map((post) => post.nextWindow())),
    waiting: () => one.waiting() + other.waiting(),
    left: () => [...one.left(), ...other.left()],
    journal: other.journal,
    windows: other.windows,
    untaken: () => [],
  };
};
