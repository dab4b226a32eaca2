/**
 * What the API server adds to a pod when it is created, as far as the room that the pod takes depends on it: requests from
 * limits, defaults of the namespace's LimitRanges, and overhead and nodes of its RuntimeClass. As defaults.go of core/v1, and
 * the admission plug-ins LimitRanger and RuntimeClass. Webhooks may add more: only a pod that was created shows that.
 */
import { fieldsOf, recordsIn } from "../core/json.ts";
import type { Resource, Stored } from "../core/object.ts";
import type { Json } from "./responses.ts";

export const limitRanges: Resource = { group: "", version: "v1", plural: "limitranges", kind: "LimitRange" };

export const runtimeClasses: Resource = {
  ...{ group: "node.k8s.io", version: "v1" },
  ...{ plural: "runtimeclasses", kind: "RuntimeClass" },
};

export type PodDefaults = {
  /** By namespace. */
  readonly limitRanges: ReadonlyMap<string, readonly Stored[]>;
  /** By name. */
  readonly runtimeClasses: ReadonlyMap<string, Stored>;
};

export const noPodDefaults: PodDefaults = { limitRanges: new Map(), runtimeClasses: new Map() };

/** Sorts what was listed: LimitRanges of any namespaces, and RuntimeClasses. */
export const podDefaultsOf = (ranges: readonly Stored[], classes: readonly Stored[]): PodDefaults => ({
  limitRanges: Map.groupBy(ranges, ({ metadata: { namespace = "" } }) => namespace),
  runtimeClasses: new Map(classes.map((one) => [one.metadata.name, one])),
});

/** Returns the item of a LimitRange with its own defaults: a limit from its maximum, a request from its limit or minimum. */
export const limitRangeItem = (item: Json): Json => {
  if (item["type"] !== "Container") return item;
  const limits = { ...fieldsOf(item["max"]), ...fieldsOf(item["default"]) };
  const requests = { ...fieldsOf(item["min"]), ...limits, ...fieldsOf(item["defaultRequest"]) };
  return { ...item, default: limits, defaultRequest: requests };
};

/** Returns resources in which a limit without a request is the request. */
export const withRequests = (resources: Json): Json => {
  const limits = fieldsOf(resources["limits"]);
  if (Object.keys(limits).length === 0) return resources;
  return { ...resources, requests: { ...limits, ...fieldsOf(resources["requests"]) } };
};

const withRange = (resources: Json, item: Json): Json => {
  const limits = { ...fieldsOf(item["default"]), ...fieldsOf(resources["limits"]) };
  const requests = { ...fieldsOf(item["defaultRequest"]), ...fieldsOf(resources["requests"]) };
  return {
    ...resources,
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
    ...(Object.keys(requests).length === 0 ? {} : { requests }),
  };
};

const itemsOf = (ranges: readonly Stored[]): readonly Json[] =>
  ranges
    .flatMap(({ spec }) => recordsIn(fieldsOf(spec)["limits"]))
    .filter(({ type }) => type === "Container")
    .map(limitRangeItem);

/** Returns the resources of a container as the API server stores them. */
export const containerResources = (resources: Json, ranges: readonly Stored[]): Json =>
  itemsOf(ranges).reduce(withRange, withRequests(resources));

const withClass = (spec: Json, found: Stored | undefined): Json => {
  if (found === undefined) return spec;
  const { podFixed } = fieldsOf(found["overhead"]);
  const { nodeSelector, tolerations } = fieldsOf(found["scheduling"]);
  const tolerated = [...recordsIn(spec["tolerations"]), ...recordsIn(tolerations)];
  return {
    ...spec,
    ...(podFixed === undefined ? {} : { overhead: podFixed }),
    ...(nodeSelector === undefined
      ? {}
      : { nodeSelector: { ...fieldsOf(spec["nodeSelector"]), ...fieldsOf(nodeSelector) } }),
    ...(tolerated.length === 0 ? {} : { tolerations: tolerated }),
  };
};

/** Returns the spec of a pod as the API server would store it in this namespace. */
export const withPodDefaults = (spec: Json, namespace: string, { limitRanges, runtimeClasses }: PodDefaults): Json => {
  const ranges = limitRanges.get(namespace) ?? [];
  const { runtimeClassName } = spec;
  const classed = withClass(
    spec,
    typeof runtimeClassName === "string" ? runtimeClasses.get(runtimeClassName) : undefined,
  );
  if (ranges.length === 0) return classed;
  const lists = ["containers", "initContainers"].flatMap((list) => {
    const containers = recordsIn(spec[list]).map((one) => ({
      ...one,
      resources: containerResources(fieldsOf(one["resources"]), ranges),
    }));
    return containers.length === 0 ? [] : [[list, containers] as const];
  });
  return { ...classed, ...Object.fromEntries(lists) };
};
