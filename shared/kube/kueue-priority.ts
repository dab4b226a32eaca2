/**
 * The class by which Kueue ranks a Workload that Rekindle makes: the one that the label of its object names, or else that of
 * the first pod set that has one, as Kueue's own integrations choose it.
 */
import type { Reads } from "../core/decision.ts";
import { fieldsOf } from "../core/json.ts";
import type { Obj } from "../core/object.ts";
import { workloadPriorityClasses } from "./kueue.ts";
import { readShared } from "./kueue-placement.ts";
import { priorityClasses } from "./resources.ts";
import type { Json } from "./responses.ts";

const classLabel = "kueue.x-k8s.io/priority-class";

/** A class, and where it is defined. */
type PriorityClass = { readonly of: typeof workloadPriorityClasses; readonly name: string };

/** Returns the class of an object. `ofPods`: the classes of its pod sets, "" for none. */
const priorityClassOf = ({ metadata: { labels = {} } }: Obj, ofPods: readonly string[]): PriorityClass | undefined => {
  const own = labels[classLabel] ?? "";
  if (own !== "") return { of: workloadPriorityClasses, name: own };
  const name = ofPods.find((one) => one !== "");
  return name === undefined ? undefined : { of: priorityClasses, name };
};

/** The fields of a Workload's spec that rank it, or the class that cannot be read: none is created without it. */
export type Ranked = { readonly rank?: Json; readonly lacks?: string };

/** Reads the class of an object. */
export function* readRank(object: Obj, ofPods: readonly string[]): Reads<Ranked> {
  const named = priorityClassOf(object, ofPods);
  if (named === undefined) return { rank: {} };
  const { of, name } = named;
  const read = yield* readShared(of, name);
  if ("lacks" in read) return { lacks: read.lacks };
  const { value } = read.object;
  const priority = typeof value === "number" ? value : 0;
  return { rank: { priority, priorityClassRef: { group: of.group, kind: of.kind, name } } };
}

/** True if the Workload of an object is ranked by another class than the object's. */
export const isRankedOtherwise = (workload: Obj, object: Obj, ofPods: readonly string[]): boolean => {
  const { name = "" } = fieldsOf(fieldsOf(workload.spec)["priorityClassRef"]);
  return name !== (priorityClassOf(object, ofPods)?.name ?? "");
};
