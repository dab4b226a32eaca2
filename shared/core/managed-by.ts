/** `spec.managedBy`: the field by which an object names its controller, as Kubernetes' own Job has it. */
import { isRecord } from "./json.ts";
import type { Obj, Resource } from "./object.ts";

/** True for a name of Rekindle, or of the controller whose place Rekindle takes: `API-GROUP/…`. */
const isOwn = (manager: string, { group }: Pick<Resource, "group">): boolean => {
  const [domain = ""] = manager.split("/");
  return domain === "rekindle.dev" || `.${group}`.endsWith(`.${domain}`);
};

/** Returns the other controller that the object names; undefined if it names none. */
export const otherManagerOf = (object: Obj | undefined, resource: Pick<Resource, "group">): string | undefined => {
  const manager = isRecord(object?.spec) ? object.spec["managedBy"] : undefined;
  return typeof manager === "string" && manager !== "" && !isOwn(manager, resource) ? manager.slice(0, 253) : undefined;
};
