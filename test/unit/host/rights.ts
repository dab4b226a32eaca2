/** A host's access to a cluster under its own RBAC rights, and the rights that it was refused. */
import assert from "node:assert/strict";
import { objectsOf } from "../../../shared/cli/installation/objects.ts";
import type { Rule } from "../../../shared/cli/installation/roles.ts";
import { ApiError } from "../../../shared/core/errors.ts";
import type { HttpRequest, Transport } from "../../../shared/core/http.ts";
import { wishOf } from "../../../shared/simulator/gate.ts";
import type { Simulator } from "../../../shared/simulator/open.ts";
import { tokenFor } from "../../../shared/simulator/people.ts";
import type { Wish } from "../../../shared/simulator/rights.ts";

export type Right = { readonly group: string; readonly resource: string; readonly verb: string };

export const textOf = ({ verb, resource, group }: Right): string =>
  `${verb} ${resource}${group === "" ? "" : `.${group}`}`;

const rightOf = ({ verb, group, resource, sub }: Wish): Right => ({
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

/** Installs Rekindle with these ClusterRole rules, and returns the host's token. */
export const install = ({ handle, store }: Simulator, rules: readonly Rule[]): string => {
  for (const object of installation) {
    const path = (tables[object.kind] ?? "").replace("NS", object.metadata.namespace ?? "");
    const own = object.kind === "ClusterRole" ? { ...object, rules } : object;
    const { status, body } = handle({ method: "POST", path, headers: {}, body: JSON.stringify(own) });
    assert.equal(status, 201, body);
  }
  const account = store.get("serviceaccounts", "rekindle/rekindle");
  assert.ok(account);
  return tokenFor(account, Date.UTC(2040, 0, 1) / 1000);
};

export type Way = { readonly transport: Transport; readonly refused: readonly string[] };

/** Returns a transport under the host's token; the answer to the first creation of each resource is lost. */
export const wayOf = ({ transport }: Simulator, token: string): Way => {
  const refused: string[] = [];
  const lost = new Set<string>();
  const signed = (request: HttpRequest): HttpRequest => ({
    ...request,
    headers: { ...request.headers, authorization: `Bearer ${token}` },
  });
  const note = (request: HttpRequest, status: number): void => {
    if (status === 403) refused.push(textOf(rightOf(wishOf(request))));
  };
  return {
    refused,
    transport: {
      send: async (request) => {
        const answer = await transport.send(signed(request));
        note(request, answer.status);
        const { verb, group, resource } = wishOf(request);
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
