/** Evictions of an admission round: 1,000 random mixes against a second reading of the rules. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../../shared/core/object.ts";
import { timeText } from "../../../../../shared/core/time.ts";
import { admissionOf } from "../../../../../shared/volcano/gang/admission.ts";
import { evictingIn } from "../../../../../shared/volcano/gang/eviction/round.ts";
import { openGround } from "../../../../../shared/volcano/gang/ground.ts";
import type { Nomination } from "../../../../../shared/volcano/gang/state/memory.ts";
import { type Chance, openChance } from "../../../../proof/sweep/chance.ts";
import { resultOf } from "../../../../support/decisions.ts";
import {
  couldPreempt,
  faultsOf,
  fitsAlready,
  type Line,
  type Order,
  type Tenant,
  type Town,
} from "../../../../support/eviction-oracle.ts";
import type { Machine } from "../../../../support/gang-packer.ts";
import { eight, job, node } from "../round.ts";

type Fields = Readonly<Record<string, unknown>>;

const classes: readonly (readonly [string, number])[] = [
  ["low", 1],
  ["mid", 5],
  ["high", 9],
];

const classNamed = (priority: number): string => classes.find(([, value]) => value === priority)?.[0] ?? "";

const lineOf = (chance: Chance): Line => ({
  ...(chance.is(0.7) ? { deserved: chance.below(10) } : {}),
  ...(chance.is(0.3) ? { guarantee: chance.below(4) } : {}),
  reclaimable: chance.is(0.85),
});

/** Fills machines with the pods of a group, as far as they have room. */
const settle = (chance: Chance, name: string, machines: Machine[]): Tenant => {
  const cpu = 1 + chance.below(2);
  const isFixed = chance.is(0.1);
  const pods = Array.from({ length: 1 + chance.below(4) }, (_, ordinal) => {
    const at = machines.findIndex(({ free }) => (free["cpu"] ?? 0) >= cpu);
    const machine = machines[at];
    if (machine === undefined) return [];
    const { cpu: left = 0, pods: places = 0 } = machine.free;
    machines[at] = { ...machine, free: { cpu: left - cpu, pods: places - 1 } };
    return [{ uid: `${name}-w-${ordinal}`, node: machine.name, isFixed: isFixed && ordinal === 0 }];
  }).flat();
  return {
    ...{ name, cpu, pods, queue: chance.pick(["a", "b"]), priority: chance.pick(classes)[1] },
    least: Math.min(pods.length, 1 + chance.below(4)),
  };
};

const townOf = (seed: number): Town => {
  const chance = openChance(`eviction ${seed}`);
  const machines = Array.from(
    { length: 1 + chance.below(4) },
    (_, at): Machine => ({
      name: `n${at}`,
      free: { cpu: 3 + chance.below(6), pods: 100 },
      ...{ taints: [], zone: "a" },
    }),
  );
  const left = [...machines];
  const tenants = Array.from({ length: 1 + chance.below(5) }, (_, at) => settle(chance, `g${at}`, left));
  const needs = { cpu: 1 + chance.below(4), pods: 1 };
  return {
    machines: left,
    queues: { a: lineOf(chance), b: lineOf(chance) },
    tenants: tenants.filter(({ pods }) => pods.length > 0),
    applicant: {
      ...{ queue: chance.pick(["a", "b"]), priority: chance.pick(classes)[1], isPeaceful: chance.is(0.05) },
      crew: { task: "w", needs, count: 1 + chance.below(3), tolerates: [] },
    },
  };
};

const groupFor = (name: string, queue: string, priority: number, phase: string): Stored => ({
  ...{ apiVersion: "scheduling.volcano.sh/v1beta1", kind: "PodGroup" },
  metadata: {
    ...{ name, namespace: "ns", uid: name, resourceVersion: "1", creationTimestamp: timeText(eight) },
    annotations: phase === "Running" ? { "rekindle.dev/scheduled-by": "default-scheduler" } : {},
    ownerReferences: [{ apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job", name, uid: `Job ${name}` }],
  },
  spec: { queue, priorityClassName: classNamed(priority) },
  status: { phase },
});

const podFor = ({ name, cpu }: Tenant, { uid, node: on, isFixed }: Tenant["pods"][number]): Stored => ({
  ...{ apiVersion: "v1", kind: "Pod" },
  metadata: {
    ...{ name: uid, namespace: "ns", uid, resourceVersion: "1", labels: {} },
    annotations: {
      ...{ "scheduling.k8s.io/group-name": name, "volcano.sh/task-spec": "w" },
      ...(isFixed ? { "volcano.sh/preemptable": "false" } : {}),
    },
  },
  spec: { nodeName: on, containers: [{ resources: { requests: { cpu: `${cpu}` } } }] },
  status: { phase: "Running" },
});

const cpuText = (amount: number | undefined, field: (of: Fields) => Fields): Fields =>
  amount === undefined ? {} : field({ cpu: `${amount}` });

const queueFor = (name: string, { deserved, guarantee, reclaimable }: Line): Stored => ({
  ...{ apiVersion: "scheduling.volcano.sh/v1beta1", kind: "Queue" },
  metadata: { name, uid: name, resourceVersion: "1" },
  spec: {
    reclaimable,
    ...cpuText(deserved, (of) => ({ deserved: of })),
    ...cpuText(guarantee, (resource) => ({ guarantee: { resource } })),
  },
  status: { state: "Open" },
});

const used = (tenants: readonly Tenant[], name: string): number =>
  tenants.reduce((sum, { cpu, pods }) => sum + cpu * pods.filter((pod) => pod.node === name).length, 0);

/** Decides a round of a town, and returns what it nominates. */
const nominated = ({ machines, queues, tenants, applicant }: Town): readonly Nomination[] => {
  const groups = [
    ...tenants.map(({ name, queue, priority }) => groupFor(name, queue, priority, "Running")),
    groupFor("applicant", applicant.queue, applicant.priority, ""),
  ];
  const jobs = [
    ...tenants.map(({ name, cpu, pods, least }) => job(name, { cpu, replicas: pods.length, least })),
    job("applicant", { cpu: applicant.crew.needs["cpu"] ?? 0, replicas: applicant.crew.count }),
  ];
  const nodes = machines.map(({ name, free }) => node(name, (free["cpu"] ?? 0) + used(tenants, name)));
  const pods = tenants.flatMap((tenant) => tenant.pods.map((pod) => podFor(tenant, pod)));
  const priorities = new Map(classes);
  const ground = openGround({ nodes, pods, jobs, groups, priorities, now: eight });
  const lines = Object.entries(queues).map(([name, line]) => queueFor(name, line));
  const verdicts = admissionOf({ queues: lines, groups, priorities, ground }).verdicts;
  const round = evictingIn("all").round({
    ...{ queues: lines, groups, jobs, ground, verdicts, now: eight },
    ...{ entering: new Set<string>(), nominations: [] },
  });
  const { nominations } = resultOf(round, {
    objects: (query) => {
      if (query.do !== "get") return [];
      const { name } = query.ref;
      const value = classes.find(([one]) => one === name)?.[1];
      const isPeaceful = applicant.isPeaceful && name === classNamed(applicant.priority);
      const policy = isPeaceful ? { preemptionPolicy: "Never" } : {};
      const metadata = { name, uid: name, resourceVersion: "1" };
      return [{ apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", metadata, value, ...policy }];
    },
  });
  return nominations;
};

const orderOf = ({ victims }: Nomination): Order =>
  Object.fromEntries(
    Object.entries(victims).map(([name, { whole, pods }]) => [name, { whole, uids: Object.keys(pods) }]),
  );

describe("evictions of an admission round", () => {
  test("keep to the rules in 1,000 random mixes, evict nobody in vain, and miss few of those that the rules allow", () => {
    const tally = { tried: 0, evicted: 0, missed: 0, faults: [] as readonly string[] };
    for (let seed = 0; seed < 1_000; seed += 1) {
      const town = townOf(seed);
      const found = nominated(town);
      if (fitsAlready(town)) {
        assert.deepEqual(found, [], `mix ${seed} has room`);
        continue;
      }
      tally.tried += 1;
      const [one] = found;
      if (one !== undefined) {
        tally.evicted += 1;
        tally.faults = [...tally.faults, ...faultsOf(town, orderOf(one)).map((fault) => `mix ${seed}: ${fault}`)];
      } else if (couldPreempt(town)) tally.missed += 1;
    }
    assert.deepEqual(tally.faults, []);
    assert.ok(tally.evicted > 100, `${tally.evicted} of ${tally.tried} get room`);
    assert.ok(tally.missed <= tally.evicted / 50, `${tally.missed} are missed beside ${tally.evicted}`);
  });
});
