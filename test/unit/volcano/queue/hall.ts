/** Queues, PodGroups and Commands as plain data; each queue's decision runs in turn until nothing changes. */

import type { Obj, Stored } from "../../../../shared/core/object.ts";
import type { Effect, Plan, Query } from "../../../../shared/core/plan.ts";
import { timeText } from "../../../../shared/core/time.ts";
import { mergePatch } from "../../../../shared/simulator/schema/patch.ts";
import type { GangMode } from "../../../../shared/volcano/gang/settings.ts";
import { type QueueOptions, volcanoQueue } from "../../../../shared/volcano/queue/decide.ts";
import type { QueueMemory } from "../../../../shared/volcano/queue/state/memory.ts";
import { resultOf } from "../../../support/decisions.ts";
import { does } from "../../../support/plans.ts";

type Fields = Readonly<Record<string, unknown>>;

const idOf = (plural: string, name: string): string => `${plural}/${name}`;

export class Hall {
  now = Date.UTC(2026, 10, 2, 8);
  /** Count of writes by steps. */
  writes = 0;
  private count = 0;
  private readonly objects = new Map<string, Stored>();
  private readonly memories = new Map<string, QueueMemory>();
  private readonly sayings: (readonly [string, string])[] = [];
  private readonly options: QueueOptions;

  constructor(queues: Readonly<Record<string, Fields>>, gang: GangMode = "auto", more: QueueOptions = {}) {
    this.options = { gang, ...more };
    for (const [name, spec] of Object.entries(queues)) this.put("queues", { ...this.bare("Queue", name), spec });
  }

  private bare(kind: string, name: string, namespace?: string): Obj {
    return { apiVersion: "v1", kind, metadata: { name, ...(namespace === undefined ? {} : { namespace }) } };
  }

  private put(plural: string, object: Obj): this {
    this.count += 1;
    const before = this.objects.get(idOf(plural, object.metadata.name));
    const creationTimestamp = before?.metadata.creationTimestamp ?? timeText(this.now);
    const uid = before?.metadata.uid ?? `uid-${this.count}`;
    const metadata = { ...object.metadata, uid, creationTimestamp, resourceVersion: `${this.count}` };
    this.objects.set(idOf(plural, object.metadata.name), { ...object, metadata });
    return this;
  }

  private at(plural: string, name: string): Stored {
    const found = this.objects.get(idOf(plural, name));
    if (found === undefined) throw new Error(`no ${plural}/${name}`);
    return found;
  }

  private merge(plural: string, name: string, patch: unknown): this {
    const before = this.at(plural, name);
    return this.put(plural, { ...before, ...Object(mergePatch(before, patch)) });
  }

  /** Creates a group of another controller, and its pod. */
  group(name: string, queue: string, minResources: Fields = {}): this {
    const pod = this.bare("Pod", name, "ns");
    const metadata = { ...pod.metadata, annotations: { "scheduling.k8s.io/group-name": name } };
    this.put("pods", { ...pod, metadata, spec: { schedulerName: "default-scheduler" } });
    return this.put("podgroups", { ...this.bare("PodGroup", name, "ns"), spec: { queue, minResources } });
  }

  order(name: string, action: string, queue: string, namespace = "default"): this {
    const { uid } = this.at("queues", queue).metadata;
    const target = { apiVersion: "scheduling.volcano.sh/v1beta1", kind: "Queue", name: queue, uid };
    this.now += 1_000;
    return this.put("commands", { ...this.bare("Command", name, namespace), action, target });
  }

  /** Writes the lease of Volcano's scheduler, renewed at the current time with this duration in seconds. */
  lease(leaseDurationSeconds: number): this {
    const spec = { holderIdentity: "s", leaseDurationSeconds, renewTime: timeText(this.now) };
    return this.put("leases", { ...this.bare("Lease", "volcano", "volcano-system"), spec });
  }

  turn(ms: number): this {
    this.now += ms;
    return this;
  }

  leave(group: string): this {
    this.objects.delete(idOf("podgroups", group));
    return this;
  }

  forget(command: string): this {
    this.objects.delete(idOf("commands", command));
    return this;
  }

  say(queue: string, status: Fields): this {
    return this.merge("queues", queue, { status });
  }

  change(queue: string, spec: Fields): this {
    return this.merge("queues", queue, { spec });
  }

  names(): readonly string[] {
    return this.all("queues")
      .map(({ metadata }) => metadata.name)
      .sort();
  }

  commands(): readonly string[] {
    return this.all("commands").map(({ metadata }) => metadata.name);
  }

  status(queue: string): Fields {
    return Object(this.at("queues", queue)["status"]);
  }

  state(queue: string): unknown {
    return this.status(queue)["state"];
  }

  spec(queue: string): Fields {
    return Object(this.at("queues", queue)["spec"]);
  }

  mark(queue: string): string | undefined {
    return this.at("queues", queue).metadata.annotations?.["volcano.sh/closed-by-parent"];
  }

  phase(group: string): unknown {
    return Object(this.at("podgroups", group)["status"])["phase"];
  }

  conditions(group: string): unknown {
    return Object(this.at("podgroups", group)["status"])["conditions"];
  }

  told(queue: string): readonly string[] {
    return this.sayings.filter(([name]) => name === queue).map(([, saying]) => saying);
  }

  private all(plural: string): readonly Stored[] {
    return [...this.objects].filter(([id]) => id.startsWith(`${plural}/`)).map(([, object]) => object);
  }

  private answer(query: Query): readonly Stored[] {
    if (query.do === "get")
      return [this.objects.get(idOf(query.ref.resource.plural, query.ref.name))].filter((one) => one !== undefined);
    if (query.do !== "list") throw new Error(`nobody answers a ${query.do}`);
    const named = query.field?.replace("metadata.name=", "");
    return this.all(query.resource.plural).filter(({ metadata }) => named === undefined || metadata.name === named);
  }

  private decided(name: string, done: readonly Effect[]): Plan<QueueMemory> {
    const { decide } = volcanoQueue(this.options);
    const object = this.at("queues", name);
    const about = { object, uid: object.metadata.uid, memory: this.memories.get(name) };
    const decision = decide(
      { cluster: "here", kind: "Queue", namespace: "", name },
      { ...about, now: this.now, refused: [], done },
    );
    return resultOf(decision, { objects: (query) => this.answer(query) });
  }

  private perform(effect: Effect): void {
    if (effect.do === "record") {
      this.sayings.push([effect.about.metadata.name, `${effect.reason}: ${effect.message}`]);
      return;
    }
    this.writes += 1;
    if (effect.do === "create") this.put(effect.resource.plural, effect.object);
    else if (effect.do === "delete" || effect.do === "evict")
      this.objects.delete(idOf(effect.ref.resource.plural, effect.ref.name));
    else if (effect.do === "patch") this.merge(effect.ref.resource.plural, effect.ref.name, effect.patch);
  }

  /** Takes one step of a queue. `dies`: the step ends after the save, before any effect. */
  step(name: string, dies = false, done: readonly Effect[] = []): Plan<QueueMemory> {
    const plan = this.decided(name, done);
    this.memories.set(name, plan.memory);
    if (dies) return plan;
    for (const effect of plan.stages.flat()) this.perform(effect);
    if (does(plan, "continue") === true) return this.step(name, false, [...done, ...plan.stages.flat()]);
    const status = JSON.stringify(plan.status);
    if (status !== JSON.stringify(this.at("queues", name)["status"] ?? {}))
      this.put("queues", { ...this.at("queues", name), status: plan.status });
    return plan;
  }

  /** Steps all queues until a round writes nothing. */
  run(): this {
    for (let rounds = 0; rounds < 20; rounds += 1) {
      const before = this.count + this.writes;
      for (const name of this.names()) this.step(name);
      if (before === this.count + this.writes) return this;
    }
    throw new Error("never rests");
  }
}
