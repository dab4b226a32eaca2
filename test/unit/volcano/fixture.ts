/**
 * One object of any kind and the objects around it as plain data; a step runs only the decision, and the test sets the
 * time.
 */

import { mergePatch } from "../../../shared/core/json.ts";
import type { Key } from "../../../shared/core/key.ts";
import type { Obj, Resource, Stored } from "../../../shared/core/object.ts";
import type { Operator } from "../../../shared/core/operator.ts";
import type { Effect, Plan, ProbeResult, Query, Refusal } from "../../../shared/core/plan.ts";
import { timeText } from "../../../shared/core/time.ts";
import { resultOf } from "../../support/decisions.ts";
import { does } from "../../support/plans.ts";

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The target after a merge patch. */
export const applied = (target: unknown, patch: unknown): unknown => {
  if (!isFields(patch)) return patch;
  const before = isFields(target) ? target : {};
  const changed = Object.entries(patch).map(([name, value]) => [
    name,
    value === null ? undefined : applied(before[name], value),
  ]);
  const whole = Object.entries({ ...before, ...Object.fromEntries(changed) });
  return Object.fromEntries(whole.filter(([, value]) => value !== undefined));
};

type Ask = Extract<Query, { do: "proxyGet" }>;

/** The effects that a step has done so far, and the refusals that it met. */
type Before = { readonly refused?: readonly Refusal[]; readonly done?: readonly Effect[] };

export class Fixture<Memory> {
  memory: Memory | undefined;
  readonly objects = new Map<string, Stored>();
  /** Writes in order: `create jobs a`, `delete jobs a`. */
  readonly deeds: string[] = [];
  /** Events as `Reason: message`. */
  readonly told: string[] = [];
  /** The answers of pods to proxied requests. */
  hears: (query: Ask) => ProbeResult = () => ({ heard: false, why: "unreachable", message: "nobody" });
  /** Returns the refusal of a creation; undefined: the server accepts it. */
  refuses: ((object: Obj) => Omit<Refusal, "effect"> | undefined) | undefined;
  last: Plan<Memory> | undefined;
  private count = 0;
  readonly key: Key;
  private readonly operator: Pick<Operator<Memory>, "decide" | "resource" | "kind">;
  now: number;

  constructor(operator: Pick<Operator<Memory>, "decide" | "resource" | "kind">, object: Obj, now: number) {
    this.operator = operator;
    this.now = now;
    this.key = { cluster: "here", kind: operator.kind, namespace: "ns", name: object.metadata.name };
    this.put(operator.resource, object);
  }

  put({ plural }: Pick<Resource, "plural">, object: Obj): Stored {
    this.count += 1;
    const id = `${plural}/${object.metadata.name}`;
    const before = this.objects.get(id)?.metadata;
    const stored: Stored = {
      ...object,
      metadata: {
        ...object.metadata,
        namespace: "ns",
        uid: before?.uid ?? `uid-${this.count}`,
        resourceVersion: `${this.count}`,
        creationTimestamp: before?.creationTimestamp ?? object.metadata.creationTimestamp ?? timeText(this.now),
      },
    };
    this.objects.set(id, stored);
    return stored;
  }

  get(plural: string, name: string): Stored {
    const found = this.objects.get(`${plural}/${name}`);
    if (found === undefined) throw new Error(`no ${plural}/${name}`);
    return found;
  }

  names(plural: string): readonly string[] {
    return [...this.objects.values()]
      .filter((_, at) => [...this.objects.keys()][at]?.startsWith(`${plural}/`))
      .map(({ metadata }) => metadata.name);
  }

  change(plural: string, name: string, patch: Fields): void {
    this.put({ plural }, { ...this.get(plural, name), ...Object(applied(this.get(plural, name), patch)) });
  }

  remove(plural: string, name: string): void {
    this.objects.delete(`${plural}/${name}`);
  }

  /** Sets the phase of a job, entered at the current time. */
  job(name: string, phase: string, more: Fields = {}): void {
    const state = { phase, lastTransitionTime: timeText(this.now) };
    this.change("jobs", name, { status: { state, ...more } });
  }

  own(): Stored {
    return this.get(this.operator.resource.plural, this.key.name);
  }

  status(): Fields {
    return Object(this.own()["status"] ?? {});
  }

  private answer(query: Exclude<Query, Ask>): readonly Stored[] {
    if (query.do !== "list") {
      const found = this.objects.get(`${query.ref.resource.plural}/${query.ref.name}`);
      return found === undefined ? [] : [found];
    }
    return this.names(query.resource.plural)
      .map((name) => this.get(query.resource.plural, name))
      .filter(({ metadata }) => Object.entries(query.labels).every(([name, text]) => metadata.labels?.[name] === text));
  }

  private decided({ refused = [], done = [] }: Before): Plan<Memory> {
    const object = this.objects.get(`${this.operator.resource.plural}/${this.key.name}`);
    const uid = object?.metadata.uid ?? "uid-1";
    const view = { object, uid, memory: this.memory, now: this.now, refused, done };
    return resultOf(this.operator.decide(this.key, view), {
      objects: (query) => this.answer(query),
      probe: (query) => {
        if (query.do === "proxyGet") return this.hears(query);
        throw new Error("nobody answers getIfAllowed");
      },
    });
  }

  private perform(effect: Effect): Refusal | undefined {
    if (effect.do === "record") {
      const text = `${effect.reason}: ${effect.message}`;
      if (!this.told.includes(text)) this.told.push(text);
      return undefined;
    }
    if (effect.do === "create") return this.create(effect);
    if (effect.do === "delete") {
      const { plural } = effect.ref.resource;
      this.deeds.push(`delete ${plural} ${effect.ref.name}`);
      this.remove(plural, effect.ref.name);
    }
    return undefined;
  }

  private create(effect: Extract<Effect, { do: "create" }>): Refusal | undefined {
    const { resource, object } = effect;
    const refusal = this.refuses?.(object);
    if (refusal !== undefined) return { effect, ...refusal };
    if (this.objects.has(`${resource.plural}/${object.metadata.name}`)) return undefined;
    this.deeds.push(`create ${resource.plural} ${object.metadata.name}`);
    this.put(resource, object);
    return undefined;
  }

  /** Takes one step. `dies`: the step ends after the save, before any effect. */
  step(dies = false, before: Before = {}): Plan<Memory> {
    const { refused = [], done = [] } = before;
    const plan = this.decided(before);
    this.last = plan;
    this.memory = plan.memory;
    if (dies) return plan;
    for (const effect of plan.stages.flat()) {
      const refusal = this.perform(effect);
      if (refusal !== undefined) return this.step(false, { done, refused: [...refused, refusal] });
    }
    if (does(plan, "continue") === true) return this.step(false, { refused, done: [...done, ...plan.stages.flat()] });
    const patch = plan.status === undefined ? undefined : mergePatch(this.own()["status"] ?? {}, plan.status);
    if (patch !== undefined) this.put(this.operator.resource, { ...this.own(), status: applied(this.status(), patch) });
    return plan;
  }

  /** Steps until a step writes nothing and asks for no further step. */
  run(): this {
    for (let steps = 0; steps < 40; steps += 1) {
      const before = this.count + this.deeds.length;
      const again = does(this.step(), "again");
      if (again !== true && this.count + this.deeds.length === before) return this;
    }
    throw new Error(`never rests: ${this.deeds.slice(-6).join(", ")}`);
  }

  turn(ms: number): this {
    this.now += ms;
    return this;
  }
}
