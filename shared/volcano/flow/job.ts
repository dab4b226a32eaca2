/** The Job that a flow creates from a template, with upstream's name, labels, annotations and owner. */

import { fieldsOf, isRecord } from "../../core/json.ts";
import { apiVersionOf, type Obj, type Stored } from "../../core/object.ts";
import type { Effect } from "../../core/plan.ts";
import { inheritedListener } from "../../core/updates.ts";
import type { Json } from "../../kube/responses.ts";
import { jobFlows, jobs, keys } from "../schema/resource.ts";
import type { Flow } from "../schema/workflows.ts";
import { jobName, makerText } from "./read.ts";

/** Values that the API server fills into every patch by itself; they are not the user's. */
const filledIn: Json = { queue: "default", maxRetry: 3 };

type Keys = Readonly<Record<string, string>>;

/** Lists of a pod and its containers whose items Kubernetes merges by this field. */
const mergeKeys: Keys = {
  tasks: "name",
  containers: "name",
  initContainers: "name",
  env: "name",
  volumes: "name",
  imagePullSecrets: "name",
  resourceClaims: "name",
  ports: "containerPort",
  volumeMounts: "mountPath",
  volumeDevices: "devicePath",
  hostAliases: "ip",
  topologySpreadConstraints: "topologyKey",
};

/** Lists whose items have one of several fields: an item with two of them would be invalid, so items are replaced. */
const replaced = new Set(["env", "volumes"]);

type Items = readonly unknown[];

const mergedItems = (name: string, key: string, base: Items, patch: Items): unknown => {
  const keyOf = (item: unknown): unknown => (isRecord(item) ? item[key] : undefined);
  const known = new Set<unknown>(base.map(keyOf).filter((value) => value !== undefined));
  const changed = base.map((item) => {
    const others = patch.filter((one) => keyOf(one) !== undefined && keyOf(one) === keyOf(item));
    return others.reduce<unknown>(
      (before, other) => (replaced.has(name) ? other : merged(before, other, mergeKeys)),
      item,
    );
  });
  return [...changed, ...patch.filter((item) => !known.has(keyOf(item)))];
};

/** Merges objects by field and replaces anything else. Null deletes a field. */
const merged = (base: unknown, patch: unknown, keyed: Keys): unknown => {
  if (!isRecord(base) || !isRecord(patch)) return patch;
  const field = (name: string, value: unknown): unknown => {
    const [key, there] = [keyed[name], base[name]];
    if (key === undefined || !Array.isArray(there) || !Array.isArray(value)) return merged(there, value, mergeKeys);
    return mergedItems(name, key, there, value);
  };
  const changed = Object.entries(patch).map(([name, value]): [string, unknown] => [name, field(name, value)]);
  const whole = { ...base, ...Object.fromEntries(changed) };
  return Object.fromEntries(Object.entries(whole).filter(([, value]) => value !== null));
};

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Appends the patch's arguments of a plugin to the template's. */
const withPlugins = (base: unknown, patch: unknown): unknown => {
  if (!isRecord(base) || !isRecord(patch)) return patch;
  const joined = Object.entries(patch).map(([name, args]) => [name, [...listOf(base[name]), ...listOf(args)]]);
  return { ...base, ...Object.fromEntries(joined) };
};

/** Returns the spec of a job: the template's with the patch over it, as upstream's design of parameter overriding. */
export const patched = (template: Json, patch: Json | undefined): Json => {
  if (patch === undefined) return template;
  const said = Object.fromEntries(Object.entries(patch).filter(([name, value]) => filledIn[name] !== value));
  const { plugins, networkTopology, ...rest } = said;
  const spec = merged(template, rest, { ...mergeKeys, volumes: "mountPath" });
  return {
    ...fieldsOf(spec),
    ...(networkTopology === undefined ? {} : { networkTopology }),
    ...(plugins === undefined ? {} : { plugins: withPlugins(template["plugins"], plugins) }),
  };
};

const jobOf = ({ metadata }: Stored, flow: Flow, template: Stored): Obj => {
  const { name, namespace = "", uid, annotations } = metadata;
  const makers = { [keys.byTemplate]: makerText(namespace, flow.name), [keys.byFlow]: makerText(namespace, name) };
  const owner = { apiVersion: apiVersionOf(jobFlows), kind: jobFlows.kind, name, uid };
  return {
    apiVersion: apiVersionOf(jobs),
    kind: jobs.kind,
    metadata: {
      name: jobName(name, flow.name),
      namespace,
      labels: makers,
      annotations: { ...makers, ...inheritedListener(annotations) },
      ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
    },
    spec: patched(fieldsOf(template["spec"]), flow.patch?.jobSpec),
  };
};

/** Creates the job of a flow; if it exists already, it is this very one. */
export const creation = (object: Stored, flow: Flow, template: Stored): Effect => ({
  do: "create",
  object: jobOf(object, flow, template),
  resource: jobs,
  owner: object.metadata.uid,
});
