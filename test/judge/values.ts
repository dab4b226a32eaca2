/** Reads of JSON that another program wrote: a field by its path, as a text, a number or a list; and Kubernetes objects. */

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The value at a path; undefined where a part of the path is missing. */
export const at = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((held, name) => (isFields(held) ? held[name] : undefined), value);

export const textAt = (value: unknown, ...path: readonly string[]): string => {
  const found = at(value, ...path);
  return typeof found === "string" ? found : "";
};

export const numberAt = (value: unknown, ...path: readonly string[]): number => {
  const found = at(value, ...path);
  return typeof found === "number" ? found : 0;
};

export const listAt = (value: unknown, ...path: readonly string[]): readonly unknown[] => {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
};

export const nameOf = (object: unknown): string => textAt(object, "metadata", "name");
export const namespaceOf = (object: unknown): string => textAt(object, "metadata", "namespace");
export const uidOf = (object: unknown): string => textAt(object, "metadata", "uid");
export const phaseOf = (object: unknown): string => textAt(object, "status", "phase");
export const labelOf = (object: unknown, label: string): string => textAt(object, "metadata", "labels", label);
export const isDeleted = (object: unknown): boolean => textAt(object, "metadata", "deletionTimestamp") !== "";

/** True for a pod that a kubelet still runs, or will run. */
export const isActive = (pod: unknown): boolean =>
  !isDeleted(pod) && phaseOf(pod) !== "Succeeded" && phaseOf(pod) !== "Failed";
