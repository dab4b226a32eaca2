/** Roles, bindings and tokens: the rights of a service account, and the messages of refusals. */
import { testCase } from "../../support/test-case.ts";
import { map, pod } from "./basics.ts";
import type { Scenario, Tell } from "./scenario.ts";

const core = (ns: string, plural: string) => `/api/v1/namespaces/${ns}/${plural}`;
const rbac = (ns: string, plural: string) => `/apis/rbac.authorization.k8s.io/v1/namespaces/${ns}/${plural}`;
const clusterRbac = "/apis/rbac.authorization.k8s.io/v1";
const reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

const rule = (resources: readonly string[], verbs: readonly string[], group = "", names: readonly string[] = []) => ({
  apiGroups: [group],
  resources,
  verbs,
  ...(names.length > 0 && { resourceNames: names }),
});

const binding = (name: string, ns: string, role: string, kind = "Role", account = "worker") => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "RoleBinding",
  metadata: { name },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind, name: role },
  subjects: [{ kind: "ServiceAccount", name: account, namespace: ns }],
});

type Headers = Readonly<Record<string, string>>;

const tokenIn = (body: unknown): string => {
  const status = typeof body === "object" && body !== null && "status" in body ? body.status : undefined;
  return typeof status === "object" && status !== null && "token" in status ? String(status.token) : "";
};

/** Creates a service account. Returns the headers of a request that it sends. */
const account = async ({ api, ns }: Tell, name: string): Promise<Headers> => {
  await api.call("POST", core(ns, "serviceaccounts"), { metadata: { name } });
  const { body } = await api.call("POST", `${core(ns, "serviceaccounts")}/${name}/token`, {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    spec: {},
  });
  return { authorization: `Bearer ${tokenIn(body)}` };
};

const role = async ({ api, ns }: Tell, name: string, rules: readonly unknown[]): Promise<void> => {
  await api.call("POST", rbac(ns, "roles"), { metadata: { name }, rules });
  await api.call("POST", rbac(ns, "rolebindings"), binding(name, ns, name));
};

const asked = (resourceAttributes: object) => ({
  apiVersion: "authorization.k8s.io/v1",
  kind: "SelfSubjectAccessReview",
  spec: { resourceAttributes },
});

export const rights: readonly Scenario[] = [
  testCase("no rights", async (tell) => {
    const { ask, ns } = tell;
    const as = await account(tell, "worker");
    const pods = core(ns, "pods");
    const merge = { ...as, "content-type": "application/merge-patch+json" };
    await ask("list", "GET", pods, undefined, as);
    await ask("list everywhere", "GET", "/api/v1/pods", undefined, as);
    await ask("watch", "GET", `${pods}?watch=true`, undefined, as);
    await ask("get", "GET", `${pods}/one`, undefined, as);
    await ask("create", "POST", pods, pod("one"), as);
    await ask("update", "PUT", `${pods}/one`, pod("one"), as);
    await ask("patch", "PATCH", `${pods}/one`, {}, merge);
    await ask("delete", "DELETE", `${pods}/one`, undefined, as);
    await ask("delete all", "DELETE", pods, undefined, as);
    await ask("a subresource", "GET", `${pods}/one/log`, undefined, as);
    await ask("a status", "PATCH", `${pods}/one/status`, {}, merge);
    await ask("of a group", "GET", `/apis/apps/v1/namespaces/${ns}/deployments`, undefined, as);
    await ask("of the cluster", "GET", "/api/v1/nodes", undefined, as);
    await ask("one of the cluster", "GET", "/api/v1/nodes/one", undefined, as);
    await ask("its namespace", "GET", `/api/v1/namespaces/${ns}`, undefined, as);
    await ask("what is not served", "GET", "/apis/nobody.example.com/v1/things", undefined, as);
    await ask("a path", "GET", "/metrics", undefined, as);
    await ask("by a selected name", "GET", `${pods}?fieldSelector=metadata.name%3Done`, undefined, as);
    await ask("health", "GET", "/readyz", undefined, as);
    const spoken = { "impersonate-user": `system:serviceaccount:${ns}:worker` };
    await ask("in its name", "GET", pods, undefined, spoken);
    await ask("in somebody's name", "GET", pods, undefined, { "impersonate-user": "somebody" });
    await ask("a worthless token", "GET", pods, undefined, { authorization: "Bearer eyJhbGciOiJub25lIn0.e30." });
  }),
  testCase("a role", async (tell) => {
    const { ask, api, ns } = tell;
    const as = await account(tell, "worker");
    const maps = core(ns, "configmaps");
    await role(tell, "reader", [rule(["configmaps"], ["get", "list"]), rule(["secrets"], ["get"], "", ["mine"])]);
    await api.settle();
    await api.call("POST", maps, map("one"));
    await ask("lets get", "GET", `${maps}/one`, undefined, as);
    await ask("lets list", "GET", `${maps}?fieldSelector=metadata.name%3Done`, undefined, as);
    await ask("does not let watch", "GET", `${maps}?watch=true`, undefined, as);
    await ask("does not let create", "POST", maps, map("two"), as);
    await ask("does not let list elsewhere", "GET", core("default", "configmaps"), undefined, as);
    await ask("names what may be read", "GET", `${core(ns, "secrets")}/mine`, undefined, as);
    await ask("and nothing else", "GET", `${core(ns, "secrets")}/other`, undefined, as);
    await ask("not all", "GET", core(ns, "secrets"), undefined, as);
    await api.call("DELETE", `${rbac(ns, "rolebindings")}/reader`);
    await api.settle();
    await ask("unbound lets nothing", "GET", `${maps}/one`, undefined, as);
  }),
  testCase("bindings", async (tell) => {
    const { ask, api, ns } = tell;
    const as = await account(tell, "worker");
    const maps = core(ns, "configmaps");
    await api.call("POST", rbac(ns, "rolebindings"), binding("lost", ns, "absent"));
    await api.settle();
    await ask("to a role that is not there", "GET", maps, undefined, as);
    await api.call("POST", rbac(ns, "rolebindings"), binding("lost-too", ns, "absent-too", "ClusterRole"));
    await api.settle();
    await ask("to two that are not there", "GET", maps, undefined, as);
    await api.call("POST", `${clusterRbac}/clusterroles`, {
      metadata: { name: `maps-${ns}` },
      rules: [rule(["configmaps"], ["*"]), rule(["*"], ["get"], "apps")],
    });
    await api.call("POST", rbac(ns, "rolebindings"), binding("found", ns, `maps-${ns}`, "ClusterRole"));
    await api.settle();
    await ask("of a cluster's role to a namespace", "POST", maps, map("one"), as);
    await ask("reach no other", "GET", "/api/v1/configmaps", undefined, as);
    await ask("of any verb", "DELETE", `${maps}/one`, undefined, as);
    await ask("of any resource", "GET", `/apis/apps/v1/namespaces/${ns}/deployments/none`, undefined, as);
    await api.call("POST", `${clusterRbac}/clusterrolebindings`, {
      ...binding(`maps-${ns}`, ns, `maps-${ns}`, "ClusterRole"),
      kind: "ClusterRoleBinding",
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: `system:serviceaccounts:${ns}` }],
    });
    await api.settle();
    await ask(
      "of a group to the cluster",
      "GET",
      "/api/v1/configmaps?fieldSelector=metadata.name%3Dno-such-map",
      undefined,
      as,
    );
    await api.call("DELETE", `${clusterRbac}/clusterrolebindings/maps-${ns}`);
    await api.call("DELETE", `${clusterRbac}/clusterroles/maps-${ns}`);
  }),
  testCase("more than one right", async (tell) => {
    const { ask, api, ns } = tell;
    const as = await account(tell, "worker");
    const apply = { ...as, "content-type": "application/apply-patch+yaml" };
    await role(tell, "patcher", [rule(["configmaps"], ["patch"]), rule(["services"], ["update"])]);
    await api.settle();
    const path = `${core(ns, "configmaps")}/one?fieldManager=worker`;
    await ask("an apply that would create", "PATCH", path, map("one"), apply);
    await api.call("POST", core(ns, "configmaps"), map("one"));
    await ask("an apply that changes", "PATCH", path, map("one", { b: "2" }), apply);
    await ask(
      "a put that would create",
      "PUT",
      `${core(ns, "services")}/one`,
      { apiVersion: "v1", kind: "Service", metadata: { name: "one" }, spec: { ports: [{ port: 1 }] } },
      as,
    );
  }),
  testCase("guarded owners", async (tell) => {
    const { ask, api, ns } = tell;
    const as = await account(tell, "worker");
    const maps = core(ns, "configmaps");
    await role(tell, "maker", [rule(["configmaps"], ["create"])]);
    const { body } = await api.call("POST", core(ns, "pods"), pod("owner"));
    const meta = typeof body === "object" && body !== null && "metadata" in body ? body.metadata : undefined;
    const uid = typeof meta === "object" && meta !== null && "uid" in meta ? meta.uid : "";
    const owner = { apiVersion: "v1", kind: "Pod", name: "owner", uid };
    const owned = (name: string, more: object = {}) => map(name, {}, { ownerReferences: [{ ...owner, ...more }] });
    await api.settle();
    await ask("that need not wait", "POST", maps, owned("one"), as);
    await ask("that must wait", "POST", maps, owned("two", { blockOwnerDeletion: true }), as);
    await role(tell, "holder", [rule(["pods/finalizers"], ["update"])]);
    await api.settle();
    await ask("that may be held", "POST", maps, owned("three", { blockOwnerDeletion: true }), as);
    await ask("of a kind nobody knows", "POST", maps, owned("four", { kind: "Nobody", blockOwnerDeletion: true }), as);
  }),
  testCase("reviews of rights", async (tell) => {
    const { ask, api, ns } = tell;
    const as = await account(tell, "worker");
    await role(tell, "reader", [rule(["pods"], ["get"]), rule(["pods/log"], ["get"])]);
    await api.settle();
    const pods = { namespace: ns, resource: "pods" };
    await ask("what is let", "POST", reviews, asked({ ...pods, verb: "get" }), as);
    await ask("what is not", "POST", reviews, asked({ ...pods, verb: "list" }), as);
    await ask("a subresource", "POST", reviews, asked({ ...pods, subresource: "log", verb: "get" }), as);
    await ask("elsewhere", "POST", reviews, asked({ ...pods, namespace: "default", verb: "get" }), as);
    await ask("everywhere", "POST", reviews, asked({ resource: "pods", verb: "get" }), as);
    await ask("of the administrator", "POST", reviews, asked({ ...pods, verb: "list" }));
    await ask(
      "a path",
      "POST",
      reviews,
      { ...asked({}), spec: { nonResourceAttributes: { path: "/version", verb: "get" } } },
      as,
    );
    await ask(
      "a path that is not let",
      "POST",
      reviews,
      { ...asked({}), spec: { nonResourceAttributes: { path: "/metrics", verb: "get" } } },
      as,
    );
    await ask("nothing", "POST", reviews, { ...asked({}), spec: {} }, as);
    await ask(
      "of another, by who may not",
      "POST",
      "/apis/authorization.k8s.io/v1/subjectaccessreviews",
      {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SubjectAccessReview",
        spec: { user: "nobody", resourceAttributes: { ...pods, verb: "get" } },
      },
      as,
    );
    await ask("of another", "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SubjectAccessReview",
      spec: {
        user: `system:serviceaccount:${ns}:worker`,
        groups: ["system:authenticated"],
        resourceAttributes: { ...pods, verb: "get" },
      },
    });
  }),
  testCase("tokens", async (tell) => {
    const { ask, api, ns } = tell;
    const as = await account(tell, "worker");
    const unused = await account(tell, "worker");
    await role(tell, "reader", [rule(["configmaps"], ["list"])]);
    await api.settle();
    const path = `${core(ns, "serviceaccounts")}/worker/token`;
    const request = (spec: object) => ({ apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec });
    await ask("that would last too short", "POST", path, request({ expirationSeconds: 10 }));
    await ask("of nobody", "POST", `${core(ns, "serviceaccounts")}/nobody/token`, request({}));
    await ask("by who may not", "POST", path, request({}), as);
    await api.call("DELETE", `${core(ns, "serviceaccounts")}/worker`);
    await api.settle();
    await ask("of an account that has gone", "GET", core(ns, "configmaps"), undefined, unused);
  }),
];
