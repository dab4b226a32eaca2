/** A job and its objects as plain data; a step runs only the decision, and the test sets the time. */

import { mergePatch } from "../../../../shared/core/json.ts";
import type { Key } from "../../../../shared/core/key.ts";
import type { Obj, Ref, Resource, Stored } from "../../../../shared/core/object.ts";
import {
  type Effect,
  type Plan,
  type Query,
  type Refusal,
  type Returning,
  wholeOf,
} from "../../../../shared/core/plan.ts";
import { timeText } from "../../../../shared/core/time.ts";
import { decide } from "../../../../shared/volcano/job/decide.ts";
import { type Memory, parseMemory } from "../../../../shared/volcano/job/memory.ts";
import { type Answering, asStep, readAgain, resultOf } from "../../../support/decisions.ts";
import { does } from "../../../support/plans.ts";
import { applied } from "../fixture.ts";

export const key: Key = { cluster: "here", kind: "Job", namespace: "ns", name: "j" };

/** 2026-11-02T08:00:00Z. */
export const eight = Date.UTC(2026, 10, 2, 8);

type Fields = Readonly<Record<string, unknown>>;

const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "x" }] } };

/** Returns a task of this many pods. */
export const task = (name: string, replicas: number, more: Fields = {}): Fields => ({
  name,
  replicas,
  template,
  ...more,
});

const idOf = (plural: string, name: string): string => `${plural}/${name}`;

export class Loop {
  now = eight;
  memory: Memory | undefined;
  /** Writes that were applied, in order. */
  readonly deeds: string[] = [];
  /** Phases that the status has shown, in order. */
  readonly phases: string[] = [];
  readonly objects = new Map<string, Stored>();
  /** Whether deleted pods stay, with a deletion timestamp, until `release` removes them. */
  lingering = false;
  /** Running pods that are deleted get this grace, in seconds, and stay until `release`. */
  grace: number | undefined;
  last: Plan<Memory> | undefined;
  /** Selects the queries that are answered as if there were no objects. */
  blind: (query: Query) => boolean = () => false;
  /** The recovery window, if one is open. */
  returning: Returning | undefined;
  private count = 0;

  constructor(spec: Fields, more: Fields = {}) {
    this.put("jobs", {
      apiVersion: "batch.volcano.sh/v1alpha1",
      kind: "Job",
      metadata: { name: "j", namespace: "ns" },
      spec,
      ...more,
    });
    this.put("queues", { apiVersion: "v1", kind: "Queue", metadata: { name: "default" }, status: { state: "Open" } });
  }

  put(plural: string, object: Obj): Stored {
    this.count += 1;
    const { name } = object.metadata;
    const before = this.objects.get(idOf(plural, name));
    const stored: Stored = {
      ...object,
      metadata: {
        ...object.metadata,
        uid: before?.metadata.uid ?? `uid-${this.count}`,
        resourceVersion: `${this.count}`,
        creationTimestamp: before?.metadata.creationTimestamp ?? timeText(this.now),
      },
    };
    this.objects.set(idOf(plural, name), stored);
    return stored;
  }

  /** Merges the patch into an object. */
  change(plural: string, name: string, patch: Fields): void {
    const before = this.objects.get(idOf(plural, name));
    if (before === undefined) throw new Error(`no ${plural}/${name}`);
    this.put(plural, { ...before, ...Object(applied(before, patch)) });
  }

  job(): Stored {
    const job = this.objects.get("jobs/j");
    if (job === undefined) throw new Error("the job is gone");
    return job;
  }

  pod(name: string): Stored {
    const pod = this.objects.get(idOf("pods", name));
    if (pod === undefined) throw new Error(`no pod ${name}`);
    return pod;
  }

  names(plural: string): readonly string[] {
    return [...this.objects.keys()]
      .filter((id) => id.startsWith(`${plural}/`))
      .map((id) => id.slice(plural.length + 1));
  }

  status(): Fields & { readonly state?: { phase?: string; message?: string } } {
    return Object(this.job()["status"] ?? {});
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

  remove(plural: string, name: string): void {
    this.objects.delete(idOf(plural, name));
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

  /** Sets the phase of the job's PodGroup, if it has one, as the scheduler does. */
  admit(phase = "Inqueue"): void {
    for (const name of this.names("podgroups")) this.change("podgroups", name, { status: { phase } });
  }

  private answer(query: Query): readonly Stored[] {
    if (this.blind(query)) return [];
    if (query.do === "get") {
      const found = this.objects.get(idOf(query.ref.resource.plural, query.ref.name));
      return found === undefined ? [] : [found];
    }
    if (query.do !== "list") throw new Error(`nobody answers a ${query.do}`);
    const { field = "" } = query;
    return [...this.objects]
      .filter(([id]) => id.startsWith(`${query.resource.plural}/`))
      .map(([, object]) => object)
      .filter(({ metadata, involvedObject }) => {
        const { uid } = Object(involvedObject);
        return ["", `metadata.name=${metadata.name}`, `involvedObject.uid=${uid}`].includes(field);
      })
      .filter(({ metadata }) =>
        Object.entries(query.labels).every(([name, value]) => metadata.labels?.[name] === value),
      );
  }

  private decided(refused: readonly Refusal[], reads: Answering, done: Effect[]): Plan<Memory> {
    const object = this.objects.get("jobs/j");
    const known = { uid: object?.metadata.uid ?? "uid-1", memory: this.memory, now: this.now };
    return resultOf(decide(key, { object, ...known, refused, done, returning: this.returning }), reads);
  }

  private perform(effect: Effect): void {
    if (effect.do === "record") return;
    if (effect.do === "create") {
      this.create(effect.resource, wholeOf(effect));
      return;
    }
    const { plural } = effect.ref.resource;
    const there = this.objects.get(idOf(plural, effect.ref.name));
    if (there?.metadata.uid !== effect.uid) return;
    this.deeds.push(`${effect.do} ${plural} ${effect.ref.name}`);
    if (effect.do === "patch") this.put(plural, { ...there, ...Object(applied(there, effect.patch)) });
    else this.end(plural, effect.ref, there);
  }

  private end(plural: string, ref: Ref, there: Stored): void {
    if (plural === "pods" && this.grace !== undefined && Object(there["status"])["phase"] === "Running")
      this.ask(ref.name, this.grace);
    else if (!this.lingering || plural !== "pods") this.objects.delete(idOf(plural, ref.name));
    else this.put(plural, { ...there, metadata: { ...there.metadata, deletionTimestamp: timeText(this.now) } });
  }

  private create({ plural }: Resource, object: Obj): void {
    if (this.objects.has(idOf(plural, object.metadata.name))) return;
    this.deeds.push(`create ${plural} ${object.metadata.name}`);
    this.put(plural, plural === "pods" ? { ...object, status: { phase: "Pending" } } : object);
  }

  /** Takes one step. `dies`: the step ends after the save, before any effect. */
  step(dies = false): Plan<Memory> {
    const reads = asStep({ objects: (query) => this.answer(query) });
    const done: Effect[] = [];
    let plan = this.decided([], reads, done);
    this.memory = readAgain(parseMemory, plan.memory);
    if (dies) return plan;
    for (; does(plan, "continue") === true; plan = this.decided([], reads, done)) done.push(...this.act(plan));
    this.act(plan);
    plan = { ...plan, stages: [done, ...plan.stages].filter(({ length }) => length > 0) };
    this.last = plan;
    if (plan.status !== undefined) this.tell(plan.status);
    if (does(plan, "forget") === true) this.memory = undefined;
    return plan;
  }

  private act({ memory, stages }: Plan<Memory>): readonly Effect[] {
    this.memory = readAgain(parseMemory, memory);
    for (const effect of stages.flat()) this.perform(effect);
    return stages.flat();
  }

  private tell(wished: Fields): void {
    const patch = mergePatch(this.job()["status"] ?? {}, wished);
    if (patch === undefined) return;
    this.put("jobs", { ...this.job(), status: applied(this.job()["status"] ?? {}, patch) });
    const { phase = "" } = this.status().state ?? {};
    if (this.phases.at(-1) !== phase) this.phases.push(phase);
  }

  /** Steps until a step writes nothing and asks for no further step. */
  run(): this {
    for (let steps = 0; steps < 40; steps += 1) {
      const before = this.count;
      const again = does(this.step(), "again");
      if (!this.objects.has("jobs/j")) return this;
      if (again !== true && this.count === before) return this;
    }
    throw new Error(`never rests: ${this.deeds.slice(-6).join(", ")}`);
  }

  /** Steps until all pods of the job run. */
  running(): this {
    this.run();
    this.admit();
    this.run();
    this.pods("Running");
    return this.run();
  }

  /** Creates a Command for the job. */
  order(action: string): void {
    this.put("commands", {
      apiVersion: "bus.volcano.sh/v1alpha1",
      kind: "Command",
      metadata: { name: `c-${action}`, namespace: "ns" },
      action,
      target: { apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job", name: "j", uid: this.job().metadata.uid },
    });
  }

  turn(ms: number): this {
    this.now += ms;
    return this;
  }
}
