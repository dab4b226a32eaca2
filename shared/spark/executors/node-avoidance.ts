/** Nodes with repeated executor losses: for a while new executors are placed on other nodes, where there are any. */
import { fieldsOf } from "../../core/json.ts";
import type { Obj } from "../../core/object.ts";
import { timeText } from "../../core/time.ts";
import type { Json } from "../../kube/responses.ts";
import type { Loss } from "./ledger.ts";

/** Losses on a node within `whileMs` for which it is avoided, as long after the last; one if it is about to go. */
const tooMany = 3;
const whileMs = 600_000;
/** The most nodes avoided at once: with more, the nodes are not the cause. */
const most = 8;

/** Losses that are no evidence against the node. */
const blameless: ReadonlySet<Loss["reason"]> = new Set([
  "finished",
  "dismissed",
  "preempted",
  "driverEnded",
  "deleted",
]);

const going = "its node goes at ";

/** The reason of an executor that ends because its node goes at this time (epoch ms). */
export const goingAt = (at: number): string => `${going}${timeText(at)}`;

/** True of a loss on a node that is about to go: it accepts pods until then, also when no noticed pod is left on it. */
const goes = ({ reason, why }: Loss): boolean => reason === "node" && why?.startsWith(going) === true;

/** Names of the nodes to avoid, the worst first. */
export const avoidedNodes = (losses: readonly Loss[], now: number): readonly string[] => {
  const deaths = new Map<string, number>();
  for (const loss of losses) {
    const { node, reason, at } = loss;
    if (node !== undefined && at > now - whileMs && !blameless.has(reason))
      deaths.set(node, (deaths.get(node) ?? 0) + (goes(loss) ? tooMany : 1));
  }
  const bad = [...deaths].filter(([, count]) => count >= tooMany);
  return bad
    .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .slice(0, most)
    .map(([node]) => node);
};

const recordAt = (value: Json, name: string): Json => {
  const inner = value[name];
  return fieldsOf(inner);
};

const preferred = "preferredDuringSchedulingIgnoredDuringExecution";

/** Adds a preference for other nodes: an executor on a bad node is better than none. */
export const placedElsewhere = (pod: Obj, nodes: readonly string[]): Obj => {
  if (nodes.length === 0) return pod;
  const spec = recordAt(pod, "spec");
  const affinity = recordAt(spec, "affinity");
  const nodeAffinity = recordAt(affinity, "nodeAffinity");
  const others = nodeAffinity[preferred];
  const matchFields = nodes.map((node) => ({ key: "metadata.name", operator: "NotIn", values: [node] }));
  const wish = { weight: 100, preference: { matchFields } };
  const wishes = [...(Array.isArray(others) ? others : []), wish];
  return {
    ...pod,
    spec: { ...spec, affinity: { ...affinity, nodeAffinity: { ...nodeAffinity, [preferred]: wishes } } },
  };
};
