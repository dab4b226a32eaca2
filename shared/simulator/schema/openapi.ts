/** OpenAPI v3 documents, without descriptions: `kubectl explain` shows them, `kubectl apply` merges by them. */

import { type Fields, fieldsAt } from "../storage/json.ts";
import { apiVersionOf, type Kind } from "./kinds.ts";
import { mergeKeyOf } from "./patch.ts";
import { type Codes, codesOf, definitions } from "./shapes.ts";

/** The metadata of every object; written as in `fields.ts`. */
const metadata: ReadonlyMap<string, Codes> = new Map(
  [
    "ObjectMeta annotations:{}s creationTimestamp:t deletionGracePeriodSeconds:i deletionTimestamp:t finalizers:<>s generateName:s generation:i labels:{}s managedFields:[]ManagedFieldsEntry name:s namespace:s ownerReferences:[uid]OwnerReference resourceVersion:s selfLink:s uid:s",
    "OwnerReference apiVersion:s blockOwnerDeletion:b controller:b kind:s name:s uid:s",
    "ManagedFieldsEntry apiVersion:s fieldsType:s fieldsV1:* manager:s operation:s subresource:s time:t",
  ].map(codesOf),
);

export const codesNamed = (name: string): Codes | undefined => metadata.get(name) ?? definitions.get(name);

const leaves: Readonly<Record<string, Fields>> = {
  s: { type: "string" },
  i: { type: "integer" },
  n: { type: "number" },
  b: { type: "boolean" },
  q: { oneOf: [{ type: "string" }, { type: "number" }] },
  t: { type: "string", format: "date-time" },
};

const refTo = (name: string): Fields => ({ $ref: `#/components/schemas/${name}` });

/** The place of a value: it decides how a strategic patch merges its list. */
type Place = { readonly struct: string; readonly field: string };

const above: Readonly<Record<string, readonly string[]>> = { ServiceSpec: ["spec"], ServiceAccount: [] };

const patched = (items: string, { struct, field }: Place): Fields => {
  const key = mergeKeyOf([...(above[struct] ?? [""]), field]);
  if (key === undefined || codesNamed(items)?.has(key) !== true) return {};
  return { "x-kubernetes-patch-merge-key": key, "x-kubernetes-patch-strategy": "merge" };
};

const listOf = (code: string, place: Place): Fields => {
  const close = code.indexOf("]");
  const [keys, items] = [code.slice(1, close), code.slice(close + 1)];
  const how = keys === "" ? { "x-kubernetes-list-type": "atomic" } : mapList(keys);
  return { type: "array", items: schemaOf(items, place), ...how, ...patched(items, place) };
};

const mapList = (keys: string): Fields => ({
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": keys.split(","),
});

const schemaOf = (code: string, place: Place): Fields => {
  if (code.startsWith("{}")) return { type: "object", additionalProperties: schemaOf(code.slice(2), place) };
  if (code.startsWith("<>"))
    return { type: "array", items: schemaOf(code.slice(2), place), "x-kubernetes-list-type": "set" };
  if (code.startsWith("[")) return listOf(code, place);
  return leaves[code] ?? (codesNamed(code) === undefined ? { type: "object" } : refTo(code));
};

const structSchema = (struct: string, codes: Codes): Fields => ({
  type: "object",
  properties: Object.fromEntries([...codes].map(([field, code]) => [field, schemaOf(code, { struct, field })])),
});

const typeFields = { apiVersion: { type: "string" }, kind: { type: "string" }, metadata: refTo("ObjectMeta") } as const;

/** A kind's own schema: that of its CRD, or of the table. */
const kindSchema = ({ kind, group, version, custom }: Kind): Fields => {
  const own: Fields = custom?.schema ?? structSchema(kind, codesNamed(kind) ?? new Map());
  const gvk = [{ group, kind, version }];
  const properties = { ...fieldsAt(own, "properties"), ...typeFields };
  return { ...own, type: "object", properties, "x-kubernetes-group-version-kind": gvk };
};

/** The name of a kind's schema; a custom one contains its group, for two kinds may have the same name. */
const nameOf = (kind: Kind): string =>
  kind.custom === undefined ? kind.kind : [...apiVersionOf(kind).split(/[/.]/), kind.kind].join(".");

/** The definitions that a code refers to. */
const namesIn = (code: string): readonly string[] => {
  const name = code.replace(/^(\{\}|<>|\[[^\]]*\])+/, "");
  return codesNamed(name) === undefined ? [] : [name];
};

const reachable = (names: readonly string[]): ReadonlySet<string> => {
  const found = new Set<string>();
  const waiting = [...names];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (found.has(name)) continue;
    found.add(name);
    waiting.push(...[...(codesNamed(name)?.values() ?? [])].flatMap(namesIn));
  }
  return found;
};

/** The schemas of these kinds and of all definitions that they use, by name. */
const schemasOf = (kinds: readonly Kind[]): Fields => {
  const builtIn = kinds.filter(({ custom }) => custom === undefined).map(({ kind }) => kind);
  const parts = [...reachable([...builtIn, "ObjectMeta"])].map((name) => [
    name,
    structSchema(name, codesNamed(name) ?? new Map()),
  ]);
  return { ...Object.fromEntries(parts), ...Object.fromEntries(kinds.map((kind) => [nameOf(kind), kindSchema(kind)])) };
};

const rootOf = (kind: Kind): string => (kind.group === "" ? `api/${kind.version}` : `apis/${apiVersionOf(kind)}`);

const parameter = (name: string) => ({ name, in: "query", schema: { type: "string", uniqueItems: true } });

const operation = (kind: Kind, action: string) => ({
  parameters: ["dryRun", "fieldManager", "fieldValidation"].map(parameter),
  responses: { "200": { description: "OK" } },
  "x-kubernetes-action": action,
  "x-kubernetes-group-version-kind": { group: kind.group, version: kind.version, kind: kind.kind },
});

/** A client merges strategically only where the document lists the type of such patches. */
const patches = ({ custom }: Kind) => {
  const types = ["json-patch+json", "merge-patch+json", "apply-patch+yaml"];
  const all = custom === undefined ? [...types, "strategic-merge-patch+json"] : types;
  return { requestBody: { content: Object.fromEntries(all.map((type) => [`application/${type}`, {}])) } };
};

const pathsOf = (kind: Kind): readonly (readonly [string, unknown])[] => {
  const place = kind.namespaced ? "namespaces/{namespace}/" : "";
  const path = `/${rootOf(kind)}/${place}${kind.plural}`;
  return [
    [path, { post: operation(kind, "post") }],
    [`${path}/{name}`, { put: operation(kind, "put"), patch: { ...operation(kind, "patch"), ...patches(kind) } }],
  ];
};

/** The index of the documents, or the document of one group and version. */
export const openApi = (kinds: readonly Kind[], path: string): unknown => {
  const roots = [...new Set(kinds.map(rootOf))];
  if (path === "/openapi/v3")
    return { paths: Object.fromEntries(roots.map((root) => [root, { serverRelativeURL: `/openapi/v3/${root}` }])) };
  const wanted = path.slice("/openapi/v3/".length);
  if (!path.startsWith("/openapi/v3/") || !roots.includes(wanted)) return undefined;
  const own = kinds.filter((kind) => rootOf(kind) === wanted);
  const info = { title: "Kubernetes", version: "v1.36.3" };
  const paths = Object.fromEntries(own.flatMap(pathsOf));
  return { openapi: "3.0.0", info, paths, components: { schemas: schemasOf(own) } };
};
