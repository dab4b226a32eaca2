/**
 * Rows of Workloads in one queue, each with the state that Kueue gives them: recorded from Kueue 0.19, and held against the simulated
 * one by `npm test -- kueue`, and against a real one by `npm run e2e -- --family kueue`.
 */
import type { Obj, Stored } from "../../shared/core/object.ts";
import { statusWithoutQuota } from "../../shared/kube/kueue.ts";
import { admissions, flavorIn, isQueued, preemptions, type Quotas, type StatusWrite, usedBy } from "./kueue-queue.ts";

type Ask = { readonly count: number; readonly least?: number; readonly priority?: number };

/** An act of the owner of a Workload. */
export type Act = { readonly on: string } & (
  | { readonly does: "ask"; readonly ask: Ask }
  | { readonly does: "give back" | "end" }
  | { readonly does: "reclaim"; readonly count: number }
);

/** The state of each Workload, by its name: `3 of spot`, `waits` or `evicted`. */
export type States = Readonly<Record<string, string>>;

export type Row = {
  readonly what: string;
  readonly quotas: Quotas;
  readonly acts: readonly Act[];
  readonly has: States;
};

const ask = (on: string, count: number, more: Omit<Ask, "count"> = {}): Act => ({
  ...{ on, does: "ask" },
  ask: { count, ...more },
});

const urgent = { priority: 100 };

export const rows: readonly Row[] = [
  { what: "admits what fits", quotas: { spot: 5 }, acts: [ask("a", 3)], has: { a: "3 of spot" } },
  {
    what: "lets wait what does not fit",
    ...{ quotas: { spot: 5 }, acts: [ask("a", 3), ask("b", 3)] },
    has: { a: "3 of spot", b: "waits" },
  },
  {
    what: "admits a part where the least number allows it",
    ...{ quotas: { spot: 5 }, acts: [ask("a", 3), ask("b", 4, { least: 1 })] },
    has: { a: "3 of spot", b: "2 of spot" },
  },
  {
    what: "admits no part below the least number",
    ...{ quotas: { spot: 5 }, acts: [ask("a", 3), ask("b", 4, { least: 3 })] },
    has: { a: "3 of spot", b: "waits" },
  },
  {
    what: "admits another part after an eviction",
    quotas: { spot: 3 },
    acts: [
      ...[ask("a", 2), ask("b", 3, { least: 1 }), ask("c", 1, urgent)],
      ...[{ on: "b", does: "give back" } as const, { on: "a", does: "end" } as const],
    ],
    has: { b: "2 of spot", c: "1 of spot" },
  },
  {
    what: "admits a small one past a large one that waits",
    ...{ quotas: { spot: 5 }, acts: [ask("a", 3), ask("b", 3), ask("c", 2)] },
    has: { a: "3 of spot", b: "waits", c: "2 of spot" },
  },
  {
    what: "takes the next flavor where the first has no room",
    ...{ quotas: { spot: 2, reserved: 5 }, acts: [ask("a", 3)] },
    has: { a: "3 of reserved" },
  },
  {
    what: "admits the whole on the next flavor before a part on the first",
    ...{ quotas: { spot: 2, reserved: 5 }, acts: [ask("a", 4, { least: 1 })] },
    has: { a: "4 of reserved" },
  },
  {
    what: "evicts a lower priority, and admits nobody until its owner gives the quota back",
    ...{ quotas: { spot: 3 }, acts: [ask("a", 3), ask("b", 2, urgent)] },
    has: { a: "evicted", b: "waits" },
  },
  {
    what: "admits the higher priority once the evicted one has given its quota back, and queues that one again",
    ...{ quotas: { spot: 3 }, acts: [ask("a", 3), ask("b", 2, urgent), { on: "a", does: "give back" }] },
    has: { a: "waits", b: "2 of spot" },
  },
  {
    what: "admits an evicted one again when there is room",
    quotas: { spot: 3 },
    acts: [ask("a", 3), ask("b", 2, urgent), { on: "a", does: "give back" }, { on: "b", does: "end" }],
    has: { a: "3 of spot" },
  },
  {
    what: "evicts the newest of a lower priority, and no more than it needs",
    ...{ quotas: { spot: 4 }, acts: [ask("a", 2), ask("b", 2), ask("c", 2, urgent)] },
    has: { a: "2 of spot", b: "evicted", c: "waits" },
  },
  {
    what: "admits a higher priority before an older one",
    quotas: { spot: 3 },
    acts: [ask("a", 3, urgent), ask("b", 2), ask("c", 2, { priority: 10 }), { on: "a", does: "end" }],
    has: { b: "waits", c: "2 of spot" },
  },
  {
    what: "takes reclaimable pods for quota that is free",
    ...{ quotas: { spot: 3 }, acts: [ask("a", 3), ask("b", 2), { on: "a", does: "reclaim", count: 2 }] },
    has: { a: "1 of spot", b: "2 of spot" },
  },
];

const start = Date.UTC(2026, 10, 2, 8);

/** Returns the spec of a Workload that asks for executors of one cpu. */
export const specOf = (queue: string, { count, least, priority = 0 }: Ask): object => {
  const container = { name: "main", image: "busybox:1.36", resources: { requests: { cpu: "1" } } };
  const template = { spec: { restartPolicy: "Never", containers: [container] } };
  const podSet = { name: "executor", count, template, ...(least === undefined ? {} : { minCount: least }) };
  return { queueName: queue, priority, podSets: [podSet] };
};

export const reclaimable = (count: number): object => ({ reclaimablePods: [{ name: "executor", count }] });

/** Returns the state of a Workload in the words of the rows. */
export const stateOf = (workload: Stored): string => {
  const conditions: readonly { type: string; status: string }[] = Object(workload.status).conditions ?? [];
  if (usedBy(workload) === 0) return isQueued(workload) ? "waits" : "over";
  if (conditions.some(({ type, status }) => type === "Evicted" && status === "True")) return "evicted";
  return `${usedBy(workload)} of ${String(flavorIn(workload))}`;
};

const withStatus = (all: readonly Stored[], writes: readonly StatusWrite[]): readonly Stored[] =>
  all.map((one) => {
    const write = writes.find(({ workload }) => workload.metadata.name === one.metadata.name);
    return write === undefined ? one : { ...one, status: { ...Object(one.status), ...write.status } };
  });

const acted = (all: readonly Stored[], act: Act, now: number): readonly Stored[] => {
  const { on: name } = act;
  const found = all.find(({ metadata }) => metadata.name === name);
  const creationTimestamp = new Date(now).toISOString();
  if (act.does === "ask") {
    const kind: Obj = { apiVersion: "kueue.x-k8s.io/v1beta2", kind: "Workload", metadata: { name } };
    const metadata = { name, uid: name, resourceVersion: "1", creationTimestamp };
    return [...all, { ...kind, metadata, spec: specOf("all", act.ask) }];
  }
  if (found === undefined || act.does === "end") return all.filter((one) => one !== found);
  const status = act.does === "reclaim" ? reclaimable(act.count) : statusWithoutQuota(found, now);
  return withStatus(all, [{ workload: found, status: { ...status } }]);
};

/** Lets the simulated Kueue act until it has nothing to do. */
const settled = (all: readonly Stored[], quotas: Quotas, now: number): readonly Stored[] => {
  const writes = [...admissions(all, quotas, now)];
  const next = writes.length > 0 ? writes : preemptions(all, quotas, now);
  return next.length === 0 ? all : settled(withStatus(all, next), quotas, now);
};

/** Returns the states after each act, as the simulated Kueue has them. */
export const simulated = ({ quotas, acts }: Row): readonly States[] => {
  let all: readonly Stored[] = [];
  return acts.map((act, at) => {
    const now = start + at * 1_000;
    all = settled(acted(all, act, now), quotas, now);
    return Object.fromEntries(all.map((one) => [one.metadata.name, stateOf(one)]));
  });
};
