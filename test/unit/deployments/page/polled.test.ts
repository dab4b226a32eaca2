/** The page of a function: one list for all viewers in five seconds, and rows that come, change and go. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Transport } from "../../../../shared/core/http.ts";
import { openBoard } from "../../../../shared/deployments/page/board.ts";
import { kept, openPolling } from "../../../../shared/deployments/page/host.ts";
import { rowsOf } from "../../../../shared/page/wire.ts";
import { openSimulator } from "../../../../shared/simulator/open.ts";
import { crds } from "../../../support/crds.ts";

const path = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/team-a/sparkapplications";

const application = (name: string) => ({
  apiVersion: "sparkoperator.k8s.io/v1beta2",
  kind: "SparkApplication",
  metadata: { name, namespace: "team-a" },
  spec: { type: "Scala", sparkVersion: "4.1.1", mainApplicationFile: "local:///a.jar", driver: {}, executor: {} },
});

const open = () => {
  const simulator = openSimulator({ start: Date.parse("2026-11-02T08:00:00Z"), crds });
  const ask = (method: "POST" | "PATCH" | "DELETE", at: string, body?: object): void => {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const answer = simulator.handle({
      ...{ method, path: at, headers: { "content-type": type } },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    assert.ok(answer.status < 300, answer.body);
  };
  ask("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "team-a" } });
  ask("POST", path, application("etl"));
  let now = 0;
  let isAway = false;
  const lists: string[] = [];
  const { transport: sent } = simulator;
  const transport: Transport = {
    ...sent,
    send: async (request) => {
      if (isAway) throw new Error("reset");
      if (/sparkoperator.k8s.io\/.*\/sparkapplications\?/.test(request.path)) lists.push(request.path);
      return await sent.send(request);
    },
  };
  const warned: string[] = [];
  const report = (_: string, text: string): void => void warned.push(text);
  const board = openBoard(() => 0);
  const polling = openPolling({ transport, board, report, hasRecords: true, now: () => now });
  const rows = () => rowsOf(board.read([]).columns).map(({ name, state }) => [name, state]);
  return {
    ...{ ask, polling, board, lists, rows, warned },
    wait: (ms: number): void => {
      now += ms;
    },
    leave: (is: boolean): void => {
      isAway = is;
    },
  };
};

test("a listed object is kept in some hundred bytes, whatever its metadata holds", () => {
  const texts = { text: "x".repeat(250_000), "rekindle.dev/name": "etl", "rekindle.dev/other": "y".repeat(100_000) };
  const metadata = { name: "a", namespace: "ns", uid: "u", resourceVersion: "1", labels: texts, annotations: texts };
  for (const kind of ["SparkApplication", "Checkpoint"])
    assert.ok(JSON.stringify(kept({ apiVersion: "rekindle.dev/v1alpha1", kind, metadata })).length < 300, kind);
});

describe("the page of a function", () => {
  test("fifty viewers cost one list in five seconds", async () => {
    const { polling, lists, wait } = open();
    await Promise.all(Array.from({ length: 50 }, () => polling.fresh()));
    await polling.fresh();
    assert.equal(lists.length, 1);
    wait(4_999);
    await polling.fresh();
    assert.equal(lists.length, 1);
    wait(1);
    await polling.fresh();
    assert.equal(lists.length, 2);
  });

  test("rows appear, change and vanish; an unchanged row is no change for readers", async () => {
    const { polling, board, rows, ask, wait } = open();
    await polling.fresh();
    assert.deepEqual(rows(), [["etl", "NEW"]]);
    const { id } = board.read([]);
    ask("POST", path, application("other"));
    wait(5_000);
    await polling.fresh();
    assert.deepEqual(
      rowsOf(board.read([], id).columns).map(({ name }) => name),
      ["other"],
    );
    ask("PATCH", `${path}/etl/status`, { status: { applicationState: { state: "RUNNING" }, driverInfo: {} } });
    ask("DELETE", `${path}/other`);
    wait(5_000);
    await polling.fresh();
    assert.deepEqual(rows(), [["etl", "RUNNING"]]);
  });

  test("a list that fails keeps the earlier rows, and is tried again", async () => {
    const { polling, rows, wait, leave, warned } = open();
    await polling.fresh();
    leave(true);
    wait(5_000);
    await polling.fresh();
    assert.deepEqual(rows(), [["etl", "NEW"]]);
    assert.equal(warned.length, 1);
    leave(false);
    wait(5_000);
    await polling.fresh();
    assert.equal(polling.ready(), true);
    assert.equal(warned.length, 1);
  });
});
