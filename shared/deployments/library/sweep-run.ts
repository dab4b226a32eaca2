/**
 * One run of a sweep on the simulator, under its clock: the real queue, watches, resync and steps, and at most one fault.
 * One thread and no chance: the same fault gives the same run.
 */
import { kubernetesCheckpoints } from "../../adapters/checkpoints/kubernetes.ts";
import { type Delivery, openQueue } from "../../adapters/embedded/queue.ts";
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { assertNever, type Transport } from "../../core/http.ts";
import type { Operator } from "../../core/operator.ts";
import type { World } from "../../engine/context/world.ts";
import type { Queue } from "../../engine/ports.ts";
import { take } from "../../engine/reconcile/intake.ts";
import { timing } from "../../engine/settings.ts";
import type { Sending } from "../../forward/keys.ts";
import type { Simulator } from "../../simulator/open.ts";
import { operatorsByKind } from "../common/step-dependencies.ts";
import { resync } from "../resync/sweep.ts";
import { type Call, type CallFate, conflictAnswer, type Fault, requestText, unanswered } from "./sweep-fault.ts";
import { openWatching } from "./watching.ts";

const cluster = "sweep";
/** The time after which the queue delivers the messages of a dead step again, ms. */
const visibilityMs = 90_000;
const latencyMs = 5;
const againMs = 1_000;
/** A run that takes more steps, or more resyncs, does not come to rest. */
const [mostSteps, mostResyncs] = [1_000, 20] as const;

/** The process of one step. */
type Life = { dead: boolean; readonly died: Promise<"died">; readonly die: () => void };

const openLife = (): Life => {
  const { promise, resolve } = Promise.withResolvers<"died">();
  const life: Life = {
    ...{ dead: false, died: promise },
    die: () => {
      life.dead = true;
      resolve("died");
    },
  };
  return life;
};

export type Run = {
  /** The calls of all steps so far. */
  readonly calls: readonly Call[];
  /** The number of messages so far. */
  readonly messages: () => number;
  /** Runs until a resync changes nothing more; returns what is wrong if that never comes. */
  rest(): Promise<string | undefined>;
};

/** A call under its fault: the effect, and the answer to a write that another writer has overtaken. */
type Carried<T> = { readonly effect: () => T; readonly refused?: () => T };

const never = new Promise<never>(() => {});

/** Carries out a call that meets a fault. */
const faulty = async <T>(fate: CallFate, life: Life, { effect, refused = effect }: Carried<T>): Promise<T> => {
  switch (fate) {
    case "unreachable":
      throw unanswered("nothing was done");
    case "no answer":
      await effect();
      throw unanswered("its effect is done");
    case "conflict":
      return refused();
    case "dies after":
      await effect();
      life.die();
      return never;
    case "dies before":
      life.die();
      return never;
    default:
      return assertNever(fate);
  }
};

/** Returns what a step sends through; `fault` is met by the call of its number. */
const openCalls = (simulator: Simulator, fault: Fault | undefined) => {
  const calls: Call[] = [];
  const carry = async <T>(life: Life, call: Call, carried: Carried<T>): Promise<T> => {
    if (life.dead) return never;
    simulator.clock.advanceTo(simulator.clock.now() + latencyMs);
    calls.push(call);
    const isMet = fault !== undefined && "call" in fault && fault.call === calls.length;
    return isMet ? await faulty(fault.fate, life, carried) : carried.effect();
  };
  return { calls, carry };
};

type Calls = ReturnType<typeof openCalls>;

const transportFor = (simulator: Simulator, { carry }: Calls, life: Life): Transport => ({
  send: async (request) => {
    const call = { what: requestText(request), isWrite: request.method !== "GET" };
    return await carry(life, call, {
      effect: () => simulator.transport.send(request),
      refused: async () => conflictAnswer(request, simulator.clock.now()),
    });
  },
  stream: () => Promise.reject(new Error("a step opens no watch")),
});

/** Opens the queue; `fault` is met by the message of its number. */
const openPost = (simulator: Simulator, fault: Fault | undefined) => {
  const queue = openQueue({ now: simulator.clock.now, visibilityMs });
  let count = 0;
  const put: Queue["sendLater"] = async (message, id, delayMs) => {
    count += 1;
    const fate = fault !== undefined && "message" in fault && fault.message === count ? fault.fate : "none";
    if (fate !== "lost") await queue.sendLater(message, id, delayMs);
    if (fate === "twice") await queue.sendLater(message, `${id} again`, delayMs);
  };
  return { queue, put, count: () => count };
};

type Post = ReturnType<typeof openPost>;

const queueFor = ({ put }: Post, { carry }: Calls, life: Life): Queue => {
  const call: Call = { what: "a message", isWrite: false };
  return {
    send: async (message, id) => await carry(life, call, { effect: () => put(message, id, 0) }),
    sendLater: async (message, id, delayMs) => await carry(life, call, { effect: () => put(message, id, delayMs) }),
  };
};

type Parts = { readonly simulator: Simulator; readonly kind: Operator<unknown>; readonly calls: Calls };

const worldFor = ({ simulator, kind, calls }: Parts, post: Post, life: Life): World => {
  const { now } = simulator.clock;
  const transport = transportFor(simulator, calls, life);
  return {
    cluster: openCluster(transport, { timeoutMs: timing.requestTimeoutMs, now }),
    checkpoints: kubernetesCheckpoints(transport, { timeoutMs: timing.requestTimeoutMs }),
    queue: queueFor(post, calls, life),
    ...{ clock: { monotonic: now }, report: () => {}, operatorOf: operatorsByKind([kind]), timing },
    clusterUid: simulator.store.get("namespaces", "kube-system")?.metadata.uid ?? "",
  };
};

/** Takes one delivery. A dead step acknowledges nothing: its messages come again. */
const deliver = async (parts: Parts, post: Post, delivery: Delivery): Promise<void> => {
  const life = openLife();
  const ended = await Promise.race([take(worldFor(parts, post, life), delivery.messages), life.died]);
  if (ended === "died") return;
  if (ended === undefined) post.queue.giveBack(delivery, againMs);
  else post.queue.acknowledge(delivery);
};

/** Delivers until nothing is left to deliver and no time brings more; false: it does not end. */
const drain = async (parts: Parts, post: Post): Promise<boolean> => {
  const { clock } = parts.simulator;
  for (let steps = 0; steps < mostSteps; ) {
    const [delivery] = post.queue.receive(1);
    const due = [post.queue.nextDue(), clock.nextDue()].filter((at) => at !== undefined);
    if (delivery !== undefined) {
      steps += 1;
      await deliver(parts, post, delivery);
    } else if (due.length === 0) return true;
    else clock.advanceTo(Math.min(...due));
  }
  return false;
};

const restless = `it does not come to rest: ${mostSteps} steps were taken, and more are due`;

/** Opens a run on the simulator as it stands. */
export const openRun = (simulator: Simulator, kind: Operator<unknown>, fault?: Fault): Run => {
  const calls = openCalls(simulator, fault);
  const post = openPost(simulator, fault);
  const parts = { simulator, kind, calls };
  const watching = openWatching(cluster, [kind], simulator.store);
  const offer = (sendings: readonly Sending[]): void => {
    for (const { message, dedupeId } of sendings) void post.put(message, dedupeId, 0);
  };
  offer(watching.relist());
  simulator.subscribe((change) => offer(watching.hear(change)));
  const scope = { cluster, namespaces: [], selector: undefined, operators: [kind], transport: simulator.transport };
  const again = (): Promise<number> =>
    resync({ ...scope, queue: post.queue, now: simulator.clock.now }, String(simulator.clock.now()));
  return {
    calls: calls.calls,
    messages: post.count,
    rest: async () => {
      for (let times = 0; times < mostResyncs; times += 1) {
        if (!(await drain(parts, post))) return restless;
        const before = simulator.store.revision();
        await again();
        if (!(await drain(parts, post))) return restless;
        if (simulator.store.revision() === before) return undefined;
      }
      return `it does not come to rest: each of ${mostResyncs} resyncs led to a write`;
    },
  };
};
