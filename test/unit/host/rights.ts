/** A host's access to a cluster under its own RBAC rights, and the rights that it was refused. */
import assert from "node:assert/strict";
import { openCluster } from "../../../shared/adapters/kubernetes/cluster.ts";
import { request } from "../../../shared/adapters/kubernetes/requests.ts";
import { ApiError, type HttpRequest, type Transport } from "../../../shared/core/http.ts";
import { findController } from "../../../shared/forward/controller-workloads.ts";
import { objectsOf } from "../../../shared/installation/objects.ts";
import type { Rule } from "../../../shared/installation/rule.ts";
import { upstreams } from "../../../shared/kube/upstream-controllers.ts";
import { type AccessReview, type Gate, gateOf, reviewOf } from "../../../shared/simulator/api/authorization.ts";
import type { Simulator } from "../../../shared/simulator/open.ts";
import { Refusal } from "../../../shared/simulator/storage/refusal.ts";
import { tokenFor } from "../../../shared/simulator/verbs/request.ts";
import { deploymentOf, grantedEverywhere } from "../../support/beside.ts";

export type Right = { readonly group: string; readonly resource: string; readonly verb: string };

export const textOf = ({ verb, resource, group }: Right): string =>
  `${verb} ${resource}${group === "" ? "" : `.${group}`}`;

const rightOf = ({ verb, group, resource, sub }: AccessReview): Right => ({
  ...{ verb, group },
  resource: sub === "" ? resource : `${resource}/${sub}`,
});

const tables: Readonly<Record<string, string>> = {
  Namespace: "/api/v1/namespaces",
  ServiceAccount: "/api/v1/namespaces/NS/serviceaccounts",
  ClusterRole: "/apis/rbac.authorization.k8s.io/v1/clusterroles",
  ClusterRoleBinding: "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
  Role: "/apis/rbac.authorization.k8s.io/v1/namespaces/NS/roles",
  RoleBinding: "/apis/rbac.authorization.k8s.io/v1/namespaces/NS/rolebindings",
};

const installation = objectsOf({
  ...{ namespace: "rekindle", image: "rekindle:1", namespaces: [], host: false, admission: false },
  ...{ sparkNamespaces: ["default"], sparkAccounts: ["spark"] },
});

/** Returns the token of the installed host. */
export const hostToken = (store: Simulator["store"]): string => {
  const account = store.get("serviceaccounts", "rekindle/rekindle");
  assert.ok(account);
  return tokenFor(account, Date.UTC(2040, 0, 1) / 1000);
};

/** Installs Rekindle with these ClusterRole rules, and returns the host's token. */
export const install = ({ handle, store }: Simulator, rules: readonly Rule[]): string => {
  for (const object of installation) {
    const path = (tables[object.kind] ?? "").replace("NS", object.metadata.namespace ?? "");
    const own = object.kind === "ClusterRole" ? { ...object, rules } : object;
    const { status, body } = handle({ method: "POST", path, headers: {}, body: JSON.stringify(own) });
    assert.equal(status, 201, body);
  }
  return hostToken(store);
};

/** Returns the API server's gate as it would be if the installed ClusterRoles had these rules. */
const gateUnder = ({ store, clock }: Simulator, rules: readonly Rule[]): Gate => {
  const table = "clusterroles.rbac.authorization.k8s.io";
  const get: typeof store.get = (from, key) => {
    const found = store.get(from, key);
    return found === undefined || from !== table ? found : { ...found, rules };
  };
  const server = { clock, store: { ...store, get }, seed: "", managedFields: false, rbac: true, admit: undefined };
  return gateOf(server, true);
};

const isRefused = (gate: Gate, request: HttpRequest): boolean => {
  try {
    gate(request);
    return false;
  } catch (cause) {
    if (cause instanceof Refusal) return true;
    throw cause;
  }
};

/** Finds the sets of rules under which one of the requests is refused: `refused` has their names. */
export const openComparison = (simulator: Simulator, sets: ReadonlyMap<string, readonly Rule[]>) => {
  const passed = new Map([...sets].map(([name, rules]) => [name, gateUnder(simulator, rules)]));
  const refused = new Set<string>();
  const compare = (request: HttpRequest): void => {
    for (const [name, gate] of passed) {
      if (!isRefused(gate, request)) continue;
      refused.add(name);
      passed.delete(name);
    }
  };
  return { refused, compare };
};

export type Way = { readonly transport: Transport; readonly refused: readonly string[] };

/**
 * Returns a transport under the host's token; the answer to the first creation of each resource is lost. `meet` sees
 * each request before the server does.
 */
export const wayOf = (
  { transport }: Simulator,
  token: string,
  meet: (request: HttpRequest) => void = () => {},
): Way => {
  const refused: string[] = [];
  const lost = new Set<string>();
  const signed = (request: HttpRequest): HttpRequest => {
    const own = { ...request, headers: { ...request.headers, authorization: `Bearer ${token}` } };
    meet(own);
    return own;
  };
  const note = (request: HttpRequest, status: number): void => {
    if (status === 403) refused.push(textOf(rightOf(reviewOf(request))));
  };
  return {
    refused,
    transport: {
      send: async (request) => {
        const answer = await transport.send(signed(request));
        note(request, answer.status);
        const { verb, group, resource } = reviewOf(request);
        const what = `${resource}.${group}`;
        if (verb !== "create" || lost.has(what)) return answer;
        lost.add(what);
        throw new ApiError({ status: 0, reason: "Reset", message: "the connection was reset" });
      },
      stream: async (request) => {
        const answer = await transport.stream(signed(request));
        note(request, answer.status);
        return answer;
      },
    },
  };
};

/** Looks for other controllers as a host does. What a tenant forges makes it read who may write in all namespaces. */
export const findControllers = async (simulator: Simulator, transport: Transport): Promise<void> => {
  const post = (path: string, body: unknown) => request(simulator.transport, "POST", path, body);
  const forged = deploymentOf("mallory.example/spark-operator:1", "default");
  await post("/apis/apps/v1/namespaces/default/deployments", forged);
  for (const one of grantedEverywhere("sparkoperator.k8s.io", "sparkapplications", "default"))
    await post(`/apis/rbac.authorization.k8s.io/v1/${one.kind.toLowerCase()}s`, one);
  for (const upstream of upstreams)
    await findController(openCluster(transport), upstream, { namespaces: ["kube-system"], leases: [] });
};
