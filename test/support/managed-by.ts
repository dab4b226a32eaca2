/** CRDs with `spec.managedBy`, as later versions of upstream's may have it. */
import { isRecord } from "../../shared/core/json.ts";
import type { Obj } from "../../shared/core/object.ts";

const inner = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((found, name) => (isRecord(found) ? found[name] : undefined), value);

/** Returns a copy of the CRD whose specs have the field. */
export const withManagedBy = (crd: Obj): Obj => {
  const copy = structuredClone(crd);
  const versions = inner(copy, "spec", "versions");
  for (const version of Array.isArray(versions) ? versions : []) {
    const properties = inner(version, "schema", "openAPIV3Schema", "properties", "spec", "properties");
    if (isRecord(properties)) Object.assign(properties, { managedBy: { type: "string" } });
  }
  return copy;
};
