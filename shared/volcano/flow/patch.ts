/** A flow's patch over its template: by name where items have one, field by field, and the rest replaced. */
import { isRecord, type Json } from "../../kube/responses.ts";

/** What the server fills into every patch of its own accord is not the user's word. */
const filledIn: Json = { queue: "default", maxRetry: 3 };

type Keys = Readonly<Record<string, string>>;

/** Lists of a pod and its containers whose items are told apart by a field, as Kubernetes merges them. */
const keys: Keys = {
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

/** Items of these have one of several fields: two of them together would be none. */
const replaced = new Set(["env", "volumes"]);

type Items = readonly unknown[];

const mergedItems = (name: string, key: string, base: Items, patch: Items): unknown => {
  const keyOf = (item: unknown): unknown => (isRecord(item) ? item[key] : undefined);
  const known = new Set<unknown>(base.map(keyOf).filter((value) => value !== undefined));
  const changed = base.map((item) => {
    const others = patch.filter((one) => keyOf(one) !== undefined && keyOf(one) === keyOf(item));
    return others.reduce<unknown>((before, other) => (replaced.has(name) ? other : merged(before, other, keys)), item);
  });
  return [...changed, ...patch.filter((item) => !known.has(keyOf(item)))];
};

/** Objects field by field, anything else replaced. Null takes a field away. */
const merged = (base: unknown, patch: unknown, keyed: Keys): unknown => {
  if (!isRecord(base) || !isRecord(patch)) return patch;
  const field = (name: string, value: unknown): unknown => {
    const [key, there] = [keyed[name], base[name]];
    if (key === undefined || !Array.isArray(there) || !Array.isArray(value)) return merged(there, value, keys);
    return mergedItems(name, key, there, value);
  };
  const changed = Object.entries(patch).map(([name, value]): [string, unknown] => [name, field(name, value)]);
  const whole = { ...base, ...Object.fromEntries(changed) };
  return Object.fromEntries(Object.entries(whole).filter(([, value]) => value !== null));
};

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Arguments of a plugin come after those that it has. */
const withPlugins = (base: unknown, patch: unknown): unknown => {
  if (!isRecord(base) || !isRecord(patch)) return patch;
  const joined = Object.entries(patch).map(([name, args]) => [name, [...listOf(base[name]), ...listOf(args)]]);
  return { ...base, ...Object.fromEntries(joined) };
};

/** The spec of a job: a template's with a patch over it, as upstream's design of parameter overriding has it. */
export const patched = (template: Json, patch: Json | undefined): Json => {
  if (patch === undefined) return template;
  const said = Object.fromEntries(Object.entries(patch).filter(([name, value]) => filledIn[name] !== value));
  const { plugins, networkTopology, ...rest } = said;
  const spec = merged(template, rest, { ...keys, volumes: "mountPath" });
  return {
    ...(isRecord(spec) ? spec : {}),
    ...(networkTopology === undefined ? {} : { networkTopology }),
    ...(plugins === undefined ? {} : { plugins: withPlugins(template["plugins"], plugins) }),
  };
};
