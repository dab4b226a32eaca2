/** OpenAPI v3 as kubectl reads it: each kind's paths, which leave validation to the server, and the schemas. */
import { apiVersionOf, type Kind } from "./kinds.ts";
import { schemasOf } from "./schemas.ts";

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
