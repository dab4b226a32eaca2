/**
 * One object of any kind and the objects around it as plain data; a step runs only the decision, and the test sets the
 * time.
 */

import { mergePatch } from "../../../shared/core/json.ts";
import type { Key } from "../../../shared/core/key.ts";
import type { Obj, Stored } from "../../../shared/core/object.ts";
import type { Operator } from "../../../shared/core/operator.ts";
import {
  type Effect,
  type Plan,
  type ProbeResult,
  type Query,
  type Refusal,
  type Returning,
  wholeOf,
} from "../../../shared/core/plan.ts";
import { timeText } from "../../../shared/core/time.ts";
import { mergePatch as patched } from "../../../shared/simulator/schema/patch.ts";
import { type Answering, asStep, readAgain, resultOf } from "../../support/decisions.ts";
import { does } from "../../support/plans.ts";

type Fields = Readonly<Record<string, unknown>>;
type Ask = Extract<Query, { do: "proxyGet" }>;

/** The effects that a step has done so far, the refusals that it met, and its reads. */
type Before = { readonly refused: readonly Refusal[]; readonly done: readonly Effect[]; readonly reads: Answering };

type Decided<Memory> = Pick<Operator<Memory>, "decide" | "resource" | "kind" | "parse">;

type Status = Fields & { readonly state?: { phase?: string; message?: string }; readonly active?: unknown };

export const idOf = (plural: string, name: string): string => `${plural}/${name}`;

/** The objects, the time, and what steps have done. Fixtures of several objects share one. */
export type World = {
  now: number;
  /** Count of all writes, also of those by the test. */
  count: number;
  readonly objects: Map<string, Stored>;
  /** Writes of steps in order: `create jobs a`, `delete jobs a`. */
  readonly deeds: string[];
  /** The name of the object of each Event, and the Event as `Reason: message`. */
  readonly events: (readonly [about: string, text: string])[];
};

export const openWorld = (now: number): World => ({ now, count: 0, objects: new Map(), deeds: [], events: [] });

export class Fixture<Memory> {
  memory: Memory | undefined;
  /** Phases that the status has shown, in order. */
  readonly phases: string[] = [];
  /** The answers of pods to proxied requests. */
  hears: (query: Ask) => ProbeResult = () => ({ heard: false, why: "unreachable", message: "nobody" });
  /** Returns the refusal of a creation; undefined: the server accepts it. */
  refuses: ((object: Obj) => Omit<Refusal, "effect"> | undefined) | undefined;
  /** Whether deleted pods stay, with a deletion timestamp, until `release` removes them. */
  lingering = false;
  /** Running pods that are deleted get this grace, in seconds, and stay until `release`. */
  grace: number | undefined;
  /** Selects the queries that are answered as if there were no objects. */
  blind: (query: Query) => boolean = () => false;
  /** The recovery window, if one is open. */
  returning: Returning | undefined;
  /** The plan of the last step, with all stages of the step. */
  last: Plan<Memory> | undefined;
  readonly key: Key;
  readonly world: World;
  private readonly operator: Decided<Memory>;

  /** The object of this name and namespace in the world; the test puts it there. */
  constructor(operator: Decided<Memory>, { name, namespace }: Pick<Key, "name" | "namespace">, world: World) {
    this.operator = operator;
    this.world = world;
    this.key = { cluster: "here", kind: operator.kind, namespace, name };
  }

  get now(): number {
    return this.world.now;
  }

  set now(now: number) {
    this.world.now = now;
  }

  get objects(): World["objects"] {
    return this.world.objects;
  }

  get deeds(): string[] {
    return this.world.deeds;
  }

  /** Events as `Reason: message`, each once. */
  get told(): readonly string[] {
    return [...new Set(this.world.events.map(([, text]) => text))];
  }

  put(plural: string, object: Obj): Stored {
    const count = this.world.count + 1;
    this.world.count = count;
    const id = idOf(plural, object.metadata.name);
    const before = this.objects.get(id)?.metadata;
    const { namespace } = this.key;
    const stored: Stored = {
      ...object,
      metadata: {
        ...(namespace === "" ? {} : { namespace }),
        ...object.metadata,
        uid: before?.uid ?? `uid-${count}`,
        resourceVersion: `${count}`,
        creationTimestamp: before?.creationTimestamp ?? object.metadata.creationTimestamp ?? timeText(this.now),
      },
    };
    this.objects.set(id, stored);
    return stored;
  }

  get(plural: string, name: string): Stored {
    const found = this.objects.get(idOf(plural, name));
    if (found === undefined) throw new Error(`no ${plural}/${name}`);
    return found;
  }

  names(plural: string): readonly string[] {
    return [...this.objects.keys()]
      .filter((id) => id.startsWith(`${plural}/`))
      .map((id) => id.slice(plural.length + 1));
  }

  /** Merges the patch into an object. */
  change(plural: string, name: string, patch: Fields): void {
    const before = this.get(plural, name);
    this.put(plural, { ...before, ...Object(patched(before, patch)) });
  }

  remove(plural: string, name: string): void {
    this.objects.delete(idOf(plural, name));
  }

  /** Sets the phase of a job, entered at the current time. */
  job(name: string, phase: string, more: Fields = {}): void {
    const state = { phase, lastTransitionTime: timeText(this.now) };
    this.change("jobs", name, { status: { state, ...more } });
  }

  own(): Stored {
    return this.get(this.operator.resource.plural, this.key.name);
  }

  status(): Status {
    return Object(this.own()["status"] ?? {});
  }

  pod(name: string): Stored {
    return this.get("pods", name);
  }

  /** Sets the phase of the pods of these names, or of all pods. */
  pods(phase: string, names: readonly string[] = this.names("pods"), more: Fields = {}): void {
    for (const name of names) this.change("pods", name, { status: { phase, ...more } });
  }

  /** Sets a pod to Failed, its containers ended with these exit codes. */
  fail(name: string, ...codes: readonly number[]): void {
    const containerStatuses = codes.map((exitCode, at) => ({
      name: `c${at}`,
      state: { terminated: { exitCode, finishedAt: timeText(this.now) } },
    }));
    this.pods("Failed", [name], { containerStatuses });
  }

  /** Marks a pod as being deleted with this grace, in seconds. A finished pod has none: 0. */
  ask(name: string, graceSeconds = 30, more: Fields = {}): void {
    this.change("pods", name, {
      metadata: {
        deletionTimestamp: timeText(this.now + graceSeconds * 1_000),
        deletionGracePeriodSeconds: graceSeconds,
        ...more,
      },
    });
  }

  /** Ends a pod's process with 0, as a kubelet writes it, also for a pod that is being deleted. */
  exits(name: string): void {
    const state = { terminated: { exitCode: 0, finishedAt: timeText(this.now) } };
    this.pods("Succeeded", [name], { containerStatuses: [{ name: "c", state }] });
  }

  /** Removes every object that has a deletion timestamp. */
  release(): void {
    for (const [id, object] of this.objects)
      if (object.metadata.deletionTimestamp !== undefined) this.objects.delete(id);
  }

  /** Sets the phase of every PodGroup, as the scheduler does. */
  admit(phase = "Inqueue"): void {
    for (const name of this.names("podgroups")) this.change("podgroups", name, { status: { phase } });
  }

  /** Creates a Command for the object. */
  order(action: string): void {
    const { apiVersion, kind, metadata } = this.own();
    const target = { apiVersion, kind, name: metadata.name, uid: metadata.uid };
    const command = { apiVersion: "bus.volcano.sh/v1alpha1", kind: "Command", metadata: { name: `c-${action}` } };
    this.put("commands", { ...command, action, target });
  }

  private answer(query: Exclude<Query, Ask>): readonly Stored[] {
    if (this.blind(query)) return [];
    if (query.do !== "list") {
      const found = this.objects.get(idOf(query.ref.resource.plural, query.ref.name));
      return found === undefined ? [] : [found];
    }
    const { field = "", labels, resource } = query;
    return this.names(resource.plural)
      .map((name) => this.get(resource.plural, name))
      .filter(({ metadata, involvedObject }) => {
        const { uid } = Object(involvedObject);
        return ["", `metadata.name=${metadata.name}`, `involvedObject.uid=${uid}`].includes(field);
      })
      .filter(({ metadata }) => Object.entries(labels).every(([name, text]) => metadata.labels?.[name] === text));
  }

  private decided({ refused, done, reads }: Before): Plan<Memory> {
    const object = this.objects.get(idOf(this.operator.resource.plural, this.key.name));
    const known = { uid: object?.metadata.uid ?? "uid-1", memory: this.memory, now: this.now };
    const view = { object, ...known, refused, done, returning: this.returning };
    const plan = resultOf(this.operator.decide(this.key, view), reads);
    this.memory = readAgain((stored) => this.operator.parse(stored), plan.memory);
    return plan;
  }

  private perform(effect: Effect): Refusal | undefined {
    if (effect.do === "record") {
      this.world.events.push([effect.about.metadata.name, `${effect.reason}: ${effect.message}`]);
      return undefined;
    }
    if (effect.do === "create") return this.create(effect);
    const { plural } = effect.ref.resource;
    const there = this.objects.get(idOf(plural, effect.ref.name));
    if (there?.metadata.uid !== effect.uid) return undefined;
    this.world.deeds.push(`${effect.do} ${plural} ${effect.ref.name}`);
    if (effect.do === "patch") this.put(plural, { ...there, ...Object(patched(there, effect.patch)) });
    else this.end(plural, there);
    return undefined;
  }

  private end(plural: string, there: Stored): void {
    const { name } = there.metadata;
    if (plural === "pods" && this.grace !== undefined && Object(there["status"])["phase"] === "Running")
      this.ask(name, this.grace);
    else if (!this.lingering || plural !== "pods") this.remove(plural, name);
    else this.change(plural, name, { metadata: { deletionTimestamp: timeText(this.now) } });
  }

  private create(effect: Extract<Effect, { do: "create" }>): Refusal | undefined {
    const { plural } = effect.resource;
    const object = wholeOf(effect);
    const refusal = this.refuses?.(object);
    if (refusal !== undefined) return { effect, ...refusal };
    if (this.objects.has(idOf(plural, object.metadata.name))) return undefined;
    this.world.deeds.push(`create ${plural} ${object.metadata.name}`);
    this.put(plural, plural === "pods" ? { ...object, status: { phase: "Pending" } } : object);
    return undefined;
  }

  /** Carries the effects out until one is refused. */
  private carry(effects: readonly Effect[]): Refusal | undefined {
    for (const effect of effects) {
      const refusal = this.perform(effect);
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  }

  /** Takes one step. `dies`: the step ends after the save, before any effect. */
  step(dies = false): Plan<Memory> {
    const probe = (query: Query): ProbeResult => {
      if (query.do === "proxyGet") return this.hears(query);
      throw new Error(`nobody answers ${query.do}`);
    };
    const reads = asStep({ objects: (query) => this.answer(query), probe });
    const refused: Refusal[] = [];
    const done: Effect[] = [];
    for (;;) {
      const plan = this.decided({ refused, done, reads });
      this.last = { ...plan, stages: [[...done], ...plan.stages].filter(({ length }) => length > 0) };
      if (dies) return this.last;
      const refusal = this.carry(plan.stages.flat());
      if (refusal !== undefined) refused.push(refusal);
      else if (does(plan, "continue") === true) done.push(...plan.stages.flat());
      else {
        if (plan.status !== undefined) this.tell(plan.status);
        if (does(plan, "forget") === true) this.memory = undefined;
        return this.last;
      }
    }
  }

  private tell(status: Fields): void {
    const patch = mergePatch(this.status(), status);
    if (patch === undefined) return;
    this.put(this.operator.resource.plural, { ...this.own(), status: patched(this.status(), patch) });
    const { phase = "" } = this.status().state ?? {};
    if (this.phases.at(-1) !== phase) this.phases.push(phase);
  }

  /** Steps until a step writes nothing and asks for no further step, or the object is gone. */
  run(): this {
    for (let steps = 0; steps < 40; steps += 1) {
      const before = this.world.count + this.deeds.length;
      const again = does(this.step(), "again");
      if (!this.objects.has(idOf(this.operator.resource.plural, this.key.name))) return this;
      if (again !== true && this.world.count + this.deeds.length === before) return this;
    }
    throw new Error(`never rests: ${this.deeds.slice(-6).join(", ")}`);
  }

  /** Steps until all pods of a job run. */
  running(): this {
    this.run();
    this.admit();
    this.run();
    this.pods("Running");
    return this.run();
  }

  turn(ms: number): this {
    this.now += ms;
    return this;
  }
}

/** The only object of a world of its own, in namespace `ns`. */
export const fixtureOf = <Memory>(operator: Decided<Memory>, object: Obj, now: number): Fixture<Memory> => {
  const fixture = new Fixture(operator, { name: object.metadata.name, namespace: "ns" }, openWorld(now));
  fixture.put(operator.resource.plural, object);
  return fixture;
};
