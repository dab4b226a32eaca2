/** How the objects of an attempt are created and deleted. */
import { type Obj, refTo, type Stored } from "../../core/object.ts";
import type { Effect } from "../../core/plan.ts";
import { isEnding } from "../../kube/pods.ts";
import { resourceFor } from "./resource.ts";

/** The creation of an object of an attempt, for the owner of this UID. */
export const creation = (object: Obj, owner: string): readonly Effect[] => {
  const resource = resourceFor(object.kind);
  return resource === undefined ? [] : [{ do: "create", object, resource, owner }];
};

const removal = (object: Stored, graceSeconds?: number): readonly Effect[] => {
  const resource = resourceFor(object.kind);
  const grace = graceSeconds === undefined ? {} : { graceSeconds };
  return resource === undefined
    ? []
    : [{ do: "delete", ref: refTo(resource, object), uid: object.metadata.uid, ...grace }];
};

/** Deletes objects that are not ending yet; with `force` also pods that end too slowly. */
export const removals = (objects: readonly Stored[], force: boolean): readonly Effect[] =>
  objects.flatMap((object) => {
    if (!isEnding(object)) return removal(object, force ? 0 : undefined);
    return force && object.kind === "Pod" && object.metadata.deletionGracePeriodSeconds !== 0 ? removal(object, 0) : [];
  });
