/** Sign-in with a token of Kubernetes: who reads and acts where, what a sign-in costs the API server, and its bounds. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Hono } from "hono";
import { request } from "../../../../shared/adapters/kubernetes/requests.ts";
import type { Transport } from "../../../../shared/core/http.ts";
import { openGate } from "../../../../shared/deployments/common/authentication.ts";
import { openSignIn } from "../../../../shared/deployments/common/sign-in.ts";
import { callersOnly, openSecretSessions, type Viewer } from "../../../../shared/deployments/page/access.ts";
import { openKubeWay, openReviews } from "../../../../shared/deployments/page/kube-token.ts";
import { functionGrants } from "../../../../shared/installation/function-rights.ts";
import { openSimulator, type Simulator } from "../../../../shared/simulator/open.ts";
import { tokenFor } from "../../../../shared/simulator/verbs/request.ts";
import { crds } from "../../../support/crds.ts";

const start = Date.parse("2026-11-02T08:00:00Z");
const api = "/apis/rbac.authorization.k8s.io/v1";

const reads = [
  { apiGroups: ["sparkoperator.k8s.io"], resources: ["*"], verbs: ["get", "list", "watch"] },
  { apiGroups: [""], resources: ["pods", "pods/log"], verbs: ["get", "list", "watch"] },
];
const acts = [...reads, { apiGroups: ["sparkoperator.k8s.io"], resources: ["*"], verbs: ["patch", "delete"] }];

const namespaces = ["team-a", "team-b", "team-c"];

/** A cluster with three namespaces, where `rekindle-api` reviews tokens. */
const open = async (features: readonly ["kube-sign-in"] | readonly [] = ["kube-sign-in"]) => {
  const simulator = openSimulator({ start, crds, rbac: true });
  const { transport } = simulator;
  for (const name of ["rekindle", "users", ...namespaces])
    await request(transport, "POST", "/api/v1/namespaces", { metadata: { name } });
  const plural = (kind: string): string => `${kind.toLowerCase()}s`;
  for (const object of functionGrants({ namespace: "rekindle", functions: ["api"], features })) {
    const { namespace } = object.metadata;
    const base = object.kind === "ServiceAccount" ? "/api/v1" : api;
    const place = namespace === undefined ? "" : `/namespaces/${namespace}`;
    await request(transport, "POST", `${base}${place}/${plural(object.kind)}`, object);
  }
  const sent: string[] = [];
  const authorization = `Bearer ${tokenOf(simulator, "rekindle", "rekindle-api")}`;
  const own: Transport = {
    ...transport,
    send: async (asked) => {
      sent.push(asked.path.split("/").at(-1) ?? "");
      return await transport.send({ ...asked, headers: { ...asked.headers, authorization } });
    },
  };
  return { simulator, transport, own, sent };
};

const tokenOf = ({ store }: Simulator, namespace: string, name: string): string => {
  const account = store.get("serviceaccounts", `${namespace}/${name}`);
  assert.ok(account);
  return tokenFor(account, start / 1_000 + 86_400);
};

type Place = { readonly everywhere: true } | { readonly in: readonly string[] };

/** Creates a user with these rights, and returns its token. */
const user = async (
  { simulator, transport }: Awaited<ReturnType<typeof open>>,
  name: string,
  rules: object,
  place: Place,
) => {
  await request(transport, "POST", "/api/v1/namespaces/users/serviceaccounts", { metadata: { name } });
  const subjects = [{ kind: "ServiceAccount", name, namespace: "users" }];
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name };
  await request(transport, "POST", `${api}/clusterroles`, { metadata: { name }, rules });
  if ("everywhere" in place)
    await request(transport, "POST", `${api}/clusterrolebindings`, { metadata: { name }, roleRef, subjects });
  else
    for (const one of place.in)
      await request(transport, "POST", `${api}/namespaces/${one}/rolebindings`, {
        metadata: { name },
        roleRef,
        subjects,
      });
  return tokenOf(simulator, "users", name);
};

const reviewsOf = (transport: Transport, now = () => start, places: readonly string[] = namespaces) =>
  openReviews({ transport, families: ["spark"], namespaces: async () => places, now });

describe("a token of Kubernetes", () => {
  test("reads where its user may list applications, pods and logs, and acts where it may change them", async () => {
    const cluster = await open();
    const review = reviewsOf(cluster.own);
    const everywhere = await review(await user(cluster, "admin", acts, { everywhere: true }));
    assert.deepEqual("grants" in everywhere ? everywhere.grants : everywhere, [
      { ability: "read", namespaces: [] },
      { ability: "act", namespaces: [] },
      { ability: "trigger", namespaces: [] },
    ]);
    const some = await review(await user(cluster, "dev", acts, { in: ["team-b"] }));
    assert.deepEqual(some, {
      name: "kube:system:serviceaccount:users:dev",
      grants: ["read", "act", "trigger"].map((ability) => ({ ability, namespaces: ["team-b"] })),
      ms: 3_600_000,
      requests: 15,
    });
    const reader = await review(await user(cluster, "viewer", reads, { everywhere: true }));
    assert.deepEqual("grants" in reader ? reader.grants : reader, [{ ability: "read", namespaces: [] }]);
  });

  test("without the right to read logs, or to one of the kinds, sees nothing", async () => {
    const cluster = await open();
    const review = reviewsOf(cluster.own);
    const [objects, pods] = reads;
    for (const [name, rules] of [
      ["no-logs", [objects, { ...pods, resources: ["pods"] }]],
      ["no-schedules", [{ ...objects, resources: ["sparkapplications"] }, pods]],
    ] as const) {
      const found = await review(await user(cluster, name, rules, { everywhere: true }));
      assert.deepEqual("grants" in found ? found.grants : found, [], name);
    }
  });

  test("costs no request within five minutes, and is reviewed again after them", async () => {
    const cluster = await open();
    let now = start;
    const review = reviewsOf(cluster.own, () => now);
    const token = await user(cluster, "dev", reads, { everywhere: true });
    const [first, second] = await Promise.all([review(token), review(token)]);
    assert.deepEqual(["requests" in first && first.requests, "requests" in second && second.requests], [9 + 1, 0]);
    assert.equal(cluster.sent.length, 10);
    now += 299_999;
    await review(token);
    assert.equal(cluster.sent.length, 10);
    now += 1;
    await review(token);
    assert.equal(cluster.sent.length, 20);
  });

  test("that the API server does not accept costs one request, also when it comes again", async () => {
    const cluster = await open();
    const review = reviewsOf(cluster.own);
    for (let nth = 0; nth < 3; nth += 1)
      assert.deepEqual(await review("no-token-of-this-cluster"), {
        status: 401,
        refused: "the API server does not accept this token",
      });
    assert.deepEqual(cluster.sent, ["tokenreviews"]);
    assert.equal("status" in (await review("x".repeat(8_193))), true);
    assert.equal(cluster.sent.length, 1);
  });

  test("whose user has rights in very many namespaces is refused after 256 requests", async () => {
    const cluster = await open();
    const many = Array.from({ length: 400 }, (_, nth) => `n${nth}`);
    const found = await reviewsOf(cluster.own, undefined, many)(await user(cluster, "dev", reads, { in: ["team-a"] }));
    assert.match("refused" in found ? found.refused : "", /more than 256 requests .* grant them in all namespaces/);
    assert.equal(cluster.sent.length, 256);
  });

  test("is reviewed with the rights of the feature alone; without it the answer names the feature", async () => {
    const cluster = await open([]);
    const token = await user(cluster, "dev", reads, { everywhere: true });
    const found = await reviewsOf(cluster.own)(token);
    assert.match("refused" in found ? found.refused : "", /--features kube-sign-in grants the rights/);
  });

  test("ends with its expiry at the latest", async () => {
    const { transport } = openSimulator({ start, crds });
    const answering: Transport = {
      ...transport,
      send: async ({ path }) => {
        const status = path.endsWith("tokenreviews")
          ? { authenticated: true, user: { username: "alice", groups: ["data"] } }
          : { allowed: true };
        return { status: 201, headers: {}, body: JSON.stringify({ status }) };
      },
    };
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
    const found = await reviewsOf(answering)(
      `${part({ alg: "RS256" })}.${part({ exp: start / 1_000 + 600 })}.signature`,
    );
    assert.deepEqual([found && "ms" in found && found.ms, "name" in found && found.name], [600_000, "kube:alice"]);
  });
});

describe("the page", () => {
  const served = async (own: Transport) => {
    const lines: string[] = [];
    const report = (_: string, message: string, fields: object = {}): void =>
      void lines.push(`${message} ${JSON.stringify(fields)}`);
    const way = openKubeWay({ transport: own, families: ["spark"], namespaces: async () => namespaces, report });
    const sessions = openSecretSessions(async () => "a-secret-of-the-tests");
    const access = callersOnly(openGate(undefined), sessions, { hasCallers: false, kube: way });
    const app = new Hono();
    app.post("/page/session", access.signIn);
    app.get("/who", async (c) => {
      const viewer: Viewer | Response = await access.admit(c);
      return viewer instanceof Response ? viewer : c.json(viewer);
    });
    const signIn = (token: string, headers: Readonly<Record<string, string>> = {}) =>
      app.request("/page/session", { method: "POST", headers: { authorization: `Bearer ${token}`, ...headers } });
    return { app, lines, signIn };
  };

  test("trades a token for a session that names the user and holds no token", async () => {
    const cluster = await open();
    const token = await user(cluster, "dev", acts, { in: ["team-b"] });
    const { app, lines, signIn } = await served(cluster.own);
    const answer = await signIn(token);
    assert.equal(answer.status, 200);
    const cookie = answer.headers.get("set-cookie") ?? "";
    assert.ok(!cookie.includes(token.slice(-20)));
    assert.match(cookie, /Max-Age=3600;/);
    const seen = await (await app.request("/who", { headers: { cookie: cookie.split(";")[0] ?? "" } })).text();
    assert.ok(!seen.includes(token) && seen.includes('"namespaces":["team-b"]'), seen);
    assert.match(lines.join(), /a user has signed in .*"requests":15/);
    assert.equal((await signIn(token, { origin: "https://attacker.example" })).status, 403);
  });

  test("refuses a token without rights in words, and 60 tokens a minute of one address", async () => {
    const cluster = await open();
    const { signIn } = await served(cluster.own);
    const nothing = await signIn(await user(cluster, "nobody", [], { everywhere: true }));
    assert.deepEqual([nothing.status, (await nothing.text()).includes("may not list applications")], [403, true]);
    const statuses = [];
    for (let nth = 0; nth < 70; nth += 1) statuses.push((await signIn(`token-number-${nth}`)).status);
    assert.equal(statuses.filter((status) => status === 401).length, 59);
    assert.equal(statuses.at(-1), 429);
  });

  test("needs a secret that seals sessions", () => {
    const none = { oidcIssuer: undefined, oidcClientId: undefined, oidcClientSecret: undefined, oidcGroups: undefined };
    const given = {
      ...none,
      oidcScopes: [],
      oidcGroupsClaim: "groups",
      pageUrl: undefined,
      families: ["spark"] as const,
    };
    assert.throws(
      () => openSignIn({ ...given, pageKubeTokens: true }, undefined, () => {}),
      /pageKubeTokens also needs triggerSecret or an identity provider/,
    );
  });
});
