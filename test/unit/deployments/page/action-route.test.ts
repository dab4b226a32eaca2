/** The door of actions on the page: who may send them, and in which form. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { actionHeader } from "../../../../shared/page/wire.ts";
import { ask, etl, open, paths, send, token } from "./action-fixture.ts";

describe("the door of actions", () => {
  test("is closed to callers that only read, and to other namespaces than the caller's", async () => {
    const fixture = open();
    const { get, seen, lines } = fixture;
    const before = seen("SparkApplication", "etl");
    for (const action of ["pause", "suspend", "delete"]) {
      const reader = await send(fixture, etl, { action, ...before }, { caller: "reader" });
      assert.deepEqual([reader.status, reader.text], [403, "forbidden: the caller reader has no ability act"]);
      const team = await send(fixture, etl, { action, ...before }, { caller: "team-a" });
      assert.deepEqual(
        [team.status, team.text],
        [403, "forbidden: the caller team-a has no access to namespace default"],
      );
    }
    const step = await send(fixture, etl, { action: "reconcile", ...before }, { caller: "team-a" });
    assert.equal(step.status, 403);
    const closed = await send(
      fixture,
      "Queue/batch",
      { action: "close", ...seen("Queue", "batch") },
      { caller: "team-a" },
    );
    assert.deepEqual(
      [closed.status, closed.text],
      [403, "forbidden: the caller team-a is limited to namespaces, and a queue has none"],
    );
    assert.equal(get("SparkApplication", "etl").object.metadata.annotations, undefined);
    assert.deepEqual(lines, []);
  });

  test("is closed to requests of other sites, without the header, without a key, and to forms", async () => {
    const fixture = open();
    const wish = { action: "pause", ...fixture.seen("SparkApplication", "etl") };
    const statusWith = async (headers: Readonly<Record<string, string>>): Promise<number> =>
      (await send(fixture, etl, wish, { headers })).status;
    assert.equal(await statusWith({ origin: "https://attacker.example", host: "rekindle.example" }), 403);
    assert.equal(await statusWith({ "sec-fetch-site": "cross-site" }), 403);
    assert.equal(await statusWith({ [actionHeader]: "" }), 403);
    assert.equal(await statusWith({ "content-type": "text/plain" }), 415);
    assert.equal(await statusWith({ "idempotency-key": "short" }), 400);
    assert.equal(await statusWith({ authorization: "" }), 401);
    assert.equal(fixture.get("SparkApplication", "etl").object.metadata.annotations, undefined);
  });

  test("takes no action, field or name that it does not know", async () => {
    const fixture = open();
    const seen = fixture.seen("SparkApplication", "etl");
    assert.equal((await send(fixture, etl, { action: "recover", ...seen })).status, 400);
    assert.equal((await send(fixture, etl, { action: "pause", ...seen, spec: {} })).status, 400);
    assert.equal((await send(fixture, etl, { action: "open", ...seen })).status, 422);
    assert.equal((await send(fixture, "Queue/batch", { action: "pause", ...seen })).status, 422);
    assert.equal((await send(fixture, "Pod/default/etl", { action: "delete", ...seen })).status, 404);
    assert.equal(
      (await send(fixture, "SparkApplication/default/Not_A_Name", { action: "delete", ...seen })).status,
      400,
    );
    const large = await send(fixture, etl, { action: "pause", ...seen, more: "x".repeat(5_000) });
    assert.equal(large.status, 413);
  });

  test("a session acts by the abilities of its caller, and the page knows them", async () => {
    const { app } = open();
    const mayOf = async (caller: string): Promise<unknown> => {
      const signed = await app.request("/page/session", {
        method: "POST",
        headers: { authorization: `Bearer ${token(caller)}` },
      });
      const cookie = signed.headers.get("set-cookie")?.split(";")[0] ?? "";
      return JSON.parse(await (await app.request("/page/health", { headers: { cookie } })).text()).may;
    };
    // This process has no queue, so nobody requests steps here.
    assert.deepEqual([await mayOf("operator"), await mayOf("reader")], [[{ ability: "act", namespaces: [] }], []]);
  });

  test("the page shows the actions that the state of the application allows", async () => {
    const shown = async ({ app }: ReturnType<typeof open>): Promise<unknown> => {
      const headers = { authorization: `Bearer ${token("reader")}` };
      return JSON.parse(await (await app.request(`/page/app/${etl}`, { headers })).text()).actions;
    };
    const patched = (path: string, change: object) => {
      const fixture = open();
      ask(fixture.simulator, "PATCH", `${paths["SparkApplication"]}/etl${path}`, change);
      return fixture;
    };
    assert.deepEqual(await shown(open()), ["reconcile", "pause", "suspend", "delete"]);
    assert.deepEqual(await shown(patched("", { spec: { suspend: true } })), ["reconcile", "resume", "pause", "delete"]);
    const completed = { status: { applicationState: { state: "COMPLETED" }, driverInfo: {} } };
    assert.deepEqual(await shown(patched("/status", completed)), ["reconcile", "delete"]);
  });
});
