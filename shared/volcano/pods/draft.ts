/** A pod before its creation, and the small changes that plugins make to it. Nothing is changed in place. */
import { isRecord } from "../../core/json.ts";
import type { Metadata } from "../../core/object.ts";
import type { Json } from "../../kube/responses.ts";

export type Draft = { readonly metadata: Metadata; readonly spec: Json; readonly [field: string]: unknown };

const listIn = (value: Json, field: string): readonly unknown[] => {
  const list = value[field];
  return Array.isArray(list) ? list : [];
};

/** Returns the value with items appended to one of its lists. */
export const appended = (value: Json, field: string, items: readonly unknown[]): Json =>
  items.length === 0 ? value : { ...value, [field]: [...listIn(value, field), ...items] };

/** Changes every container of the named lists. */
export const inContainers = (
  draft: Draft,
  change: (container: Json) => Json,
  lists: readonly string[] = ["containers"],
): Draft => {
  const changed = lists.flatMap((list) => {
    const containers = draft.spec[list];
    if (!Array.isArray(containers)) return [];
    return [[list, containers.map((one) => (isRecord(one) ? change(one) : one))]];
  });
  return { ...draft, spec: { ...draft.spec, ...Object.fromEntries(changed) } };
};

export const everywhere: readonly string[] = ["containers", "initContainers"];

/** Appends variables to each container's own: of two with one name the last counts. */
export const withEnv = (draft: Draft, env: readonly Json[], lists?: readonly string[]): Draft =>
  inContainers(draft, (container) => appended(container, "env", env), lists);

/** Adds a volume and mounts it into every container. */
export const withVolume = (draft: Draft, volume: Json, mount: Json): Draft => {
  const mounted = inContainers(draft, (container) => appended(container, "volumeMounts", [mount]), everywhere);
  return { ...mounted, spec: appended(mounted.spec, "volumes", [volume]) };
};

/** Adds a port to the container, unless it has one of this number. */
export const withPort = (container: Json, name: string, containerPort: number): Json => {
  const taken = listIn(container, "ports").some((port) => isRecord(port) && port["containerPort"] === containerPort);
  return taken ? container : appended(container, "ports", [{ name, containerPort }]);
};
