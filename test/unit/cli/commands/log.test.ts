/** `rekindle log --attempt`: kept logs, and beside them what the driver last reported. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import type { Obj } from "../../../../shared/core/object.ts";
import { application, make, openTerminal } from "../terminal.ts";

const at = Date.UTC(2026, 10, 2, 7, 59, 51);

const checkpoint = (name: string, memory: Readonly<Record<string, unknown>>): Obj => ({
  apiVersion: "rekindle.dev/v1alpha1",
  kind: "Checkpoint",
  metadata: { name, namespace: "default" },
  spec: { schema: 1, cluster: "c", uid: "u", saves: 3, memory },
});

const words = { executors: 2, running: 1, failed: 3, shuffle: 5_242_880, heap: 104_857_600 };
const care = { pulse: { at, tasks: 40, movedAt: at, words } };
const text = gzipSync("the log\n").toString("base64");
const logs = [1, 2].map((attempt) => ({
  attempt,
  pod: "app-driver",
  uid: `u-${attempt}`,
  at,
  until: at + 9_000,
  text,
}));

const told =
  "--- the driver of attempt 2 last reported at 07:59:51: 2 executors; 1 task running, 40 ended, 3 failed; 5 MiB of shuffle data written; largest heap 100 MiB";

test("the last report of an attempt's driver is on stderr, beside its kept log and the list", async () => {
  const terminal = openTerminal();
  make(terminal.simulator, application("app", { applicationState: { state: "COMPLETED" } }));
  make(terminal.simulator, checkpoint("sparkapplication.app", { executors: { attempt: 2, care } }));
  make(terminal.simulator, checkpoint("logs.sparkapplication.app", { logs }));
  const rows = [
    ["2", "the log", told],
    ["1", "the log", ""],
  ] as const;
  for (const [attempt, out, err] of rows) {
    const found = await terminal.run("log", "app", "-n", "default", "--attempt", attempt);
    assert.deepEqual([found.out, found.err.trim()], [out, err], attempt);
  }
  const list = await terminal.run("log", "app", "-n", "default", "--attempt");
  assert.match(list.out, /^ATTEMPT +POD/);
  assert.equal(list.err.trim(), told);
});

test("event shows what is about the object that is there; --all adds an earlier object of its name", async () => {
  const terminal = openTerminal();
  await make(terminal.simulator, application("app", { applicationState: { state: "RUNNING" } }));
  const { uid } = JSON.parse(
    JSON.stringify(terminal.simulator.store.get("sparkapplications.sparkoperator.k8s.io", "default/app")?.metadata),
  );
  const event = (name: string, about: string, reason: string): Obj => ({
    apiVersion: "v1",
    kind: "Event",
    metadata: { name, namespace: "default" },
    ...{ type: "Normal", reason, message: reason, lastTimestamp: "2026-11-02T07:59:00Z" },
    involvedObject: { kind: "SparkApplication", name: "app", namespace: "default", uid: about },
  });
  await make(terminal.simulator, event("now", uid, "Running"), event("before", "gone", "ExecutorLost"));
  const own = (await terminal.run("event", "app")).out;
  assert.match(own, /Running/);
  assert.doesNotMatch(own, /ExecutorLost/);
  assert.match((await terminal.run("event", "app", "--all")).out, /ExecutorLost/);
});
