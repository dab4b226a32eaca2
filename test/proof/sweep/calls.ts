/** The ports of an invocation: at each of their calls it may die, wait or be refused. */
import { kubernetesCheckpoints } from "../../../shared/adapters/checkpoints/kubernetes.ts";
import { openEnclosed } from "../../../shared/adapters/dispatch/enclosed.ts";
import { openCluster } from "../../../shared/adapters/kubernetes/cluster.ts";
import type { HttpRequest, HttpResponse, Transport } from "../../../shared/core/http.ts";
import type { Message } from "../../../shared/core/key.ts";
import type { Operator } from "../../../shared/core/operator.ts";
import type { Sent, Sink } from "../../../shared/core/updates.ts";
import { standbyOfSteps } from "../../../shared/deployments/common/standby.ts";
import { updatesFor } from "../../../shared/deployments/common/updates.ts";
import { deliveryBy, withResources } from "../../../shared/deployments/deliver/function.ts";
import { openStepCache } from "../../../shared/deployments/host/cache.ts";
import type { World } from "../../../shared/engine/context/world.ts";
import type { Enclosure, Queue, Report } from "../../../shared/engine/ports.ts";
import { recovery, timing } from "../../../shared/engine/settings.ts";
import { noticing } from "../../../shared/forward/node-notice.ts";
import type { ExecutionState, Flight } from "./execution-state.ts";
import type { Verdict } from "./fault.ts";
import { silence, wordsFor } from "./fault-answers.ts";
import { standingOf } from "./foreign-controllers.ts";
import { attend, longestWaitMs, unanswered } from "./listeners.ts";
import { staleAnswer } from "./stale.ts";

const latencyMs = 3;
/** The sender has given up a request that arrives later than this. */
const longestWayMs = timing.requestTimeoutMs - 100;

/** A promise that never resolves, for a dead invocation. */
const never = <T>(): Promise<T> => new Promise<T>(() => {});

const lasting = (execution: ExecutionState, ms: number): Promise<void> =>
  new Promise((resolve) => execution.later(ms, resolve));

const holding = (
  execution: ExecutionState,
  n: number,
  until: Extract<Verdict, { do: "hold" }>["until"],
): Promise<void> =>
  until === "released" ? new Promise((resolve) => execution.held.set(n, resolve)) : lasting(execution, until.afterMs);

/**
 * Delivers the messages to others while the invocation waits, as after their visibility timeout or by another host, or
 * after the time limit of a dispatcher's call.
 */
const letGo = (flight: Flight): void => {
  if (flight.called !== undefined) flight.called.end({ did: "broke", why: "no answer in time", againMs: 0 });
  else if (flight.delivery !== undefined) flight.post.giveBack(flight.delivery, 0);
};

type Doing<T> = { readonly effect: () => T; readonly lost: () => Error };

type Carried<T> = Doing<T> & {
  readonly execution: ExecutionState;
  readonly flight: Flight;
  readonly n: number;
  /** A function that a dispatcher called makes this call: it outlives its dispatcher. */
  readonly outlives?: boolean;
};
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

/** The call of a function that outlives its dispatcher lasts longer than the next dispatcher needs to begin. */
const outlivingMs = 3_000;

const outliving: Carriers["die"] = async (verdict, { effect, execution, flight }) => {
  const early = verdict.effect ? { result: effect() } : undefined;
  execution.log(`  the dispatcher of invocation ${flight.id} dies`);
  execution.crash();
  await lasting(execution, outlivingMs);
  return unlessDead(flight, () => (early === undefined ? effect() : early.result));
};

const dying: Carriers["die"] = (verdict, call) => {
  const { effect, execution, flight, outlives = false } = call;
  if (verdict.host && outlives) return outliving(verdict, call);
  if (verdict.effect) effect();
  execution.kill(flight, verdict.host);
  return never();
};

const breaking: Carriers["break"] = async (verdict, { effect, execution, flight, lost }) => {
  if (verdict.effect) effect();
  if (verdict.afterMs > 0) await lasting(execution, verdict.afterMs);
  return unlessDead(flight, () => fail(lost()));
};

const waiting: Carriers["hold"] = async (verdict, { effect, execution, flight, n }) => {
  const early = verdict.when === "after" ? { result: effect() } : undefined;
  if (verdict.freeMs !== undefined) execution.later(verdict.freeMs, () => letGo(flight));
  await holding(execution, n, verdict.until);
  return unlessDead(flight, () => (early === undefined ? effect() : early.result));
};

const besideAnother: Carriers["rival"] = async (verdict, { effect, execution, flight }) => {
  const early = verdict.when === "after" ? { result: effect() } : undefined;
  execution.rival();
  await lasting(execution, verdict.afterMs);
  return unlessDead(flight, () => (early === undefined ? effect() : early.result));
};

const arriving: Carriers["late"] = async (verdict, { effect, execution, flight, n, lost }) => {
  const latest = execution.now() + longestWayMs;
  let done = false;
  const arrive = (): void => {
    if (done) return;
    done = true;
    execution.arrivedByClock ||= execution.now() >= latest;
    execution.log(`  call ${n} arrives late`);
    effect();
  };
  execution.late.push({ by: n + verdict.calls, arrive });
  execution.later(longestWayMs, arrive);
  if (verdict.free) letGo(flight);
  await lasting(execution, timing.requestTimeoutMs);
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
    case "rival":
      return besideAnother(verdict, call);
    default:
      return plainly(verdict, call);
  }
};

const sending =
  (execution: ExecutionState, flight: Flight) =>
  async (request: HttpRequest): Promise<HttpResponse> => {
    if (flight.dead) return never();
    const about = { via: "api", what: wordsFor(request), write: request.method !== "GET", request } as const;
    const verdict = execution.register(flight, about);
    const n = execution.count.calls;
    execution.fixture.simulator.clock.advanceTo(execution.now() + latencyMs);
    execution.meanwhile();
    const effect = (): HttpResponse => {
      if (verdict.do === "answer") return verdict.response(execution.now());
      if (verdict.do !== "stale") return execution.perform(request);
      flight.lookedAt = 0;
      execution.oracle.behind?.(request.path, verdict.back, execution.now());
      return staleAnswer(execution.fixture.simulator, request, verdict.back);
    };
    const reason = verdict.do === "break" ? verdict.reason : "Timeout";
    const outlives = flight.called !== undefined;
    return carry(verdict, { execution, flight, n, outlives, effect, lost: () => silence(request, reason) });
  };

const posting = (execution: ExecutionState, flight: Flight, what: "send" | "later", put: () => void): Promise<void> => {
  if (flight.dead) return never();
  const verdict = execution.register(flight, { via: "queue", what, write: false });
  const lost = (): Error => new Error("the queue is away");
  return carry(verdict, { execution, flight, n: execution.count.calls, effect: put, lost });
};

export type Passing = { readonly transport: Transport; readonly queue: Queue };

/** Transport and queue of one invocation. */
export const passing = (execution: ExecutionState, flight: Flight): Passing => ({
  transport: {
    send: sending(execution, flight),
    stream: () => Promise.reject(new Error("a step opens no watch")),
  },
  queue: flight.called?.queue ?? {
    send: (message: Message, id: string) =>
      posting(execution, flight, "send", () => execution.send(flight, message, id)),
    sendLater: (message: Message, id: string, ms: number) =>
      posting(execution, flight, "later", () => execution.send(flight, message, id, ms)),
  },
});

/** The way to a listener. Without an answer the call lasts as long as a sender waits. */
const listening =
  (execution: ExecutionState, flight: Flight): Sink =>
  async (to, { body, key, id }) => {
    if (flight.dead) return never();
    const verdict = execution.register(flight, { via: "listener", what: "tell", write: true });
    const n = execution.count.calls;
    execution.fixture.simulator.clock.advanceTo(execution.now() + latencyMs);
    execution.meanwhile();
    const parcel = { to, body, key, id, sentAt: execution.now(), lookedAt: flight.lookedAt };
    const effect = (): Sent | "silence" => (verdict.do === "answer" ? unanswered : attend(execution, parcel));
    const outlives = flight.called !== undefined;
    const carried = carry(verdict, { execution, flight, n, outlives, effect, lost: () => new Error("no answer") });
    const sent = await carried.catch(() => unanswered);
    if (sent !== "silence") return sent;
    await lasting(execution, longestWaitMs);
    return unlessDead(flight, () => unanswered);
  };

export const reporting =
  (execution: ExecutionState): Report =>
  (level, message, fields) => {
    const text = JSON.stringify(fields ?? {});
    execution.oracle.said(text, "a report");
    if (level === "error") execution.errors.push(`${message} ${text.slice(0, 300)}`);
    if (level !== "debug") execution.log(() => `    ${level}: ${message} ${text.slice(0, 300)}`);
  };

/** Each invocation reads a clock of its own, which agrees with the others' unless a fault makes it jump. */
const ownClock = (execution: ExecutionState): World["clock"] => {
  let ahead = 0;
  return {
    monotonic: () => {
      ahead += execution.fault.jump?.() ?? 0;
      return execution.now() + ahead;
    },
  };
};

/** Keys as if drawn: no two are alike. */
const drawn = ({ fixture: { simulator } }: ExecutionState): Readonly<Record<string, string>> => {
  const value = btoa(`drawn ${simulator.store.revision()} ${simulator.clock.now()}`);
  return Object.fromEntries(["id_rsa", "id_rsa.pub", "authorized_keys"].map((name) => [name, value]));
};

/** The cache of a host's steps: their own writes, and its watch. Functions have none. */
const cacheOf = (
  execution: ExecutionState,
  operators: ReadonlyMap<string, Operator<unknown>>,
): Pick<World, "cache"> => {
  if (execution.fixture.scenario.hosted !== true) return {};
  const resourceOf = (kind: string) => operators.get(kind)?.resource;
  const now = execution.now();
  // Another step of the host has just read the server's clock.
  execution.mind.latest = { date: now - (now % 1_000), at: now };
  return { cache: openStepCache({ resourceOf, known: (asked) => execution.watching.known(asked) }, execution.mind) };
};

/** The parts that report updates and deliver them, in a scenario with listeners. */
const telling = (execution: ExecutionState, flight: Flight, world: World): Pick<World, "updates" | "deliver"> => {
  if (execution.fixture.scenario.listeners === undefined) return {};
  const nobodyElse = { to: "" };
  return {
    updates: { ...updatesFor(world, nobodyElse), asksAgain: flight.called !== undefined },
    deliver: deliveryBy(withResources(world), nobodyElse, listening(execution, flight)),
  };
};

/** In a scenario about another controller, no step works beside it. */
const standbyOf = (execution: ExecutionState, { report }: World, transport: Transport): Pick<World, "standby"> => {
  if (execution.fixture.scenario.beside === undefined) return {};
  const standing = standingOf(execution, { transport, report }, false);
  return { standby: standbyOfSteps(standing.signs, () => execution.now()) };
};

/** The enclosure of a dispatcher's call, and the server's clock, which the process of the function has read before. */
const enclosedIn = (
  execution: ExecutionState,
  { monotonic }: World["clock"],
  enclosure: Enclosure | undefined,
): Pick<World, "enclosed" | "serverTime"> => {
  if (enclosure === undefined) return {};
  const calls = openEnclosed(execution.cluster);
  const now = execution.now();
  const epoch = { date: now - (now % 1_000), at: monotonic() };
  return { enclosed: (key) => calls.within(enclosure, () => calls.find(key)), serverTime: () => epoch };
};

/**
 * The world of a fresh invocation: it shares only the cluster, the queue and the cache of its host with others.
 * `enclosure`: that of the call of a dispatcher.
 */
export const worldFor = (execution: ExecutionState, flight: Flight, enclosure?: Enclosure): World => {
  const { transport, queue } = passing(execution, flight);
  const now = (): number => execution.now();
  const operators = new Map(execution.operators.map((operator) => [operator.kind, operator]));
  const clock = ownClock(execution);
  const world: World = {
    cluster: openCluster(transport, { timeoutMs: timing.requestTimeoutMs, now }),
    checkpoints: kubernetesCheckpoints(transport, { timeoutMs: timing.requestTimeoutMs }),
    queue,
    clock,
    chance: async () => drawn(execution),
    report: reporting(execution),
    operatorOf: (kind) => operators.get(kind),
    clusterUid: execution.fixture.clusterUid,
    timing,
    ...cacheOf(execution, operators),
    ...enclosedIn(execution, clock, enclosure),
    ...(execution.fixture.scenario.lenient === true ? { recovery: { ...recovery, strict: false } } : {}),
  };
  const charged = { ...world, ...standbyOf(execution, world, transport) };
  return { ...charged, ...telling(execution, flight, charged), notice: noticing({ ...charged, namespaces: [] }) };
};
