/** Reads fields of objects of unknown form. */

export const at = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (inner, step) =>
      typeof inner === "object" && inner !== null ? (inner as Record<string, unknown>)[step] : undefined,
    value,
  );

export const textAt = (value: unknown, ...path: readonly string[]): string | undefined => {
  const found = at(value, ...path);
  return typeof found === "string" ? found : undefined;
};

export const numberAt = (value: unknown, ...path: readonly string[]): number | undefined => {
  const found = at(value, ...path);
  return typeof found === "number" ? found : undefined;
};

/** UIDs of an object's owners. */
export const ownersOf = (object: unknown): readonly string[] => {
  const owners = at(object, "metadata", "ownerReferences");
  return Array.isArray(owners) ? owners.map((owner) => textAt(owner, "uid") ?? "") : [];
};

export const roleOf = (object: unknown): string | undefined => textAt(object, "metadata", "labels", "spark-role");

/** True when a label names this UID as the owner's. */
export const namesOf = (object: unknown, uid: string | undefined): boolean =>
  uid !== undefined && textAt(object, "metadata", "labels", "rekindle.dev/app-uid") === uid;

/** Start of the pod's container, epoch ms; undefined before. */
export const startOf = (pod: unknown): number | undefined => {
  const statuses = at(pod, "status", "containerStatuses");
  const text = Array.isArray(statuses) ? textAt(statuses[0], "state", "running", "startedAt") : undefined;
  return text === undefined ? undefined : Date.parse(text);
};
