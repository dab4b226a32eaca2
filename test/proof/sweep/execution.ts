/**
 * One execution of a scenario: the simulator under its clock, and around it the real queue, forwarder, resync and
 * steps. One thread and no chance: the same fault gives the same execution. The calls of an invocation pass `calls.ts`.
 */
import type { Delivery } from "../../../shared/adapters/embedded/queue.ts";
import type { HttpRequest, HttpResponse } from "../../../shared/core/http.ts";
import { type Message, subjectOf } from "../../../shared/core/key.ts";
import type { Operator } from "../../../shared/core/operator.ts";
import { type CacheState, openCacheState } from "../../../shared/deployments/host/cache.ts";
import { openWatching, type Watching } from "../../../shared/deployments/library/watching.ts";
import { resync } from "../../../shared/deployments/resync/sweep.ts";
import { take } from "../../../shared/engine/reconcile/intake.ts";
import type { Sending } from "../../../shared/forward/keys.ts";
import type { Change } from "../../../shared/simulator/storage/store.ts";
import { carry, passing, worldFor } from "./calls.ts";
import { beside, bounds, openDispatching } from "./dispatched.ts";
import { identityOf } from "./ending.ts";
import type { Flight, Sender } from "./execution-state.ts";
import type { Call, Fault, Levers, Posted } from "./fault.ts";
import type { Fixture } from "./fixture.ts";
import { forwarderLooks, isSighting, resyncBeside } from "./foreign-controllers.ts";
import { type Bounds, type Journal, openPost, type Post } from "./journal.ts";
import { openMail } from "./mail.ts";
import { operatorsOf } from "./operators.ts";
import type { Actor } from "./oracle.ts";
import { type Bell, openBell } from "./rings.ts";
import { type Count, copyOf, lookMs, type Snapshot } from "./snapshot.ts";
import { droppedBy } from "./status-kept.ts";

export const cluster = "sweep";
export const queueBounds: Bounds = { visibilityMs: 90_000, patientMs: 0 };
const sweepMs = 300_000;
const sweepSoonMs = 30_000; // After a resync that did not come through.
const restartMs = 1_000;
/** The longest time that two dispatchers are active, after one has lost its lease. */
const besideMs = 30_000;
export type Appointment = { readonly at: number; readonly order: number; readonly keep: () => void };

/** Waits until all pending promises that need no other event are settled. */
export const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export class Execution {
  readonly cluster = cluster;
  readonly fixture: Fixture;
  fault: Fault;
  readonly levers: Levers;
  readonly operators: readonly Operator<unknown>[];
  oracle: Snapshot["oracle"];
  post: Post;
  watching: Watching;
  actor: Actor = "cluster";
  readonly flights = new Set<Flight>();
  readonly held = new Map<number, () => void>();
  agenda: Appointment[] = [];
  armed: Snapshot["armed"];
  met: ReadonlySet<number>;
  identities: Map<string, string>;
  readonly count: Count;
  nextSweep: number;
  /** Instant of the next look of a forwarder for other controllers; never, in a scenario without one. */
  nextLook: number;
  mind: CacheState;
  readonly began: number;
  down = false;
  watchingIs: "on" | "off" = "on";
  order = 0;
  /** Reported errors; and pods of user actions that did not exist. */
  readonly errors: string[] = [];
  readonly missed: string[] = [];
  /** Writing requests of all steps; those that changed something; and of these, those that only a resync caused. */
  writes = 0;
  changes = 0;
  /** Fields of statuses that the API server has dropped: S1. */
  readonly dropped = new Set<string>();
  lateChanges = 0;
  arrivedByClock = false;
  swept = false; // The latest resync came through.
  recognises: (() => boolean) | undefined; // True in a state whose continuation is known: it need not be run again.
  /** The user actions between two calls of a step. */
  meanwhile: () => void = () => {};
  readonly mail = openMail();
  readonly dispatching = openDispatching(this);
  readonly bell: Bell | undefined; // In the place of a watch.
  readonly late: { readonly by: number; readonly arrive: () => void }[] = [];
  readonly calls: Call[] = [];
  readonly messages: Posted[] = [];
  readonly lines: string[] | undefined;
  readonly onSnapshot: ((snapshot: Snapshot) => void) | undefined;

  constructor(
    fixture: Fixture,
    snapshot: Snapshot,
    fault: Fault,
    options: { trace?: boolean; onSnapshot?: (snapshot: Snapshot) => void } = {},
  ) {
    const { simulator } = fixture;
    this.fixture = fixture;
    this.operators = operatorsOf(fixture.scenario);
    this.fault = fault;
    this.bell = fixture.scenario.belled ? openBell(this) : undefined;
    fixture.subscriber = (change) => this.hear(change);
    simulator.restore(snapshot.simulator);
    this.oracle = snapshot.oracle.copy();
    this.post = this.queued(snapshot.journal);
    this.watching = this.listed();
    this.armed = snapshot.armed;
    this.met = snapshot.met;
    this.identities = new Map(snapshot.identities);
    this.count = { ...snapshot.count };
    this.nextSweep = snapshot.nextSweep;
    this.nextLook = snapshot.nextLook;
    this.mind = copyOf(snapshot.mind);
    this.began = snapshot.count.invocations;
    this.lines = options.trace === true ? [] : undefined;
    this.onSnapshot = options.onSnapshot;
    this.levers = {
      now: () => this.now(),
      release: (n) => {
        this.held.get(n)?.();
        this.held.delete(n);
      },
      relist: (afterMs) => this.later(afterMs, () => this.relist()),
    };
  }

  /** Opens the queue of the scenario. */
  queued(past: Journal): Post {
    const { simulator, scenario } = this.fixture;
    const { dispatched, hosted } = scenario;
    const own = { ...(dispatched === true ? bounds : queueBounds), ...(hosted === true ? { patientMs: 0 } : {}) };
    return openPost(() => simulator.clock.now(), own, past);
  }

  now(): number {
    return this.fixture.simulator.clock.now();
  }

  listed(): Watching {
    const watching = openWatching(cluster, this.operators, this.fixture.simulator.store);
    if (this.bell === undefined) watching.relist();
    return watching;
  }

  /** True in a scenario about another controller: functions look for it. */
  isBeside(): boolean {
    return this.fixture.scenario.beside !== undefined;
  }

  later(ms: number, keep: () => void): void {
    this.order += 1;
    this.agenda.push({ at: this.now() + ms, order: this.order, keep });
  }

  log(text: string | (() => string)): void {
    const line = typeof text === "function" && this.lines !== undefined ? text() : text;
    this.lines?.push(`${((this.now() - this.fixture.start) / 1000).toFixed(3).padStart(9)} s  ${line}`);
  }

  /** Hears every change of the store at once. */
  hear(change: Change): void {
    const { table, object, type } = change;
    this.identities.set(object.metadata.uid, identityOf(table, object));
    this.oracle.hear(change, this.actor, this.now());
    if (this.lines !== undefined && table !== "events")
      this.log(`    ${this.actor}: ${type} ${table}/${object.metadata.name}`);
    for (const [index, userAction] of this.fixture.scenario.userActions.entries()) {
      if (this.met.has(index) || !userAction.when(change)) continue;
      this.met = new Set([...this.met, index]);
      this.armed = [...this.armed, { at: this.now() + userAction.afterMs, index }];
    }
    if (this.bell === undefined) this.watch(change);
    else this.bell.hear(change);
  }

  watch(change: Change): void {
    if (!this.watching.tells(change)) return;
    this.count.events += 1;
    const hearing = this.fault.event?.(this.count.events, this.levers) ?? "told";
    if (hearing === "broken") this.watchingIs = "off";
    if (hearing !== "told" || this.watchingIs !== "on") return;
    this.offer(this.watching.hear(change));
  }

  /** Lists anew: a comparison finds the changes during the break of the watch. */
  relist(): void {
    this.watchingIs = "on";
    this.log("the watch begins again with a list");
    this.offer(this.watching.relist());
  }

  offer(sendings: readonly Sending[]): void {
    for (const sending of sendings) {
      const first = this.post.offer(sending);
      if (first !== undefined) this.send("forwarder", first.message, first.dedupeId);
    }
  }

  /** Sends a message into the queue, subject to the fault. */
  send(from: Sender, message: Message, id: string, ms?: number): void {
    const by = typeof from === "string" ? from : from.by;
    this.count.messages += 1;
    const posted: Posted = { n: this.count.messages, by, message, id, ms };
    this.messages.push(posted);
    this.oracle.said(JSON.stringify(message), "a message");
    const when = ms === undefined ? "" : ` in ${ms} ms`;
    this.log(() => `message ${posted.n} by ${by}: ${message.name}: ${message.reason}${when}`);
    const fate = this.fault.message?.(posted);
    if (fate?.do === "lose") this.oracle.lost?.(this.nextSweep);
    this.mail.put(typeof from === "string" ? this.post : from.post, posted, fate);
  }

  /** Ends an invocation by death. With its host, the host's memory is lost. */
  kill(flight: Flight, host: boolean): void {
    this.log(`  invocation ${flight.id} dies${host ? ", and its host" : ""}`);
    flight.dead = true;
    this.close(flight);
    flight.called?.end({ did: "broke", why: "the function died" });
    if (host) this.crash();
  }

  /** Ends an invocation that is over. */
  close(flight: Flight): void {
    this.flights.delete(flight);
    if (flight.by === "resync" && !this.swept) this.later(sweepSoonMs, () => this.swept || this.down || this.sweep());
    this.fault.ended?.(flight.id, this.levers);
  }

  /**
   * All processes that run steps die and lose their memory; after a while they begin again. A dispatcher dies without
   * the functions that it has called.
   */
  crash(): void {
    for (const flight of this.flights) {
      if (flight.called !== undefined) continue;
      flight.dead = true;
      this.close(flight);
    }
    this.down = true;
    this.watchingIs = "off";
    this.mind = openCacheState();
    this.post = this.queued(this.post.untaken());
    this.later(restartMs, () => this.restart());
  }

  /** Another dispatcher begins beside the one that is active, which ends after a while. */
  rival(): void {
    this.log("another dispatcher begins beside the one that is active");
    const next = this.queued([]);
    const both = beside(this.post, next);
    this.post = both;
    this.later(besideMs, () => {
      if (this.post === both) this.post = next;
    });
    this.nextSweep = this.now();
    this.relist();
  }

  restart(): void {
    this.down = false;
    this.nextSweep = this.now();
    if (this.isBeside()) this.nextLook = this.now();
    this.watching = openWatching(cluster, this.operators, this.fixture.simulator.store);
    this.relist();
  }

  flight(
    by: Flight["by"],
    delivery: Delivery | undefined,
    from: Pick<Flight, "post" | "called"> = { post: this.post },
  ): Flight {
    this.count.invocations += 1;
    const flight = { id: this.count.invocations, by, delivery, ...from, dead: false, lookedAt: this.now() };
    this.flights.add(flight);
    return flight;
  }

  async deliver(delivery: Delivery): Promise<void> {
    const messages = delivery.messages.filter((message) => message.cluster === cluster);
    if (messages.length === 0) return this.post.acknowledge(delivery);
    const by = messages.some(subjectOf) ? "delivery" : "step";
    if (this.fixture.scenario.dispatched === true) {
      this.dispatching.take(this.post.ownerOf(delivery), by, delivery);
      return settle();
    }
    const flight = this.flight(by, delivery);
    this.log(() => `invocation ${flight.id}: ${messages.map(({ name, reason }) => `${name}: ${reason}`).join("; ")}`);
    const { takes = take } = this.fixture;
    takes(worldFor(this, flight), messages).then(
      (ending) => this.finish(flight, ending !== undefined, ending),
      (cause) => this.finish(flight, false, String(cause)),
    );
    await settle();
  }

  async sweep(): Promise<void> {
    const flight = this.flight("resync", undefined);
    this.nextSweep = this.now() + sweepMs;
    this.swept = false;
    this.log(`invocation ${flight.id}: resync`);
    const scope = {
      ...{ ...passing(this, flight), cluster, namespaces: [], selector: undefined },
      ...{ operators: this.operators, now: () => this.now(), updates: this.fixture.scenario.listeners !== undefined },
    };
    const hands = { transport: scope.transport, report: () => {} };
    const swept = this.isBeside() ? resyncBeside(this, hands, scope) : resync(scope, String(this.now()));
    swept.then(
      (sent) => this.finish(flight, true, { sent }),
      (cause) => this.finish(flight, false, String(cause)),
    );
    await settle();
  }

  /** A look of a forwarder for other controllers. */
  async look(): Promise<void> {
    const flight = this.flight("look", undefined);
    this.nextLook = this.now() + lookMs;
    this.log(`invocation ${flight.id}: a forwarder looks for other controllers`);
    const hands = { transport: passing(this, flight).transport, report: () => {} };
    forwarderLooks(this, hands).then(
      () => this.finish(flight, true, {}),
      (cause) => this.finish(flight, false, String(cause)),
    );
    await settle();
  }

  /** Ends an invocation: its messages are acknowledged, or come back. */
  finish(flight: Flight, done: boolean, how: object | string | undefined): void {
    if (flight.dead) return;
    this.log(() => `  invocation ${flight.id} ends: ${typeof how === "string" ? how : JSON.stringify(how)}`);
    const close = (): void => {
      if (flight.by === "resync") this.swept = done;
      this.close(flight);
      if (flight.delivery === undefined) return;
      if (done) flight.post.acknowledge(flight.delivery);
      else flight.post.giveBack(flight.delivery, 1_000);
    };
    if (flight.delivery === undefined) {
      close();
      return;
    }
    const verdict = this.register(flight, { via: "queue", what: done ? "acknowledge" : "give back", write: false });
    const lost = (): Error => new Error("never acknowledged");
    void carry(verdict, { execution: this, flight, n: this.count.calls, effect: close, lost });
  }

  /** Numbers a call, and asks the fault about it. */
  register(flight: Flight, about: Pick<Call, "via" | "what" | "write"> & { readonly request?: HttpRequest }) {
    this.count.calls += 1;
    const n = this.count.calls;
    for (const late of this.late) if (late.by <= n) late.arrive();
    const key = flight.delivery?.messages[0]?.name;
    const call: Call = {
      n,
      invocation: flight.id,
      by: flight.by,
      key,
      phase: this.oracle.phase(),
      ...about,
      called: flight.called !== undefined,
    };
    this.calls.push(call);
    const verdict = this.fault.call?.(call, this.levers) ?? ({ do: "pass" } as const);
    const struck = (): string => (verdict.do === "pass" ? "" : ` — ${JSON.stringify(verdict).slice(0, 160)}`);
    this.log(() => `  ${flight.id} call ${n}: ${call.what}${struck()}`);
    return verdict;
  }

  /** Lets the request take effect. */
  perform(request: HttpRequest): HttpResponse {
    const isWrite = request.method !== "GET" && !isSighting(request);
    if (isWrite) this.writes += 1;
    const before = request.method === "GET" ? this.bell?.beforeHidden(request) : undefined;
    if (before !== undefined) return before;
    this.actor = "engine";
    const answer = this.fixture.simulator.handle(request);
    if (isWrite && answer.status < 400) this.changes += 1;
    for (const what of droppedBy(request, answer)) this.dropped.add(what);
    this.actor = "cluster";
    return answer;
  }

  snapshot(): Snapshot {
    return {
      simulator: this.fixture.simulator.snapshot(),
      journal: this.post.journal(),
      oracle: this.oracle.copy(),
      count: { ...this.count },
      nextSweep: this.nextSweep,
      nextLook: this.nextLook,
      mind: copyOf(this.mind),
      identities: new Map(this.identities),
      armed: this.armed,
      met: this.met,
    };
  }
}
