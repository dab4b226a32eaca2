/** Queues, PodGroups and Commands as plain data; each queue's decision runs in turn until nothing changes. */

import type { Obj } from "../../../../shared/core/object.ts";
import type { Plan } from "../../../../shared/core/plan.ts";
import { timeText } from "../../../../shared/core/time.ts";
import type { GangMode } from "../../../../shared/volcano/gang/settings.ts";
import { type QueueOptions, volcanoQueue } from "../../../../shared/volcano/queue/decide.ts";
import type { QueueMemory } from "../../../../shared/volcano/queue/state/memory.ts";
import { Fixture, idOf, openWorld } from "../fixture.ts";

type Fields = Readonly<Record<string, unknown>>;

const bare = (kind: string, name: string, namespace?: string): Obj => ({
  ...{ apiVersion: "v1", kind },
  metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
});

export class Hall {
  private readonly world = openWorld(Date.UTC(2026, 10, 2, 8));
  private readonly queues = new Map<string, Fixture<QueueMemory>>();
  private readonly options: QueueOptions;

  constructor(queues: Readonly<Record<string, Fields>>, gang: GangMode = "auto", more: QueueOptions = {}) {
    this.options = { gang, ...more };
    for (const [name, spec] of Object.entries(queues)) this.put("queues", { ...bare("Queue", name), spec });
  }

  /** The fixture of a queue, whether or not the queue exists. */
  private queue(name: string): Fixture<QueueMemory> {
    const there = this.queues.get(name);
    if (there !== undefined) return there;
    const made = new Fixture<QueueMemory>(volcanoQueue(this.options), { name, namespace: "" }, this.world);
    this.queues.set(name, made);
    return made;
  }

  private put(plural: string, object: Obj): this {
    this.queue("root").put(plural, object);
    return this;
  }

  private named(plural: string): readonly string[] {
    return this.queue("root").names(plural);
  }

  /** Count of writes by steps. */
  get writes(): number {
    return this.world.deeds.length;
  }

  /** Creates a group of another controller, and its pod. */
  group(name: string, queue: string, minResources: Fields = {}): this {
    const pod = bare("Pod", name, "ns");
    const metadata = { ...pod.metadata, annotations: { "scheduling.k8s.io/group-name": name } };
    this.put("pods", { ...pod, metadata, spec: { schedulerName: "default-scheduler" } });
    return this.put("podgroups", { ...bare("PodGroup", name, "ns"), spec: { queue, minResources } });
  }

  order(name: string, action: string, queue: string, namespace = "default"): this {
    const { uid } = this.queue(queue).own().metadata;
    const target = { apiVersion: "scheduling.volcano.sh/v1beta1", kind: "Queue", name: queue, uid };
    this.world.now += 1_000;
    return this.put("commands", { ...bare("Command", name, namespace), action, target });
  }

  /** Writes the lease of Volcano's scheduler, renewed at the current time with this duration in seconds. */
  lease(leaseDurationSeconds: number): this {
    const spec = { holderIdentity: "s", leaseDurationSeconds, renewTime: timeText(this.world.now) };
    return this.put("leases", { ...bare("Lease", "volcano", "volcano-system"), spec });
  }

  turn(ms: number): this {
    this.world.now += ms;
    return this;
  }

  leave(group: string): this {
    this.world.objects.delete(idOf("podgroups", group));
    return this;
  }

  forget(command: string): this {
    this.world.objects.delete(idOf("commands", command));
    return this;
  }

  say(queue: string, status: Fields): this {
    this.queue(queue).change("queues", queue, { status });
    return this;
  }

  change(queue: string, spec: Fields): this {
    this.queue(queue).change("queues", queue, { spec });
    return this;
  }

  names(): readonly string[] {
    return this.named("queues").toSorted();
  }

  commands(): readonly string[] {
    return this.named("commands");
  }

  status(queue: string): Fields {
    return this.queue(queue).status();
  }

  state(queue: string): unknown {
    return this.status(queue)["state"];
  }

  spec(queue: string): Fields {
    return Object(this.queue(queue).own()["spec"]);
  }

  mark(queue: string): string | undefined {
    return this.queue(queue).own().metadata.annotations?.["volcano.sh/closed-by-parent"];
  }

  private shown(group: string): Fields {
    return Object(this.queue("root").get("podgroups", group)["status"]);
  }

  phase(group: string): unknown {
    return this.shown(group)["phase"];
  }

  conditions(group: string): unknown {
    return this.shown(group)["conditions"];
  }

  told(queue: string): readonly string[] {
    return this.world.events.filter(([about]) => about === queue).map(([, text]) => text);
  }

  /** Takes one step of a queue. `dies`: the step ends after the save, before any effect. */
  step(name: string, dies = false): Plan<QueueMemory> {
    return this.queue(name).step(dies);
  }

  /** Steps all queues until a round writes nothing. */
  run(): this {
    for (let rounds = 0; rounds < 20; rounds += 1) {
      const before = this.world.count + this.writes;
      for (const name of this.names()) this.step(name);
      if (before === this.world.count + this.writes) return this;
    }
    throw new Error("never rests");
  }
}
