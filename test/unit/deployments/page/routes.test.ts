/** Access to the page, and the answer of each route. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { Hono } from "hono";
import { callers, identifier } from "../../../../shared/api/callers.ts";
import { openGate } from "../../../../shared/deployments/common/authentication.ts";
import { accessForAll, callersOnly, oneTime, openSecretSessions } from "../../../../shared/deployments/page/access.ts";
import { openBoard } from "../../../../shared/deployments/page/board.ts";
import { type PageParts, pageApp, servePage } from "../../../../shared/deployments/page/routes.ts";
import type { Health } from "../../../../shared/page/health.ts";
import { type FirstRows, rowsOf } from "../../../../shared/page/wire.ts";
import { boardOfTwo } from "./two-namespaces.ts";

const token = "a-token-of-sixteen-and-more";
const setting = JSON.stringify([
  { name: "team-a", tokens: [token], may: ["read"], namespaces: ["team-a"] },
  { name: "pipeline", tokens: [`${token}-2`], may: ["trigger"] },
]);

const board = boardOfTwo();

/** Each application completed after an hour. */
const memory = {
  driver: { attempt: 1, submittedAt: Date.now() - 3_600_000, needs: [1_000, 1_024, 1_000, 1_024] },
  state: { phase: "COMPLETED", endedAt: Date.now() },
};
for (const namespace of ["team-a", "team-b"])
  board.recorded(
    { cluster: "default", kind: "SparkApplication", namespace, name: `of-${namespace}` },
    { schema: 1, cluster: "c1", uid: namespace, saves: 1, memory },
  );

const parts: PageParts = {
  board,
  details: async () => undefined,
  logs: async ({ name }, { pod, attempt }) => ({ pod, text: `log of ${name}, attempt ${attempt}`, error: "" }),
  files: async () => ({
    ...{ script: "1", style: "a{}" },
    parts: [
      { name: "page-chunk-A1.js", text: "2", isLater: false },
      { name: "page-later-B2.js", text: "3", isLater: true },
    ],
  }),
  cluster: "test",
  ready: () => true,
  isStreamed: true,
};

const open = (more: Partial<PageParts> = {}): Hono => {
  const app = new Hono();
  const identify = identifier(callers.parse(JSON.parse(setting)), { now: Date.now, subjectOf: async () => undefined });
  servePage(
    app,
    { ...parts, ...more },
    callersOnly(
      openGate(identify),
      openSecretSessions(async () => setting),
      { hasCallers: true },
    ),
  );
  return app;
};

const bearer = (given: string) => ({ authorization: `Bearer ${given}` });
const cookieIn = (response: Response): string => response.headers.get("set-cookie")?.split(";")[0] ?? "";

describe("the files of the page", () => {
  test("hold the parts of the script: the document names those that are needed at once", async () => {
    const app = open();
    const html = await (await app.request("/page")).text();
    assert.deepEqual(html.match(/modulepreload" href="[^"]*/g), ['modulepreload" href="/page/page-chunk-A1.js']);
    const later = await app.request("/page/page-later-B2.js");
    assert.equal(await later.text(), "3");
    assert.match(later.headers.get("content-type") ?? "", /^text\/javascript/);
    assert.equal((await app.request("/page/page-other-C3.js")).status, 404);
  });
});

describe("the health of the page", () => {
  const healthWith = async (more: Partial<PageParts>): Promise<Health> =>
    JSON.parse(await (await open(more).request("/page/health", { headers: bearer(token) })).text());
  const sign = "kubeflow spark-operator holds the lease kube-system/spark-operator-lock";

  test("names each other controller beside which nothing is written, and what to do", async () => {
    const standing = new Map([["kubeflow spark-operator", [sign]]]);
    const { standby = [] } = await healthWith({ standing: async () => standing });
    assert.equal(standby.length, 1);
    assert.ok(standby[0]?.startsWith(`standby: ${sign}; `), standby[0]);
    assert.match(standby[0] ?? "", /rekindle migrate/);
  });

  const counts: readonly (readonly [what: string, more: Partial<PageParts>, says: readonly RegExp[]])[] = [
    ["the changes that a resync found alone", { unheard: async () => 1 }, [/^the last resync found 1 change that no/]],
    ["none while messages tell every change", { unheard: async () => 0 }, []],
    ["none where their count cannot be read", { unheard: () => Promise.reject(new Error("refused")) }, []],
  ];
  for (const [what, more, says] of counts) {
    test(`names ${what}`, async () => {
      const { ready, unheard = [] } = await healthWith(more);
      assert.deepEqual([ready, unheard.length], [true, says.length]);
      for (const [at, pattern] of says.entries()) assert.match(unheard[at] ?? "", pattern);
    });
  }

  const without: readonly { name: string; more: Partial<PageParts> }[] = [
    { name: "where no sign is found", more: { standing: async () => new Map() } },
    { name: "where this process knows of no signs", more: {} },
    { name: "where the signs cannot be read", more: { standing: () => Promise.reject(new Error("refused")) } },
  ];
  for (const { name, more } of without) {
    test(`names none ${name}`, async () => {
      const health = await healthWith(more);
      assert.deepEqual([health.ready, health.standby], [true, undefined]);
    });
  }
});

describe("access to the page", () => {
  test("a caller without a proof gets only the document and its files, which hold no data", async () => {
    const app = open();
    for (const path of [
      "rows",
      "changes",
      "stream",
      "health",
      "costs",
      ...["app", "lanes", "log"].map((one) => `${one}/SparkApplication/team-a/of-team-a`),
    ])
      assert.equal((await app.request(`/page/${path}`)).status, 401, path);
    const document = await app.request("/page");
    assert.equal(document.status, 200);
    assert.ok(!(await document.text()).includes("of-team-a"));
  });

  test("a caller that may read gets a session, whose cookie no script reads, and sees its namespaces only", async () => {
    const app = open();
    const signed = await app.request("/page/session", { method: "POST", headers: bearer(token) });
    assert.equal(signed.status, 200);
    assert.match(signed.headers.get("set-cookie") ?? "", /^__Host-rekindle=.*; HttpOnly; Secure; SameSite=Lax$/);
    const rows = await app.request("/page/rows", { headers: { cookie: cookieIn(signed) } });
    const text = await rows.text();
    assert.ok(text.includes("of-team-a") && !text.includes("team-b"));
    const costs = await (await app.request("/page/costs", { headers: { cookie: cookieIn(signed) } })).text();
    assert.ok(costs.includes("team-a") && !costs.includes("team-b"), costs);
    const other = await app.request("/page/app/SparkApplication/team-b/of-team-b", {
      headers: { cookie: cookieIn(signed) },
    });
    assert.equal(other.status, 404);
    const statusOf = async (what: string, namespace: string): Promise<number> => {
      const headers = { cookie: cookieIn(signed) };
      return (await app.request(`/page/${what}/SparkApplication/${namespace}/of-${namespace}`, { headers })).status;
    };
    for (const what of ["lanes", "log"])
      assert.deepEqual([await statusOf(what, "team-a"), await statusOf(what, "team-b")], [200, 404], what);
  });

  test("the kept log of an attempt is read by its number, and another text is refused with one sentence", async () => {
    const app = open();
    const signed = await app.request("/page/session", { method: "POST", headers: bearer(token) });
    const log = (query: string) =>
      app.request(`/page/log/SparkApplication/team-a/of-team-a?${query}`, { headers: { cookie: cookieIn(signed) } });
    const texts = await Promise.all(
      ["", "attempt=2"].map(async (query) => JSON.parse(await (await log(query)).text()).text),
    );
    assert.deepEqual(texts, ["log of of-team-a, attempt undefined", "log of of-team-a, attempt 2"]);
    for (const attempt of ["0", "-1", "two", "1e3", "9999999999"]) {
      const { status } = await log(`attempt=${attempt}`);
      assert.equal(status, 400, attempt);
    }
  });

  test("a changed cookie, a caller that may not read, and a request of another site are refused", async () => {
    const app = open();
    const signed = await app.request("/page/session", { method: "POST", headers: bearer(token) });
    const cookie = cookieIn(signed);
    const changed = `${cookie.slice(0, -2)}${cookie.endsWith("AA") ? "BB" : "AA"}`;
    assert.equal((await app.request("/page/rows", { headers: { cookie: changed } })).status, 401);
    assert.equal((await app.request("/page/rows", { headers: bearer(`${token}-2`) })).status, 403);
    const foreign = { ...bearer(token), origin: "https://attacker.example", host: "rekindle.example" };
    assert.equal((await app.request("/page/session", { method: "POST", headers: foreign })).status, 403);
  });

  test("every answer forbids foreign scripts, frames and texts that become markup", async () => {
    const policy = (await open().request("/page")).headers.get("content-security-policy") ?? "";
    for (const part of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "trusted-types 'none'"])
      assert.ok(policy.includes(part), part);
  });

  test("the link of rekindle page opens one session", async () => {
    const { secret, ...access } = oneTime("you");
    const app = pageApp(parts, access, () => ["127.0.0.1:1"]);
    const ask = () =>
      app.request("/page/session", { method: "POST", headers: { ...bearer(secret), host: "127.0.0.1:1" } });
    assert.equal((await ask()).status, 200);
    assert.equal((await ask()).status, 403);
  });

  test("a page on this machine answers under no other host name", async () => {
    const app = pageApp(parts, accessForAll("demo"), () => ["127.0.0.1:1"]);
    assert.equal((await app.request("/page/rows", { headers: { host: "rebound.example:1" } })).status, 403);
    assert.equal((await app.request("/page/rows", { headers: { host: "127.0.0.1:1" } })).status, 200);
  });

  test("a reader without new changes gets 304", async () => {
    const app = open();
    const headers = bearer(token);
    const rows = await app.request("/page/rows", { headers });
    const { id, print }: { id: string; print: string } = JSON.parse(await rows.text());
    const since = (from: string) =>
      app.request(`/page/changes?since=${from}`, { headers: { ...headers, "if-none-match": `"${print}"` } });
    assert.equal((await since(id)).status, 304);
    assert.equal((await since("another-1")).status, 304, "the id of another process");
  });

  test("the stream begins with all rows of the caller", async () => {
    const answer = await open().request("/page/stream", { headers: bearer(token) });
    const reader = answer.body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    const text = new TextDecoder().decode(value);
    await reader?.cancel();
    assert.match(text, /^event: rows\n/);
    assert.ok(text.includes("of-team-a") && !text.includes("team-b"));
  });

  test("the first change after a quiet time is sent at once", async () => {
    const answer = await open().request("/page/stream", { headers: bearer(token) });
    const reader = answer.body?.getReader();
    await reader?.read();
    const change = (version: string): void =>
      board.see({
        apiVersion: "sparkoperator.k8s.io/v1beta2",
        kind: "SparkApplication",
        metadata: { name: "of-team-a", namespace: "team-a", uid: "team-a", resourceVersion: version },
        status: { applicationState: { state: version } },
      });
    change("SUBMITTED");
    let sent = "";
    void reader?.read().then(({ value }) => {
      sent = new TextDecoder().decode(value);
    });
    // A wait of a quarter of a second lasts for thousands of turns of the event loop.
    for (let turns = 0; sent === "" && turns < 50; turns += 1) await setImmediate();
    assert.ok(sent.includes("SUBMITTED"), sent);
    await reader?.cancel();
  });
});

describe("rows of the page", () => {
  const headers = { "accept-encoding": "gzip" };
  const object = (name: string, state: string, version = "1") => ({
    apiVersion: "sparkoperator.k8s.io/v1beta2",
    kind: "SparkApplication",
    metadata: { name, namespace: "team-a", uid: name, resourceVersion: version },
    status: { applicationState: { state } },
  });

  const textOf = async (answer: Response): Promise<string> => {
    assert.equal(answer.headers.get("content-encoding"), "gzip");
    return gunzipSync(await answer.arrayBuffer()).toString("utf8");
  };

  test("the beginning of a list holds its first 200 rows, and counts all of them", async () => {
    const own = openBoard(Date.now);
    for (let at = 0; at < 300; at += 1) own.see(object(`running-${at}`, "RUNNING"));
    own.see(object("failed", "FAILED"));
    const app = pageApp({ ...parts, board: own }, accessForAll("demo"), () => [""]);
    const read = async (filter: string) => {
      const answer = await app.request(`/page/rows?part=first&filter=${encodeURIComponent(filter)}`, { headers });
      const { columns, count, counts }: FirstRows = JSON.parse(await textOf(answer));
      return { names: rowsOf(columns).map(({ name }) => name), count, counts };
    };
    const all = await read("");
    assert.deepEqual([all.names.length, all.names[0], all.count], [200, "failed", 301]);
    assert.deepEqual([all.counts.running, all.counts.failed], [300, 1]);
    const few = await read("state:failed");
    assert.deepEqual([few.names, few.count, few.counts.running], [["failed"], 1, 300]);
  });

  test("an answer is built once per change for all viewers of the same namespaces", async () => {
    const own = openBoard(Date.now);
    own.see(object("etl", "RUNNING"));
    let reads = 0;
    const read: typeof own.read = (...given) => {
      reads += 1;
      return own.read(...given);
    };
    const app = pageApp({ ...parts, board: { ...own, read } }, accessForAll("demo"), () => [""]);
    const ask = async () => textOf(await app.request("/page/rows", { headers }));
    const texts = await Promise.all(Array.from({ length: 50 }, ask));
    assert.equal(new Set(texts).size, 1);
    assert.equal(reads, 1);
    own.see(object("etl", "COMPLETED", "2"));
    assert.match(await ask(), /COMPLETED/);
    assert.equal(reads, 2);
  });

  test("a caller of one namespace gets the beginning of its own list", async () => {
    const answer = await open().request("/page/rows?part=first&filter=", { headers: { ...bearer(token) } });
    const text = await answer.text();
    assert.ok(text.includes("of-team-a") && !text.includes("team-b"));
    const { count }: FirstRows = JSON.parse(text);
    assert.equal(count, 1);
  });
});

describe("streams of the page", () => {
  const two = JSON.stringify(
    ["one", "other"].map((name) => ({ name, tokens: [`${token}-${name}`], may: ["read"], namespaces: [] })),
  );
  const opened = (): Hono => {
    const app = new Hono();
    const identify = identifier(callers.parse(JSON.parse(two)), { now: Date.now, subjectOf: async () => undefined });
    servePage(
      app,
      parts,
      callersOnly(
        openGate(identify),
        openSecretSessions(async () => two),
        { hasCallers: true },
      ),
    );
    return app;
  };

  test("a caller with many sessions leaves streams to other callers", async () => {
    const app = opened();
    const open: Response[] = [];
    const streamOf = async (name: string): Promise<number> => {
      const headers = bearer(`${token}-${name}`);
      const signed = await app.request("/page/session", { method: "POST", headers });
      const stream = await app.request("/page/stream", { headers: { cookie: cookieIn(signed) } });
      open.push(stream);
      return stream.status;
    };
    const statuses: number[] = [];
    while (statuses.at(-1) !== 503 && statuses.length < 300) statuses.push(await streamOf("one"));
    assert.equal(statuses.length, 101);
    assert.equal(await streamOf("other"), 200);
    for (const stream of open) await stream.body?.cancel();
  });
});
