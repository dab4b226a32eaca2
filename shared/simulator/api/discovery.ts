/** Requests about the server itself: API groups, resources, version, health. */

import { allKinds, apiVersionOf, type Kind } from "../schema/kinds.ts";
import { openApi } from "../schema/openapi.ts";
import type { Store } from "../storage/store.ts";
import type { Result } from "./answer.ts";

const verbs = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

const resourceOf = (kind: Kind) => ({
  name: kind.plural,
  singularName: kind.singular,
  namespaced: kind.namespaced,
  kind: kind.kind,
  verbs,
  ...(kind.shortNames.length > 0 && { shortNames: kind.shortNames }),
  ...(kind.categories.length > 0 && { categories: kind.categories }),
});

const statusDoor = (kind: Kind) => ({
  name: `${kind.plural}/status`,
  singularName: "",
  namespaced: kind.namespaced,
  kind: kind.kind,
  verbs: ["get", "patch", "update"],
});

const podDoors = [
  { name: "pods/log", singularName: "", namespaced: true, kind: "Pod", verbs: ["get"] },
  {
    name: "pods/eviction",
    singularName: "",
    namespaced: true,
    group: "policy",
    version: "v1",
    kind: "Eviction",
    verbs: ["create"],
  },
  { name: "pods/binding", singularName: "", namespaced: true, kind: "Binding", verbs: ["create"] },
  { name: "pods/proxy", singularName: "", namespaced: true, kind: "PodProxyOptions", verbs: ["get"] },
  {
    name: "serviceaccounts/token",
    singularName: "",
    namespaced: true,
    group: "authentication.k8s.io",
    version: "v1",
    kind: "TokenRequest",
    verbs: ["create"],
  },
];

const resourceList = (kinds: readonly Kind[], groupVersion: string) => ({
  kind: "APIResourceList",
  apiVersion: "v1",
  groupVersion,
  resources: [
    ...kinds.flatMap((kind) => (kind.status ? [resourceOf(kind), statusDoor(kind)] : [resourceOf(kind)])),
    ...(groupVersion === "v1" ? podDoors : []),
  ],
});

const groupOf = (name: string, kinds: readonly Kind[]) => {
  const versions = [...new Set(kinds.filter(({ group }) => group === name).map(({ version }) => version))].map(
    (version) => ({
      groupVersion: `${name}/${version}`,
      version,
    }),
  );
  return { name, versions, preferredVersion: versions[0] };
};

const groupNames = (kinds: readonly Kind[]): readonly string[] => [
  ...new Set(kinds.map(({ group }) => group).filter((group) => group !== "")),
];

const version = {
  major: "1",
  minor: "36",
  gitVersion: "v1.36.3+rekindle-simulator",
  gitCommit: "",
  gitTreeState: "clean",
  buildDate: "1970-01-01T00:00:00Z",
  goVersion: "",
  compiler: "",
  platform: "simulator",
};

const groupBody = (path: string, kinds: readonly Kind[]): unknown => {
  const [, , name, api, ...more] = path.split("/");
  if (more.length > 0) return undefined;
  const own = kinds.filter(({ group }) => group === name);
  if (own.length === 0) return undefined;
  if (api === undefined) return { kind: "APIGroup", apiVersion: "v1", ...groupOf(name ?? "", kinds) };
  const served = own.filter((kind) => kind.version === api);
  return served.length === 0 ? undefined : resourceList(served, `${name}/${api}`);
};

const bodyFor = (store: Store, path: string): unknown => {
  if (path === "/version") return version;
  if (path === "/api")
    return {
      kind: "APIVersions",
      versions: ["v1"],
      serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress: "" }],
    };
  const kinds = allKinds(store);
  if (path === "/api/v1")
    return resourceList(
      kinds.filter((kind) => apiVersionOf(kind) === "v1"),
      "v1",
    );
  if (path === "/apis")
    return { kind: "APIGroupList", apiVersion: "v1", groups: groupNames(kinds).map((name) => groupOf(name, kinds)) };
  if (path.startsWith("/openapi/v3")) return openApi(kinds, path);
  return path.startsWith("/apis/") ? groupBody(path, kinds) : undefined;
};

const health = new Set(["/healthz", "/livez", "/readyz"]);

/** The answer to a request about the server itself; undefined for another path. */
export const discovery = (store: Store, path: string): Result | undefined => {
  if (health.has(path)) return { status: 200, text: "ok", type: "text/plain; charset=utf-8" };
  const body = bodyFor(store, path.endsWith("/") && path.length > 1 ? path.slice(0, -1) : path);
  return body === undefined ? undefined : { status: 200, text: JSON.stringify(body) };
};
