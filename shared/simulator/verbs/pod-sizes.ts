/** What the API server's plug-ins LimitRanger and RuntimeClass add to a new pod, and the defaults of a LimitRange. */
import { type Fields, fieldsAt, isFields, itemsAt, textAt } from "../storage/json.ts";
import type { Draft, Item } from "../storage/metadata.ts";
import type { Store } from "../storage/store.ts";

const rangeOf = (item: unknown): unknown => {
  if (!isFields(item) || textAt(item, "type") !== "Container") return item;
  const limits = { ...fieldsAt(item, "max"), ...fieldsAt(item, "default") };
  const requests = { ...fieldsAt(item, "min"), ...limits, ...fieldsAt(item, "defaultRequest") };
  return {
    ...item,
    ...(Object.keys(limits).length > 0 && { default: limits }),
    ...(Object.keys(requests).length > 0 && { defaultRequest: requests }),
  };
};

/** A LimitRange as the server first stores it. */
export const newLimitRange = (draft: Draft): Draft => ({
  ...draft,
  spec: { ...fieldsAt(draft, "spec"), limits: itemsAt(draft, "spec", "limits").map(rangeOf) },
});

const limited = (container: unknown, ranges: readonly Item[]): unknown => {
  if (!isFields(container)) return container;
  const items = ranges
    .flatMap((range) => itemsAt(range, "spec", "limits"))
    .filter((one) => textAt(one, "type") === "Container");
  const given = fieldsAt(container, "resources");
  // The first range that states a resource counts.
  const added = (list: string): Fields => Object.assign({}, ...items.map((item) => fieldsAt(item, list)).reverse());
  const limits = { ...added("default"), ...fieldsAt(given, "limits") };
  const requests = { ...added("defaultRequest"), ...fieldsAt(given, "requests") };
  const resources = {
    ...given,
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(Object.keys(requests).length > 0 && { requests }),
  };
  return { ...container, resources };
};

const classed = (spec: Fields, found: Item | undefined): Fields => {
  if (found === undefined) return spec;
  const overhead = fieldsAt(found, "overhead", "podFixed");
  const nodeSelector = { ...fieldsAt(spec, "nodeSelector"), ...fieldsAt(found, "scheduling", "nodeSelector") };
  return {
    ...spec,
    ...(Object.keys(overhead).length > 0 && { overhead }),
    ...(Object.keys(nodeSelector).length > 0 && { nodeSelector }),
    tolerations: [...itemsAt(spec, "tolerations"), ...itemsAt(found, "scheduling", "tolerations")],
  };
};

const resourcesOf = (container: unknown, list: string): Fields => fieldsAt(container, "resources", list);

/** The amounts that LimitRanges have added to a container, in the server's words. */
const additions = (what: string, given: unknown, stored: unknown): readonly string[] =>
  ["requests", "limits"].flatMap((list) => {
    const before = resourcesOf(given, list);
    // A limit without a request is a request already.
    const known = list === "requests" ? { ...resourcesOf(given, "limits"), ...before } : before;
    const added = Object.keys(resourcesOf(stored, list)).filter((name) => known[name] === undefined);
    return added.length === 0
      ? []
      : [`${added.sort().join(", ")} ${list.slice(0, -1)} for ${what} ${textAt(given, "name") ?? ""}`];
  });

const lists = { containers: "container", initContainers: "init container" } as const;

/** The annotation by which the server says what its LimitRanges have added. */
const noted = (pod: Draft, given: Fields, stored: Fields): Draft => {
  const said = Object.entries(lists).flatMap(([list, what]) => {
    const after = itemsAt(stored, list);
    return itemsAt(given, list).flatMap((one, at) => additions(what, one, after[at]));
  });
  if (said.length === 0) return pod;
  const note = { "kubernetes.io/limit-ranger": `LimitRanger plugin set: ${said.join("; ")}` };
  return { ...pod, metadata: { ...pod.metadata, annotations: { ...pod.metadata.annotations, ...note } } };
};

/** The name of a RuntimeClass that the pod asks for and that does not exist. */
export const missingClass = (pod: Draft, store: Store): string | undefined => {
  const name = textAt(pod, "spec", "runtimeClassName");
  return name === undefined || store.get("runtimeclasses.node.k8s.io", name) !== undefined ? undefined : name;
};

/** A pod with what the LimitRanges of its namespace and its RuntimeClass add. */
export const withSizes = (pod: Draft, store: Store): Draft => {
  const ranges = store.list("limitranges").filter(({ metadata }) => metadata.namespace === pod.metadata.namespace);
  const name = textAt(pod, "spec", "runtimeClassName");
  const spec = classed(
    fieldsAt(pod, "spec"),
    name === undefined ? undefined : store.get("runtimeclasses.node.k8s.io", name),
  );
  if (ranges.length === 0) return { ...pod, spec };
  const inits = itemsAt(spec, "initContainers");
  const stored = {
    ...spec,
    ...(inits.length > 0 && { initContainers: inits.map((one) => limited(one, ranges)) }),
    containers: itemsAt(spec, "containers").map((one) => limited(one, ranges)),
  };
  return { ...noted(pod, spec, stored), spec: stored };
};
