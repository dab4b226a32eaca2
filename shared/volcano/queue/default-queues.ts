/** The two queues that everybody counts on: upstream's scheduler makes them, and where there is none, whoever misses them does. */
import type { Obj } from "../../core/object.ts";
import { apiVersionOf } from "../../core/object.ts";
import type { Effect } from "../../core/plan.ts";
import { queues } from "../resource.ts";
import { defaultName, rootName } from "./tree.ts";

/** Makes the root or the default queue, unless somebody has. As volcano scheduler/cache. */
export const founded = (name: typeof rootName | typeof defaultName): Extract<Effect, { do: "create" }> => {
  const spec =
    name === rootName ? { weight: 1, reclaimable: false } : { weight: 1, reclaimable: true, parent: rootName };
  const object: Obj = { apiVersion: apiVersionOf(queues), kind: queues.kind, metadata: { name }, spec };
  return { do: "create", object, resource: queues, owner: "", shared: true };
};

/** The queues that every cluster has. */
export const foundedNames = [rootName, defaultName] as const;

/** What makes one of them that is missing. Whoever may not, or has no such kind, goes on without it: a job that needs it tells. */
export const founding = (name: string): readonly Effect[] =>
  foundedNames.filter((one) => one === name).map((one) => ({ ...founded(one), optional: true }));

/** What is to be made for somebody who misses a queue of this name: the others are their users' to make. */
export const foundedFor = (name: string | undefined): readonly Effect[] =>
  name === defaultName ? [founded(rootName), founded(defaultName)] : [];
