/** The queues root and default. Upstream's scheduler creates them; without it, Rekindle creates a missing one. */
import type { Obj } from "../../core/object.ts";
import { apiVersionOf } from "../../core/object.ts";
import type { Effect } from "../../core/plan.ts";
import { queues } from "../schema/resource.ts";
import { defaultName, rootName } from "./state/tree.ts";

/** Creates the root or the default queue unless it exists. As volcano scheduler/cache. */
export const founded = (name: typeof rootName | typeof defaultName): Extract<Effect, { do: "create" }> => {
  const spec =
    name === rootName ? { weight: 1, reclaimable: false } : { weight: 1, reclaimable: true, parent: rootName };
  const object: Obj = { apiVersion: apiVersionOf(queues), kind: queues.kind, metadata: { name }, spec };
  return { do: "create", object, resource: queues, owner: "", shared: true };
};

/** The queues that every cluster has. */
export const foundedNames = [rootName, defaultName] as const;

/**
 * Creates one of these queues. Without the right to do so, or without the kind, the effect is skipped, and a job that
 * needs the queue reports it missing.
 */
export const founding = (name: string): readonly Effect[] =>
  foundedNames.filter((one) => one === name).map((one) => ({ ...founded(one), optional: true }));

/** Creates the queues for an object whose queue of this name is missing; users create all other queues. */
export const foundedFor = (name: string | undefined): readonly Effect[] =>
  name === defaultName ? [founded(rootName), founded(defaultName)] : [];
