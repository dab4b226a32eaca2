/**
 * The order of queues and their room, by guarantee, deserved amount and share: cases, and 1,000 random mixes against a
 * second reading of volcano's capacity plugin that shares no code with the round.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import { timeText } from "../../../../shared/core/time.ts";
import { admissionOf } from "../../../../shared/volcano/gang/admission.ts";
import { openChance } from "../../../proof/sweep/chance.ts";

type Amount = Readonly<Record<string, number>>;

type QueueCase = {
  readonly name: string;
  readonly parent?: string;
  readonly priority?: number;
  readonly capability?: Amount;
  readonly guarantee?: Amount;
  readonly deserved?: Amount;
  readonly fifo?: boolean;
};

type GroupCase = {
  readonly name: string;
  readonly queue: string;
  readonly need: Amount;
  readonly createdS: number;
  readonly priority?: number;
  readonly admitted?: boolean;
};

type Mix = { readonly queues: readonly QueueCase[]; readonly groups: readonly GroupCase[] };

const noon = Date.UTC(2026, 10, 2, 12);

const quantities = (amount: Amount): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(amount).map(([name, count]) => [name, `${count}`]));

const queueObject = ({ name, parent, priority, capability, guarantee, deserved, fifo }: QueueCase): Stored => ({
  apiVersion: "scheduling.volcano.sh/v1beta1",
  kind: "Queue",
  metadata: { name, uid: name, resourceVersion: "1" },
  spec: {
    ...(parent === undefined ? {} : { parent }),
    ...(priority === undefined ? {} : { priority }),
    ...(capability === undefined ? {} : { capability: quantities(capability) }),
    ...(guarantee === undefined ? {} : { guarantee: { resource: quantities(guarantee) } }),
    ...(deserved === undefined ? {} : { deserved: quantities(deserved) }),
    ...(fifo === true ? { dequeueStrategy: "fifo" } : {}),
  },
  status: { state: "Open" },
});

const groupObject = ({ name, queue, need, createdS, priority, admitted }: GroupCase): Stored => ({
  apiVersion: "scheduling.volcano.sh/v1beta1",
  kind: "PodGroup",
  metadata: {
    ...{ name, namespace: "ns", uid: name, resourceVersion: "1" },
    creationTimestamp: timeText(noon + createdS * 1_000),
  },
  spec: { queue, minResources: quantities(need), priorityClassName: `class-${priority ?? 0}` },
  status: { phase: admitted === true ? "Inqueue" : "Pending" },
});

const classes = new Map([0, 1, 2].map((value) => [`class-${value}`, value]));

/** A group and whether it enters. */
type Decided = readonly [string, boolean];

const decided = ({ queues, groups }: Mix): readonly Decided[] =>
  admissionOf({ queues: queues.map(queueObject), groups: groups.map(groupObject), priorities: classes }).verdicts.map(
    ({ group, enters }) => [group.metadata.name, enters],
  );

const sumOf = (groups: readonly GroupCase[], resource: string): number =>
  groups.reduce((sum, { need }) => sum + (need[resource] ?? 0), 0);

/** The second reading: everything is computed anew from the groups that are in, before each group. */
const reading = ({ queues, groups }: Mix): readonly Decided[] => {
  const resources = ["cpu", "gpu"];
  const byName = (name: string | undefined): QueueCase | undefined => queues.find((queue) => queue.name === name);
  const above = ({ name, parent }: QueueCase): QueueCase | undefined =>
    name === "root" ? undefined : byName(parent ?? "root");
  const isIn = (name: string, queue: QueueCase): boolean => {
    for (let at = byName(name); at !== undefined; at = above(at)) if (at.name === queue.name) return true;
    return false;
  };
  const realCapability = (queue: QueueCase, resource: string): number => {
    const stated = queue.capability?.[resource] ?? Number.POSITIVE_INFINITY;
    const parent = above(queue);
    if (parent === undefined) return stated;
    const siblings = queues.filter((one) => above(one)?.name === parent.name);
    const promised = siblings.reduce((sum, { guarantee }) => sum + (guarantee?.[resource] ?? 0), 0);
    const free = Math.max(0, realCapability(parent, resource) - promised);
    return Math.min(stated, free + (queue.guarantee?.[resource] ?? 0));
  };
  const entered: GroupCase[] = groups.filter(({ admitted }) => admitted === true);
  const share = (queue: QueueCase): number => {
    const named = resources.filter((one) => one in { ...queue.deserved, ...queue.guarantee });
    if (named.length === 0) return 1;
    const below = entered.filter((group) => isIn(group.queue, queue));
    return Math.max(
      ...named.map((resource) => {
        const wanted = Math.min(queue.deserved?.[resource] ?? 0, realCapability(queue, resource));
        const deserved = Math.max(wanted, queue.guarantee?.[resource] ?? 0);
        const held = sumOf(below, resource);
        return deserved > 0 ? held / deserved : held > 0 ? 1 : 0;
      }),
    );
  };
  const before = (a: GroupCase, b: GroupCase): number => {
    const [p, q] = [byName(a.queue), byName(b.queue)];
    assert.ok(p !== undefined && q !== undefined);
    const states = ({ deserved, guarantee }: QueueCase): number =>
      Object.keys({ ...deserved, ...guarantee }).length > 0 ? 0 : 1;
    return (
      (q.priority ?? 0) - (p.priority ?? 0) ||
      share(p) - share(q) ||
      states(p) - states(q) ||
      (b.priority ?? 0) - (a.priority ?? 0) ||
      a.createdS - b.createdS ||
      (a.name < b.name ? -1 : 1)
    );
  };
  const fits = (group: GroupCase): boolean =>
    queues
      .filter((queue) => isIn(group.queue, queue))
      .every((queue) =>
        resources.every((resource) => {
          const more = group.need[resource] ?? 0;
          const below = entered.filter((one) => isIn(one.queue, queue));
          return more === 0 || sumOf(below, resource) + more <= realCapability(queue, resource);
        }),
      );
  const left = new Set(groups.filter(({ admitted }) => admitted !== true));
  const stopped = new Set<string>();
  const order: Decided[] = [];
  while (left.size > 0) {
    const [next] = [...left].sort(before);
    assert.ok(next !== undefined);
    left.delete(next);
    const enters = !stopped.has(next.queue) && fits(next);
    if (enters) entered.push(next);
    if (!enters && byName(next.queue)?.fifo === true) stopped.add(next.queue);
    order.push([next.name, enters]);
  }
  return order;
};

const mixOf = (seed: number): Mix => {
  const { below: roll } = openChance(`queues-${seed}`);
  const amount = (most: number): Amount =>
    [{}, { cpu: roll(most) }, { cpu: roll(most), gpu: roll(most) }][roll(3)] ?? {};
  const root: QueueCase = { name: "root", capability: amount(30) };
  const queues = Array.from(
    { length: 1 + roll(6) },
    (_, index): QueueCase => ({
      name: `q${index}`,
      // Only earlier queues are parents: there is no cycle.
      parent: index > 0 && roll(3) === 0 ? `q${roll(index)}` : "root",
      priority: roll(4) === 0 ? 1 : 0,
      capability: amount(20),
      guarantee: roll(2) === 0 ? amount(6) : {},
      deserved: amount(12),
      fifo: roll(4) === 0,
    }),
  );
  const groups = Array.from(
    { length: 1 + roll(14) },
    (_, index): GroupCase => ({
      name: `g${String(index).padStart(2, "0")}`,
      queue: `q${roll(queues.length)}`,
      need: { cpu: roll(5), ...(roll(3) === 0 ? { gpu: 1 + roll(3) } : {}) },
      createdS: roll(5),
      priority: roll(6) === 0 ? 2 : 0,
      admitted: roll(4) === 0,
    }),
  );
  return { queues: [root, ...queues], groups };
};

const waitingIn = (queue: string, names: readonly string[], createdS = 0): readonly GroupCase[] =>
  names.map((name, index) => ({ name, queue, need: { cpu: 1 }, createdS: createdS + index }));

const enteredOf = (mix: Mix): readonly string[] => decided(mix).flatMap(([name, enters]) => (enters ? [name] : []));

describe("queues of groups", () => {
  test("take turns by their share of their deserved amount", () => {
    const queues = [
      { name: "root", capability: { cpu: 6 } },
      { name: "large", deserved: { cpu: 4 } },
      { name: "small", deserved: { cpu: 2 } },
    ];
    const groups = [...waitingIn("large", ["a", "b", "c", "d", "e"]), ...waitingIn("small", ["x", "y", "z"], 10)];
    assert.deepEqual(enteredOf({ queues, groups }), ["a", "x", "b", "c", "y", "d"]);
  });

  test("without a deserved amount come after queues below their deserved amount", () => {
    const queues = [{ name: "root", capability: { cpu: 3 } }, { name: "old" }, { name: "owed", deserved: { cpu: 1 } }];
    const groups = [...waitingIn("old", ["a", "b"]), ...waitingIn("owed", ["x", "y"], 10)];
    assert.deepEqual(enteredOf({ queues, groups }), ["x", "y", "a"]);
  });

  test("do not lend the guarantees of other queues, and the reason names the parent queue", () => {
    const queues = [
      { name: "root", capability: { cpu: 4 } },
      { name: "owed", guarantee: { cpu: 3 } },
      { name: "q" },
    ].map(queueObject);
    const groups = waitingIn("q", ["a", "b"]).map(groupObject);
    assert.deepEqual(
      admissionOf({ queues, groups, priorities: classes }).verdicts.map((one) => (one.enters ? "" : one.why)),
      ["", "queue q has too little cpu left: queue root guarantees the rest to other queues"],
    );
  });

  test("are ordered within seconds when there are 1,000 queues with 10,000 groups", () => {
    const queues = Array.from(
      { length: 1_000 },
      (_, index): QueueCase => ({ name: `q${index}`, deserved: { cpu: 9 } }),
    );
    const groups = Array.from(
      { length: 10_000 },
      (_, index): GroupCase => ({
        ...{ name: `g${index}`, queue: `q${(index * 7) % 1_000}`, need: { cpu: 1 }, createdS: index % 60 },
      }),
    );
    const started = process.threadCpuUsage();
    assert.equal(enteredOf({ queues: [{ name: "root" }, ...queues], groups }).length, 10_000);
    const { user } = process.threadCpuUsage(started);
    assert.ok(user < 4_000_000, `${user} µs of processor time`);
  });

  test("decide 1,000 random mixes as a second implementation of the arithmetic does", () => {
    for (let seed = 1; seed <= 1_000; seed += 1) {
      const mix = mixOf(seed);
      assert.deepEqual(decided(mix), reading(mix), `seed ${seed}`);
    }
  });
});
