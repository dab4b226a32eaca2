/** The probe of gangs of Kubernetes: a PodGroup for two with one pod. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Obj, Stored } from "../../../../shared/core/object.ts";
import { type Effect, type Query, wholeOf } from "../../../../shared/core/plan.ts";
import { timeText } from "../../../../shared/core/time.ts";
import { mergePatch } from "../../../../shared/simulator/schema/patch.ts";
import { type ProbeTurn, probeTurn } from "../../../../shared/volcano/gang/native-probe.ts";
import type { NativeProbe } from "../../../../shared/volcano/gang/state/memory.ts";
import { resultOf } from "../../../support/decisions.ts";

const eight = Date.UTC(2026, 10, 2, 8);

type Change = (object: Stored) => Stored;

/** A cluster that holds the objects of a probe; a feature gate that is off shows in what it does not do. */
class Cluster {
  now = eight;
  served = true;
  native: NativeProbe | undefined;
  readonly objects = new Map<string, Stored>();
  readonly waits: Stored[] = [this.group("ns")];
  /** Components: each sees all objects after every step. */
  refuses: (kind: string, namespace: string) => boolean = () => false;
  drops: Change = (pod) => pod;
  schedules: (group: Stored, pod: Stored) => void = () => undefined;
  protects = false;
  private count = 0;

  group(namespace: string): Stored {
    return {
      apiVersion: "v1",
      kind: "PodGroup",
      metadata: { name: `g-${namespace}`, namespace, uid: `u-${namespace}`, resourceVersion: "1" },
    };
  }

  put(kind: string, object: Obj): void {
    this.count += 1;
    const metadata = {
      creationTimestamp: timeText(this.now),
      uid: `${kind}-${this.count}`,
      ...object.metadata,
      resourceVersion: `${this.count}`,
    };
    const stored = { ...object, metadata };
    this.objects.set(kind, kind === "Pod" ? this.drops(stored) : stored);
  }

  private answer(query: Query): Stored | undefined {
    if (query.do !== "get" && query.do !== "getIfAllowed") throw new Error(`unexpected ${query.do}`);
    const { kind } = query.ref.resource;
    if (kind === "APIService") return this.served ? this.group("api") : undefined;
    return this.objects.get(kind);
  }

  private remove(kind: string): void {
    const there = this.objects.get(kind);
    if (there === undefined) return;
    if (kind !== "PodGroup" || !this.protects) this.objects.delete(kind);
    else this.put(kind, { ...there, metadata: { ...there.metadata, deletionTimestamp: timeText(this.now) } });
  }

  private change(patch: unknown): void {
    const there = this.objects.get("PodGroup");
    if (there === undefined) return;
    // The only patch of metadata takes the finalizer off.
    if (Object.hasOwn(Object(patch), "metadata")) this.objects.delete("PodGroup");
    else this.put("PodGroup", { ...there, ...Object(mergePatch(there, patch)) });
  }

  private apply(effect: Effect): void {
    if (effect.do === "create" && !this.refuses(effect.object.kind, effect.object.metadata.namespace ?? ""))
      this.put(effect.object.kind, wholeOf(effect));
    if (effect.do === "delete") this.remove(effect.ref.resource.kind);
    if (effect.do === "patch") this.change(effect.patch);
  }

  step(): ProbeTurn {
    const turn = resultOf(probeTurn(this.native, this.waits, this.now), {
      objects: (query) => {
        const value = this.answer(query);
        return value === undefined ? [] : [value];
      },
      probe: (query) => ({ heard: true, value: this.answer(query) }),
    });
    this.native = turn.native;
    for (const effect of turn.stages.flat()) this.apply(effect);
    const [group, pod] = [this.objects.get("PodGroup"), this.objects.get("Pod")];
    if (group !== undefined && pod !== undefined) this.schedules(group, pod);
    return turn;
  }

  /** Goes on until it is known; returns the verdict and the reason. */
  run(): string {
    for (let steps = 0; steps < 200; steps += 1) {
      const { verdict, why } = this.step();
      if (verdict !== "open") return why === undefined ? verdict : `${verdict}: ${why}`;
      this.now += 1_000;
    }
    return "never";
  }
}

const leastOf = (group: Stored): number => Object(group["spec"]).schedulingPolicy.gang.minCount;

const tried = (cluster: Cluster, pod: Stored): void =>
  cluster.put("Pod", { ...pod, status: { conditions: [{ type: "PodScheduled", status: "False" }] } });

const withGangs =
  (cluster: Cluster) =>
  (group: Stored, pod: Stored): void => {
    if (leastOf(group) > 1) return;
    tried(cluster, pod);
    cluster.put("PodGroup", {
      ...group,
      status: { conditions: [{ type: "PodGroupInitiallyScheduled", status: "False" }] },
    });
  };

const singly =
  (cluster: Cluster) =>
  (_: Stored, pod: Stored): void =>
    tried(cluster, pod);

describe("the probe of the cluster's gangs", () => {
  it("says on when the scheduler leaves one pod of two alone, tries it when one is enough, and the group ends", () => {
    const cluster = new Cluster();
    cluster.schedules = withGangs(cluster);
    assert.equal(cluster.run(), "on");
    assert.deepEqual([...cluster.objects], []);
    const { now } = cluster;
    assert.equal(cluster.run(), "on");
    assert.equal(cluster.now, now, "the finding holds");
    cluster.now += 3_600_000;
    assert.equal(cluster.step().verdict, "open", "it is looked for again after an hour");
  });

  it("says off at once when the API server does not serve PodGroups", () => {
    const cluster = new Cluster();
    cluster.served = false;
    assert.match(cluster.run(), /^off: the API server does not serve scheduling.k8s.io\/v1beta1/);
    assert.equal(cluster.objects.size, 0);
  });

  it("says off as soon as the API server no longer serves PodGroups, while groups wait", () => {
    const cluster = new Cluster();
    cluster.schedules = withGangs(cluster);
    assert.equal(cluster.run(), "on");
    cluster.served = false;
    const waits = cluster.waits.splice(0);
    assert.equal(cluster.step().verdict, "on", "nobody asks while no group waits");
    cluster.waits.push(...waits);
    assert.match(cluster.run(), /^off: the API server does not serve scheduling.k8s.io\/v1beta1/);
    cluster.served = true;
    cluster.now += 600_000;
    assert.equal(cluster.run(), "on", "it is looked for again after ten minutes");
  });

  it("says off when the API server drops the field of the pod", () => {
    const cluster = new Cluster();
    cluster.drops = (pod) => {
      const { schedulingGroup: _, ...spec } = Object(pod["spec"]);
      return { ...pod, spec };
    };
    assert.match(cluster.run(), /^off: the API server drops the schedulingGroup/);
  });

  it("says off when the scheduler tries one pod of two", () => {
    const cluster = new Cluster();
    cluster.schedules = singly(cluster);
    assert.match(cluster.run(), /^off: the scheduler has tried one pod of a group of two/);
    cluster.step();
    assert.deepEqual([...cluster.objects], []);
  });

  it("says off when a slow scheduler tries the pod and says nothing of its group", () => {
    const cluster = new Cluster();
    cluster.schedules = (group, pod) => (leastOf(group) === 1 ? tried(cluster, pod) : undefined);
    assert.match(cluster.run(), /^off: the scheduler has tried a pod and says nothing of its group/);
  });

  it("says off when no scheduler tries the pod", () => {
    assert.match(new Cluster().run(), /^off: the scheduler has not tried the pod of a probe within 30 s/);
  });

  it("says off when the deleted group stays, and takes the finalizer off its own group", () => {
    const cluster = new Cluster();
    cluster.schedules = withGangs(cluster);
    cluster.protects = true;
    assert.match(cluster.run(), /^off: the controller manager does not end a deleted group/);
    cluster.now += 20_000;
    cluster.step();
    assert.deepEqual([...cluster.objects], []);
    cluster.step();
    assert.equal(cluster.native?.probe, undefined);
  });

  it("goes to another namespace when one refuses its objects", () => {
    const cluster = new Cluster();
    cluster.schedules = withGangs(cluster);
    cluster.refuses = (_, namespace) => namespace === "ns";
    assert.match(cluster.run(), /^off: the objects of a probe could not be created in namespace ns/);
    cluster.step();
    assert.equal(cluster.step().verdict, "off", "no other namespace has a waiting group");
    cluster.waits.push(cluster.group("other"));
    assert.equal(cluster.run(), "on");
  });

  it("creates again what a step that failed did not come to", () => {
    const cluster = new Cluster();
    cluster.schedules = withGangs(cluster);
    cluster.refuses = (kind) => kind === "Pod";
    cluster.step();
    cluster.now += 2_000;
    cluster.refuses = () => false;
    assert.equal(cluster.run(), "on");
  });

  it("creates again after a death that no step has noticed for long", () => {
    const cluster = new Cluster();
    cluster.schedules = withGangs(cluster);
    cluster.refuses = (kind) => kind === "Pod";
    cluster.step();
    cluster.now += 90_000;
    cluster.refuses = () => false;
    assert.equal(cluster.run(), "on");
  });

  it("begins anew when the group has gone to which its objects belong", () => {
    const cluster = new Cluster();
    cluster.schedules = withGangs(cluster);
    cluster.step();
    cluster.waits.splice(0, 1, cluster.group("other"));
    cluster.objects.clear();
    assert.equal(cluster.run(), "on");
  });

  it("leaves objects of others alone that have its names", () => {
    const cluster = new Cluster();
    cluster.refuses = () => true;
    for (const kind of ["PodGroup", "Pod"])
      cluster.put(kind, { apiVersion: "v1", kind, metadata: { name: "x", uid: "theirs" } });
    assert.match(cluster.run(), /^off: the objects of a probe could not be created/);
    cluster.step();
    assert.equal(cluster.objects.size, 2);
  });
});
