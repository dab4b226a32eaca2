/** A container's environment: values, references, and $(VAR) expanded as in Kubernetes. */
import type { Api } from "./api.ts";
import type { Container, EnvFrom, EnvVar, FieldRef, KeyRef, Pod, ResourceFieldRef } from "./objects.ts";
import { inUnits } from "./quantity.ts";

/** Facts that exist only for a running pod. */
export type Facts = {
  readonly podIP: string;
  readonly hostIP: string;
  readonly nodeName: string;
  readonly allocatable: Readonly<Record<string, string>>;
};

/** An object to which the pod refers does not exist (yet). */
export class NotThere extends Error {}

type Data = { data?: Record<string, string>; binaryData?: Record<string, string> };

export type Keys = {
  readonly get: (kind: "configmaps" | "secrets", name: string) => Promise<Map<string, Buffer> | undefined>;
};

/** Reads config maps and secrets of a namespace as bytes, each at most once per `keysOf`. */
export const keysOf = (api: Api, namespace: string): Keys => {
  const read = new Map<string, Promise<Map<string, Buffer> | undefined>>();
  const fetch = async (kind: string, name: string): Promise<Map<string, Buffer> | undefined> => {
    const object = await api.get<Data>(`/api/v1/namespaces/${namespace}/${kind}/${name}`);
    if (object === undefined) return undefined;
    const text = kind === "configmaps" ? Object.entries(object.data ?? {}) : [];
    const binary = Object.entries((kind === "configmaps" ? object.binaryData : object.data) ?? {});
    return new Map([
      ...text.map(([key, value]): [string, Buffer] => [key, Buffer.from(value)]),
      ...binary.map(([key, value]): [string, Buffer] => [key, Buffer.from(value, "base64")]),
    ]);
  };
  return {
    get: (kind, name) => {
      const known = read.get(`${kind}/${name}`) ?? fetch(kind, name);
      read.set(`${kind}/${name}`, known);
      return known;
    },
  };
};

const lines = (entries: Readonly<Record<string, string>> | undefined): string =>
  Object.entries(entries ?? {})
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join("\n");

const fixedFields: Readonly<Record<string, (pod: Pod, facts: Facts) => string>> = {
  "metadata.name": (pod) => pod.metadata.name,
  "metadata.namespace": (pod) => pod.metadata.namespace,
  "metadata.uid": (pod) => pod.metadata.uid,
  "metadata.labels": (pod) => lines(pod.metadata.labels),
  "metadata.annotations": (pod) => lines(pod.metadata.annotations),
  "spec.nodeName": (_, facts) => facts.nodeName,
  "spec.serviceAccountName": (pod) => pod.spec.serviceAccountName ?? "default",
  "status.hostIP": (_, facts) => facts.hostIP,
  "status.hostIPs": (_, facts) => facts.hostIP,
  "status.podIP": (_, facts) => facts.podIP,
  "status.podIPs": (_, facts) => facts.podIP,
};

export const fieldOf = (pod: Pod, { fieldPath }: FieldRef, facts: Facts): string => {
  const [, kind, key = ""] = /^metadata\.(labels|annotations)\['(.+)'\]$/.exec(fieldPath) ?? [];
  if (kind !== undefined) return (kind === "labels" ? pod.metadata.labels : pod.metadata.annotations)?.[key] ?? "";
  const read = fixedFields[fieldPath];
  if (read === undefined) throw new NotThere(`unsupported fieldPath: ${fieldPath}`);
  return read(pod, facts);
};

export const resourceOf = (container: Container | undefined, ref: ResourceFieldRef, facts: Facts): string => {
  const [list = "", ...rest] = ref.resource.split(".");
  const name = rest.join(".");
  const asked = container?.resources?.[list === "limits" ? "limits" : "requests"]?.[name];
  const given = asked ?? (list === "limits" ? facts.allocatable[name] : "0") ?? "0";
  return inUnits(given, ref.divisor ?? "1");
};

/** Replaces `$(NAME)` by its value if there is one, and `$$` by `$`. */
export const expand = (text: string, values: ReadonlyMap<string, string>): string =>
  text.replace(/\$\$|\$\(([^()]+)\)/g, (whole, name: string | undefined) =>
    name === undefined ? "$" : (values.get(name) ?? whole),
  );

const keyValue = async (keys: Keys, kind: "configmaps" | "secrets", ref: KeyRef): Promise<string | undefined> => {
  const word = kind === "configmaps" ? "configmap" : "secret";
  const all = await keys.get(kind, ref.name);
  const value = all?.get(ref.key);
  if (value !== undefined) return value.toString();
  if (ref.optional) return undefined;
  throw new NotThere(
    all === undefined ? `${word} "${ref.name}" not found` : `couldn't find key ${ref.key} in ${word} ${ref.name}`,
  );
};

const referred = async (
  pod: Pod,
  container: Container,
  from: EnvVar["valueFrom"],
  facts: Facts,
  keys: Keys,
): Promise<string | undefined> => {
  if (from?.fieldRef !== undefined) return fieldOf(pod, from.fieldRef, facts);
  if (from?.configMapKeyRef !== undefined) return keyValue(keys, "configmaps", from.configMapKeyRef);
  if (from?.secretKeyRef !== undefined) return keyValue(keys, "secrets", from.secretKeyRef);
  if (from?.resourceFieldRef === undefined) return "";
  const name = from.resourceFieldRef.containerName ?? container.name;
  const of = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])].find((other) => other.name === name);
  return resourceOf(of, from.resourceFieldRef, facts);
};

const allOf = async (keys: Keys, { prefix = "", configMapRef, secretRef }: EnvFrom): Promise<[string, string][]> => {
  const ref = configMapRef ?? secretRef;
  if (ref === undefined) return [];
  const found = await keys.get(configMapRef === undefined ? "secrets" : "configmaps", ref.name);
  if (found === undefined && !ref.optional)
    throw new NotThere(`${configMapRef === undefined ? "secret" : "configmap"} "${ref.name}" not found`);
  return [...(found ?? [])].map(([key, value]) => [prefix + key, value.toString()]);
};

/** Builds the environment; the address of the API precedes the container's own variables. */
export const environmentOf = async (
  pod: Pod,
  container: Container,
  given: Readonly<Record<string, string>>,
  facts: Facts,
  keys: Keys,
): Promise<Map<string, string>> => {
  const values = new Map(Object.entries(given));
  for (const from of container.envFrom ?? [])
    for (const [key, value] of await allOf(keys, from)) values.set(key, value);
  for (const { name, value, valueFrom } of container.env ?? []) {
    const found =
      valueFrom === undefined ? expand(value ?? "", values) : await referred(pod, container, valueFrom, facts, keys);
    if (found !== undefined) values.set(name, found);
  }
  return values;
};
