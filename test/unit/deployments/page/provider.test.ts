/** Sign-in by a real identity provider: the way there, the way back, the grants of groups, and attempts that are none. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Hono } from "hono";
import { groupsShape } from "../../../../shared/api/groups.ts";
import { openGate } from "../../../../shared/deployments/common/authentication.ts";
import { openSignIn } from "../../../../shared/deployments/common/sign-in.ts";
import { callersOnly, openSecretSessions } from "../../../../shared/deployments/page/access.ts";
import { openProvider } from "../../../../shared/deployments/page/provider.ts";
import { servePage } from "../../../../shared/deployments/page/routes.ts";
import type { Health } from "../../../../shared/page/health.ts";
import { client, type IdentityProvider, openIdentityProvider, signedInAt } from "../../../support/identity-provider.ts";
import { boardOfTwo } from "./two-namespaces.ts";

const page = "http://127.0.0.1:9/page";
const groups = groupsShape().parse({
  data: { may: ["read", "act"], namespaces: ["team-a"] },
  audit: {},
  "*": { namespaces: ["public"] },
});
let provider: IdentityProvider;
before(async () => {
  provider = await openIdentityProvider(page, { alice: ["data"], olga: ["audit", "data"], nobody: ["strange"] });
});
after(() => provider.close());

const board = boardOfTwo();

const settings = (more: object = {}) => ({
  ...{ families: ["spark" as const], pageKubeTokens: false },
  ...{ oidcIssuer: provider.issuer, oidcClientId: client.id, oidcClientSecret: { text: client.secret } },
  ...{ oidcScopes: ["openid", "email"], oidcGroupsClaim: "groups", oidcGroups: groups, pageUrl: page },
  ...more,
});

const open = (more: object = {}) => {
  const lines: string[] = [];
  const report = (_: string, message: string, fields: object = {}): void =>
    void lines.push(`${message} ${JSON.stringify(fields)}`);
  const signIn = openSignIn(settings(more), undefined, report);
  assert.ok(signIn?.provider !== undefined);
  const sessions = openSecretSessions(signIn.secret);
  const way = openProvider({ settings: signIn.provider, secret: signIn.secret, sessions, report });
  const app = new Hono();
  servePage(
    app,
    {
      ...{ board, cluster: "test", ready: () => true, isStreamed: true, details: async () => undefined },
      ...{ logs: async () => undefined, files: async () => ({ script: "1", style: "a{}", parts: [] }) },
    },
    callersOnly(openGate(undefined), sessions, { hasCallers: false, provider: way }),
  );
  return { app, lines };
};

type Opened = Pick<ReturnType<typeof open>, "app">;

const cookieIn = (answer: Response, name: string): string =>
  answer.headers
    .getSetCookie()
    .find((cookie) => cookie.startsWith(`${name}=`))
    ?.split(";")[0] ?? "";

/** Begins a sign-in: the address at the provider, and the cookie of the attempt. */
const begun = async ({ app }: Opened, to = "") => {
  const answer = await app.request(`/page/sign-in?to=${encodeURIComponent(to)}`);
  assert.equal(answer.status, 302, await answer.clone().text());
  return { at: answer.headers.get("location") ?? "", cookie: cookieIn(answer, "__Host-rekindle-sign-in"), answer };
};

const comeBack = async ({ app }: Opened, address: string, cookie: string) => {
  const { pathname, search } = new URL(address);
  return await app.request(`${pathname}${search}`, { headers: { cookie } });
};

const signedIn = async (opened: Opened, user: string, to = "") => {
  const { at, cookie } = await begun(opened, to);
  return await comeBack(opened, await signedInAt(at, user), cookie);
};

const healthFor = async ({ app }: Opened, cookie: string): Promise<Health> =>
  JSON.parse(await (await app.request("/page/health", { headers: { cookie } })).text());

const told = async (answer: Response): Promise<string> => /<p>(.*?)<\/p>/.exec(await answer.text())?.[1] ?? "";

describe("sign-in by an identity provider", () => {
  test("sends the user there with PKCE, and keeps state, nonce and verifier sealed for ten minutes", async () => {
    const { at, cookie, answer } = await begun(open());
    const asked = new URL(at).searchParams;
    for (const name of ["state", "nonce", "code_challenge"]) assert.match(asked.get(name) ?? "", /^[\w-]{43}$/, name);
    assert.equal(asked.get("code_challenge_method"), "S256");
    assert.equal(asked.get("redirect_uri"), `${page}/callback`);
    assert.match(answer.headers.get("set-cookie") ?? "", /Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax/);
    assert.ok(!cookie.includes(asked.get("state") ?? "none"));
  });

  test("ends in a session with the grants of the groups, and leads to the place where it began", async () => {
    const opened = open();
    const answer = await signedIn(opened, "alice", "?screen=queues");
    assert.deepEqual([answer.status, answer.headers.get("location")], [303, "/page?screen=queues"]);
    const cookie = cookieIn(answer, "__Host-rekindle");
    const health = await healthFor(opened, cookie);
    assert.deepEqual([health.caller, health.namespaces], ["oidc:alice@example.com", ["public", "team-a"]]);
    const rows = await (await opened.app.request("/page/rows", { headers: { cookie } })).text();
    assert.ok(rows.includes("of-team-a") && !rows.includes("team-b"));
    assert.ok(opened.lines.some((line) => line.startsWith('a user has signed in {"user":"oidc:alice@example.com"')));
  });

  test("adds up what groups grant: a right in all namespaces stands beside one in some", async () => {
    const opened = open();
    const answer = await signedIn(opened, "olga");
    const cookie = cookieIn(answer, "__Host-rekindle");
    assert.deepEqual((await healthFor(opened, cookie)).namespaces, []);
  });

  test("is refused where no group of the user has a right, in words that name the setting", async () => {
    const { "*": _, ...named } = groups;
    const answer = await signedIn(open({ oidcGroups: named }), "nobody");
    assert.equal(answer.status, 403);
    assert.equal(cookieIn(answer, "__Host-rekindle"), "");
    assert.match(await told(answer), /^None of your groups may read this page: .* oidcGroups\.$/);
    const other = await signedIn(open({ oidcGroups: named, oidcGroupsClaim: "roles" }), "alice");
    assert.match(await told(other), /no list of groups in its claim roles: .*oidcGroupsClaim/);
  });

  test("takes no answer twice, none of another sign-in, and none without a sign-in", async () => {
    const opened = open();
    const { at, cookie } = await begun(opened);
    const address = await signedInAt(at, "alice");
    const foreign = await begun(opened);
    assert.match(await told(await comeBack(opened, address, foreign.cookie)), /belongs to another sign-in/);
    assert.match(await told(await comeBack(opened, address, "")), /begun no sign-in within the last ten minutes/);
    const asked = provider.requests.length;
    assert.equal((await comeBack(opened, address, cookie)).status, 303);
    assert.ok(provider.requests.slice(asked).includes("POST /token"));
    const again = await comeBack(opened, address, cookie);
    assert.deepEqual([again.status, await told(again)], [400, "This sign-in has ended already."]);
    const another = await comeBack(open(), address, cookie);
    assert.match(await told(another), /\(invalid_grant\): it was used before, or is too old/);
  });

  test("leads to no other site, and repeats no markup of an answer", async () => {
    const opened = open();
    const answer = await signedIn(opened, "alice", "//evil.example/?a");
    assert.equal(answer.headers.get("location"), "/page");
    const { at, cookie } = await begun(opened);
    const state = new URL(at).searchParams.get("state") ?? "";
    const refused = await comeBack(opened, `${page}/callback?state=${state}&error=<img src=x>`, cookie);
    assert.ok(!(await refused.text()).includes("<img"));
  });

  test("says which setting is wrong where the provider does not know the client or cannot be reached", async () => {
    const wrong = await signedIn(open({ oidcClientSecret: { text: "another-secret-of-the-tests" } }), "alice");
    assert.equal(wrong.status, 502);
    assert.match(
      await told(wrong),
      /does not accept this client \(invalid_client\): check oidcClientId and oidcClientSecret/,
    );
    const answer = await open({ oidcIssuer: "http://127.0.0.1:9" }).app.request("/page/sign-in");
    assert.equal(answer.status, 502);
    assert.match(await told(answer), /^The provider http:\/\/127\.0\.0\.1:9 cannot be used: /);
  });

  test("ends with the session: its cookie opens nothing more, and the provider may be left, too", async () => {
    const opened = open();
    const cookie = cookieIn(await signedIn(opened, "alice"), "__Host-rekindle");
    const leave = (headers: Readonly<Record<string, string>>) =>
      opened.app.request("/page/session", { method: "DELETE", headers: { cookie, ...headers } });
    assert.equal((await leave({ "sec-fetch-site": "cross-site" })).status, 403);
    const left = await leave({});
    assert.match(await left.text(), /\/session\/end\?client_id=rekindle-page&post_logout_redirect_uri=/);
    assert.equal((await opened.app.request("/page/rows", { headers: { cookie } })).status, 401);
  });

  test("holds 60 attempts a minute from one address, and the sealed attempt is no session", async () => {
    const opened = open();
    const { cookie } = await begun(opened);
    const value = cookie.split("=").slice(1).join("=");
    assert.equal(
      (await opened.app.request("/page/rows", { headers: { cookie: `__Host-rekindle=${value}` } })).status,
      401,
    );
    const statuses = await Promise.all(
      Array.from({ length: 80 }, async () => (await opened.app.request("/page/sign-in")).status),
    );
    assert.equal(statuses.filter((status) => status === 302).length, 59);
    assert.ok(statuses.includes(429));
  });

  test("needs all of its settings, and tells which are missing", () => {
    assert.throws(
      () => openSignIn({ ...settings(), oidcClientId: undefined, pageUrl: undefined }, undefined, () => {}),
      /^Error: sign-in by an identity provider also needs the settings oidcClientId, pageUrl$/,
    );
    const none = { oidcIssuer: undefined, oidcClientId: undefined, oidcClientSecret: undefined, oidcGroups: undefined };
    assert.equal(
      openSignIn({ ...settings(), ...none }, undefined, () => {}),
      undefined,
    );
  });

  test("ends all sessions when the grants of groups change", async () => {
    const cookie = cookieIn(await signedIn(open(), "alice"), "__Host-rekindle");
    const { app } = open({ oidcGroups: groupsShape().parse({ data: {} }) });
    assert.equal((await open().app.request("/page/rows", { headers: { cookie } })).status, 200);
    assert.equal((await app.request("/page/rows", { headers: { cookie } })).status, 401);
  });
});
