/** The ports of an invocation: at each of their calls it may die, wait or be refused. */
import { kubernetesCheckpoints } from "../../../shared/adapters/checkpoints/kubernetes.ts";
import type { Delivery } from "../../../shared/adapters/embedded/queue.ts";
import { openCluster } from "../../../shared/adapters/kubernetes/cluster.ts";
import type { HttpRequest, HttpResponse, Transport } from "../../../shared/core/http.ts";
import type { Message } from "../../../shared/core/key.ts";
import type { Operator } from "../../../shared/core/operator.ts";
import type { Sent, Sink } from "../../../shared/core/sink.ts";
import { updatesFor } from "../../../shared/deployments/common/updates.ts";
import { deliveryBy } from "../../../shared/deployments/deliver/function.ts";
import { openStepCache } from "../../../shared/deployments/host/cache.ts";
import type { Queue, Report } from "../../../shared/engine/ports.ts";
import { recovery, timing } from "../../../shared/engine/settings.ts";
import type { World } from "../../../shared/engine/world.ts";
import { noticing } from "../../../shared/forward/node-notice.ts";
import { silence, wordsFor } from "./door.ts";
import type { Stage } from "./execution.ts";
import type { Call, Verdict } from "./fault.ts";
import { standingOf } from "./foreign-controllers.ts";
import type { Post } from "./journal.ts";
import { attend, longestPatienceMs, unanswered } from "./listeners.ts";
import { staleAnswer } from "./stale.ts";

/** An invocation under way. */
export type Flight = {
  readonly id: number;
  readonly by: Call["by"];
  readonly delivery: Delivery | undefined;
  /** The queue that delivered its messages. */
  readonly post: Post;
  dead: boolean;
  /** Begin of its observation, epoch ms. Stale reads may be from long before. */
  lookedAt: number;
};

const latencyMs = 3;
/** The sender has given up a request that arrives later than this. */
const longestWayMs = timing.requestTimeoutMs - 100;

/** A promise that never resolves, for a dead invocation. */
const never = <T>(): Promise<T> => new Promise<T>(() => {});

const lasting = (stage: Stage, ms: number): Promise<void> => new Promise((resolve) => stage.later(ms, resolve));

const holding = (stage: Stage, n: number, until: Extract<Verdict, { do: "hold" }>["until"]): Promise<void> =>
  until === "released" ? new Promise((resolve) => stage.held.set(n, resolve)) : lasting(stage, until.afterMs);

/** Delivers the messages to others while the invocation waits, as after their visibility timeout or by another host. */
const letGo = (flight: Flight): void => {
  if (flight.delivery !== undefined) flight.post.giveBack(flight.delivery, 0);
};

type Doing<T> = { readonly effect: () => T; readonly lost: () => Error };

type Carried<T> = Doing<T> & { readonly stage: Stage; readonly flight: Flight; readonly n: number };
type Carriers = { [D in Verdict["do"]]: <T>(verdict: Extract<Verdict, { do: D }>, call: Carried<T>) => Promise<T> };

/** Continues only where the invocation has not died meanwhile. */
const unlessDead = <T>({ dead }: Flight, go: () => T): T | Promise<T> => (dead ? never<T>() : go());

const fail = (error: Error): never => {
  throw error;
};

const plainly = async <T>(_verdict: Verdict, { effect, flight }: Carried<T>): Promise<T> => {
  const result = effect();
  return unlessDead(flight, () => result);
};

const dying: Carriers["die"] = (verdict, { effect, stage, flight }) => {
  if (verdict.effect) effect();
  stage.kill(flight, verdict.host);
  return never();
};

const breaking: Carriers["break"] = async (verdict, { effect, stage, flight, lost }) => {
  if (verdict.effect) effect();
  if (verdict.afterMs > 0) await lasting(stage, verdict.afterMs);
  return unlessDead(flight, () => fail(lost()));
};

const waiting: Carriers["hold"] = async (verdict, { effect, stage, flight, n }) => {
  const early = verdict.when === "after" ? { result: effect() } : undefined;
  if (verdict.freeMs !== undefined) stage.later(verdict.freeMs, () => letGo(flight));
  await holding(stage, n, verdict.until);
  return unlessDead(flight, () => (early === undefined ? effect() : early.result));
};

const arriving: Carriers["late"] = async (verdict, { effect, stage, flight, n, lost }) => {
  const latest = stage.now() + longestWayMs;
  let done = false;
  const arrive = (): void => {
    if (done) return;
    done = true;
    stage.arrivedByClock ||= stage.now() >= latest;
    stage.log(`  call ${n} arrives late`);
    effect();
  };
  stage.late.push({ by: n + verdict.calls, arrive });
  stage.later(longestWayMs, arrive);
  if (verdict.free) letGo(flight);
  await lasting(stage, timing.requestTimeoutMs);
  return unlessDead(flight, () => fail(lost()));
};

/** One call with its verdict: `effect` is done at most once, and a dead invocation gets no answer. */
export const carry = <T>(verdict: Verdict, call: Carried<T>): Promise<T> => {
  switch (verdict.do) {
    case "die":
      return dying(verdict, call);
    case "break":
      return breaking(verdict, call);
    case "hold":
      return waiting(verdict, call);
    case "late":
      return arriving(verdict, call);
    default:
      return plainly(verdict, call);
  }
};

const sending =
  (stage: Stage, flight: Flight) =>
  async (request: HttpRequest): Promise<HttpResponse> => {
    if (flight.dead) return never();
    const about = { via: "api", what: wordsFor(request), write: request.method !== "GET", request } as const;
    const verdict = stage.register(flight, about);
    const n = stage.count.calls;
    stage.theatre.simulator.clock.advanceTo(stage.now() + latencyMs);
    stage.meanwhile();
    const effect = (): HttpResponse => {
      if (verdict.do === "answer") return verdict.response(stage.now());
      if (verdict.do !== "stale") return stage.perform(request);
      flight.lookedAt = 0;
      return staleAnswer(stage.theatre.simulator, request, verdict.back);
    };
    const reason = verdict.do === "break" ? verdict.reason : "Timeout";
    return carry(verdict, { stage, flight, n, effect, lost: () => silence(request, reason) });
  };

const posting = (stage: Stage, flight: Flight, what: "send" | "later", put: () => void): Promise<void> => {
  if (flight.dead) return never();
  const verdict = stage.register(flight, { via: "queue", what, write: false });
  const lost = (): Error => new Error("the queue is away");
  return carry(verdict, { stage, flight, n: stage.count.calls, effect: put, lost });
};

export type Passing = { readonly transport: Transport; readonly queue: Queue };

/** Transport and queue of one invocation. */
export const passing = (stage: Stage, flight: Flight): Passing => ({
  transport: {
    send: sending(stage, flight),
    stream: () => Promise.reject(new Error("a step opens no watch")),
  },
  queue: {
    send: (message: Message, id: string) => posting(stage, flight, "send", () => stage.send(flight, message, id)),
    sendLater: (message: Message, id: string, ms: number) =>
      posting(stage, flight, "later", () => stage.send(flight, message, id, ms)),
  },
});

/** The way to a listener. Without an answer the call lasts as long as a sender waits. */
const listening =
  (stage: Stage, flight: Flight): Sink =>
  async (to, { body, key, id }) => {
    if (flight.dead) return never();
    const verdict = stage.register(flight, { via: "listener", what: "tell", write: true });
    const n = stage.count.calls;
    stage.theatre.simulator.clock.advanceTo(stage.now() + latencyMs);
    stage.meanwhile();
    const parcel = { to, body, key, id, sentAt: stage.now(), lookedAt: flight.lookedAt };
    const effect = (): Sent | "silence" => (verdict.do === "answer" ? unanswered : attend(stage, parcel));
    const carried = carry(verdict, { stage, flight, n, effect, lost: () => new Error("no answer") });
    const sent = await carried.catch(() => unanswered);
    if (sent !== "silence") return sent;
    await lasting(stage, longestPatienceMs);
    return unlessDead(flight, () => unanswered);
  };

const reporting =
  (stage: Stage): Report =>
  (level, message, fields) => {
    const text = JSON.stringify(fields ?? {});
    stage.oracle.said(text, "a report");
    if (level === "error") stage.errors.push(`${message} ${text.slice(0, 300)}`);
    if (level !== "debug") stage.log(() => `    ${level}: ${message} ${text.slice(0, 300)}`);
  };

/** Each invocation reads a clock of its own, which agrees with the others' unless a fault makes it jump. */
const ownClock = (stage: Stage): World["clock"] => {
  let ahead = 0;
  return {
    monotonic: () => {
      ahead += stage.fault.jump?.() ?? 0;
      return stage.now() + ahead;
    },
  };
};

/** Keys as if drawn: no two are alike. */
const drawn = ({ count }: Stage): Readonly<Record<string, string>> =>
  Object.fromEntries(["id_rsa", "id_rsa.pub", "authorized_keys"].map((name) => [name, btoa(`drawn ${count.calls}`)]));

/** The cache of a host's steps: their own writes, and its watch. Functions have none. */
const cacheOf = (stage: Stage, operators: ReadonlyMap<string, Operator<unknown>>): Pick<World, "cache"> => {
  if (stage.theatre.scenario.hosted !== true) return {};
  const resourceOf = (kind: string) => operators.get(kind)?.resource;
  const now = stage.now();
  // Another step of the host has just read the server's clock.
  stage.mind.latest = { date: now - (now % 1_000), at: now };
  return { cache: openStepCache({ resourceOf, known: (asked) => stage.watching.known(asked) }, stage.mind) };
};

/** The parts that report updates and deliver them, in a scenario with listeners. */
const telling = (stage: Stage, flight: Flight, world: World): Pick<World, "updates" | "deliver"> => {
  if (stage.theatre.scenario.listeners === undefined) return {};
  const nobodyElse = { to: "" };
  return { updates: updatesFor(world, nobodyElse), deliver: deliveryBy(world, nobodyElse, listening(stage, flight)) };
};

/** In a scenario about another controller, no step works beside it. */
const chargeOf = (stage: Stage, { report }: World, transport: Transport): Pick<World, "inCharge"> => {
  if (stage.theatre.scenario.beside === undefined) return {};
  const standing = standingOf(stage, { transport, report }, false);
  return { inCharge: async ({ kind }) => !(await standing.aside(kind)) };
};

/** The world of a fresh invocation: it shares only the cluster, the queue and the cache of its host with others. */
export const worldFor = (stage: Stage, flight: Flight): World => {
  const { transport, queue } = passing(stage, flight);
  const now = (): number => stage.now();
  const operators = new Map(stage.operators.map((operator) => [operator.kind, operator]));
  const world: World = {
    cluster: openCluster(transport, { timeoutMs: timing.requestTimeoutMs, now }),
    checkpoints: kubernetesCheckpoints(transport, { timeoutMs: timing.requestTimeoutMs }),
    queue,
    clock: ownClock(stage),
    chance: async () => drawn(stage),
    report: reporting(stage),
    operatorOf: (kind) => operators.get(kind),
    clusterUid: stage.theatre.clusterUid,
    timing,
    ...cacheOf(stage, operators),
    ...(stage.theatre.scenario.lenient === true ? { recovery: { ...recovery, strict: false } } : {}),
  };
  const charged = { ...world, ...chargeOf(stage, world, transport) };
  return { ...charged, ...telling(stage, flight, charged), notice: noticing({ ...charged, namespaces: [] }) };
};
