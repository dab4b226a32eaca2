/**
 * What the groups of queues use: counts by phase, and the resources of the admitted ones, in a queue and below it. From the
 * same groups an admission decides; upstream's scheduler, where it runs, also writes both into the queues' status.
 */
import { fieldsOf } from "../../core/json.ts";
import type { Stored } from "../../core/object.ts";
import { startOf } from "../../core/text.ts";
import { isHolding, phaseOf } from "../../kube/gang-plan.ts";
import { type Amounts, amountsIn, merged } from "../../kube/pod-usage.ts";
import { larger, quantityText } from "../../kube/quantity.ts";
import type { Lane, QueueRow } from "../../page/wire.ts";
import { queueOfGroup, specOf } from "../../volcano/queue/state/tree.ts";

/** A PodGroup's part in its queue. */
export type GroupUse = {
  readonly queue: string;
  readonly phase: string;
  /** CPU and memory, as the group states them. */
  readonly need: Readonly<Record<string, unknown>>;
  /** KIND/NAMESPACE/NAME of its object; "": it has none. */
  readonly owner: string;
  /** Its pods that run, as its status tells them: with them, the sum of their requests changes. */
  readonly running: unknown;
};

const longestName = 253;
/** The deepest tree that is summed up: a circle of queues ends there. */
const deepest = 12;

/** A PodGroup of Volcano as its part in a queue; undefined for any other object. */
export const groupUseFrom = (object: Stored): GroupUse | undefined => {
  if (object.kind !== "PodGroup" || !object.apiVersion.startsWith("scheduling.volcano.sh/")) return undefined;
  const { cpu, memory } = fieldsOf(specOf(object)["minResources"]);
  const { namespace = "", ownerReferences = [] } = object.metadata;
  const [owner] = ownerReferences;
  return {
    queue: startOf(queueOfGroup(object), longestName),
    phase: phaseOf(object),
    need: { cpu, memory },
    owner: owner === undefined ? "" : `${owner.kind}/${namespace}/${owner.name}`,
    running: fieldsOf(object.status)["running"],
  };
};

/** The requests of the pods that have not ended. */
export const requestsOfPods = (lanes: readonly Lane[]): Amounts => {
  const alive = lanes.filter(({ end }) => end === undefined);
  const total = (of: "cores" | "gib", unit: number): bigint =>
    BigInt(Math.round(alive.reduce((sum, lane) => sum + (lane[of] ?? 0), 0) * unit));
  return new Map([
    ["cpu", { nano: total("cores", 1_000) * 1_000_000n, format: "decimal" }],
    ["memory", { nano: total("gib", 2 ** 30) * 1_000_000_000n, format: "binary" }],
  ]);
};

type PodsOf = (owner: string) => Amounts;

/** What an admitted group holds: its minimum, or its pods where they are more. */
const heldBy = ({ need, owner }: GroupUse, podsOf: PodsOf): Amounts => merged(amountsIn(need), podsOf(owner), larger);

type Sum = { readonly counts: Map<string, number>; held: Amounts };

const sumsOf = (uses: Iterable<GroupUse>, podsOf: PodsOf): ReadonlyMap<string, Sum> => {
  const sums = new Map<string, Sum>();
  for (const use of uses) {
    const sum = sums.get(use.queue) ?? { counts: new Map<string, number>(), held: new Map() };
    const phase = use.phase === "" ? "Pending" : use.phase;
    sum.counts.set(phase, (sum.counts.get(phase) ?? 0) + 1);
    if (isHolding(use.phase)) sum.held = merged(sum.held, heldBy(use, podsOf));
    sums.set(use.queue, sum);
  }
  return sums;
};

/** The queues with what their groups use. `uses` undefined: no group was ever seen, and the status is left as it is. */
export const withUse = (
  rows: readonly QueueRow[],
  uses: ReadonlyMap<string, GroupUse> | undefined,
  podsOf: PodsOf,
): readonly QueueRow[] => {
  if (uses === undefined) return rows;
  const sums = sumsOf(uses.values(), podsOf);
  const heldIn = (name: string, depth: number): Amounts =>
    rows
      .filter(({ parent }) => parent === name && depth < deepest)
      .reduce((sum, row) => merged(sum, heldIn(row.name, depth + 1)), sums.get(name)?.held ?? new Map());
  return rows.map((row): QueueRow => {
    const { counts } = sums.get(row.name) ?? { counts: new Map<string, number>() };
    const held = heldIn(row.name, 0);
    const textOf = (resource: string): string => {
      const amount = held.get(resource);
      return amount === undefined ? "0" : quantityText(amount);
    };
    return {
      ...row,
      groups: [counts.get("Pending") ?? 0, counts.get("Inqueue") ?? 0, counts.get("Running") ?? 0],
      allocated: { ...row.allocated, cpu: textOf("cpu"), memory: textOf("memory") },
    };
  });
};
