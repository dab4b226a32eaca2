/** rekindle list, and the machine-readable output of status: kinds, namespaces, labels, and changes. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { checkpointRef } from "../../../shared/adapters/checkpoints/kubernetes.ts";
import type { Obj } from "../../../shared/core/object.ts";
import { changedRows, type Listed } from "../../../shared/inspection/list.ts";
import { connectKind, crdOf, scheduledKind } from "../cli/definitions.ts";
import { application, make, onTerminal, openTerminal, type Terminal } from "../cli/terminal.ts";

const running = {
  applicationState: { state: "RUNNING" },
  driverInfo: { podName: "a-driver" },
  lastSubmissionAttemptTime: "2026-11-02T07:58:00Z",
};

const within = (object: Obj, namespace: string, labels: Readonly<Record<string, string>> = {}): Obj => ({
  ...object,
  metadata: { ...object.metadata, namespace, labels },
});

const open = async (env: Readonly<Record<string, string>> = {}): Promise<Terminal> => {
  const terminal = openTerminal({ crds: ["checkpoints.", "sparkapplications."], env });
  await make(
    terminal.simulator,
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "other" } },
    within(application("a", running), "default", { team: "data" }),
    within(application("b"), "other"),
  );
  return terminal;
};

const names = (out: string): readonly string[] =>
  out
    .split("\n")
    .slice(1)
    .map((line) => line.split(/ +/)[1] ?? "");

/** Returns the same list without colours. */
const openTerminalAgain = async ({ simulator }: Terminal): Promise<string> =>
  (await onTerminal(simulator).run("list")).out;

describe("rekindle list", () => {
  const choices: readonly (readonly [readonly string[], readonly string[]])[] = [
    [[], ["a", "b"]],
    [["-A"], ["a", "b"]],
    [["-n", "other"], ["b"]],
    [["-l", "team=data"], ["a"]],
    [["-l", "team"], ["a"]],
    [["sparkapp"], ["a", "b"]],
  ];
  for (const [args, wanted] of choices) {
    test(`list ${args.join(" ")} shows ${wanted.join(", ")}`, async () => {
      const { out } = await (await open()).run("list", ...args);
      assert.deepEqual(names(out), wanted);
    });
  }

  test("-o wide shows upstream's columns", async () => {
    const { out } = await (await open()).run("list", "-n", "default", "-o", "wide");
    const [head = "", row = ""] = out.split("\n");
    assert.match(head, /WAITS FOR, OR WHY IT ENDED +SUSPEND +DRIVER +START +FINISH$/);
    assert.match(row, /a-driver +2026-11-02T07:58:00Z$/);
  });

  /** Writes the record of an application that completed: 5 core-hours and 9 GiB-hours, of which 1 and 2 were lost. */
  const record = async (terminal: Terminal): Promise<void> => {
    const needs = [1_000, 1_024, 2_000, 4_096];
    const memory = {
      driver: { attempt: 1, submittedAt: 0, needs },
      executors: { attempt: 1, ran: [7_200, 1_800] },
      state: { phase: "COMPLETED", endedAt: 3_600_000 },
    };
    const key = { cluster: "default", kind: "SparkApplication", namespace: "default", name: "a" };
    const { name } = checkpointRef(key, "rekindle");
    await make(terminal.simulator, {
      apiVersion: "rekindle.dev/v1alpha1",
      kind: "Checkpoint",
      metadata: { name, namespace: "default" },
      spec: { schema: 1, cluster: "c1", uid: "u1", saves: 1, memory },
    });
  };

  test("-o wide shows hours of cores and memory, and those that were lost, where the record tells them", async () => {
    const terminal = await open();
    await record(terminal);
    const [head = "", row = ""] = (await terminal.run("list", "-n", "default", "-o", "wide")).out.split("\n");
    assert.match(head, /FINISH +CORE-H +GIB-H +LOST CORE-H +LOST GIB-H$/);
    assert.match(row, /5\.000 +9\.000 +1\.000 +2\.000$/);
  });

  test("-o wide shows money where the setting prices is set", async () => {
    const terminal = await open({ REKINDLE_PRICES: '{"currency": "EUR", "core": 1, "gib": 0.5}' });
    await record(terminal);
    const [head = "", row = ""] = (await terminal.run("list", "-n", "default", "-o", "wide")).out.split("\n");
    assert.match(head, /LOST GIB-H +COST EUR +LOST EUR$/);
    assert.match(row, /2\.000 +9\.500 +2\.000$/);
  });

  test("says why an application failed, in data and in the table, where a long reason is cut", async () => {
    const failed = (errorMessage: string) => ({ applicationState: { state: "FAILED", errorMessage } });
    const terminal = await open();
    await make(
      terminal.simulator,
      application("bad", failed("driver container failed with ExitCode: 3\n")),
      application("long", failed(`x${"y".repeat(400)}`)),
      application("good", { applicationState: { state: "COMPLETED" } }),
      application("refused", { applicationState: { state: "SUBMISSION_FAILED", errorMessage: "exceeded quota" } }),
    );
    const { out } = await terminal.run("list");
    assert.match(out, /AGE +WAITS FOR, OR WHY IT ENDED$/m);
    assert.match(out, /bad +FAILED +0 +0s +driver container failed with ExitCode: 3$/m);
    assert.match(out, /long +FAILED +0 +0s +xy{159}…$/m);
    assert.match(out, /good +COMPLETED +0 +0s +-$/m);
    assert.match(out, /refused +SUBMISSION_FAILED +0 +0s +its next submission \(exceeded quota\)$/m);
    const found = JSON.parse((await terminal.run("list", "-o", "json")).out);
    const rows = new Map(found.map((row: { name: string }) => [row.name, row]));
    assert.partialDeepStrictEqual(rows.get("bad"), {
      ended: "badly",
      message: "driver container failed with ExitCode: 3\n",
    });
    assert.equal("waitsFor" in Object(rows.get("bad")), false);
    assert.partialDeepStrictEqual(rows.get("refused"), { waitsFor: "its next submission", message: "exceeded quota" });
  });

  test("data have numbers as numbers, and no empty cell", async () => {
    const terminal = openTerminal();
    await record(terminal);
    const job = { apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job", metadata: { name: "j", namespace: "default" } };
    const task = { name: "w", template: { spec: { containers: [{ name: "c", image: "i" }] } } };
    const status = { state: { phase: "Running" }, running: 2, succeeded: 1 };
    await make(terminal.simulator, application("a"), { ...job, spec: { tasks: [task] }, status });
    const [app, other] = JSON.parse((await terminal.run("list", "-o", "json")).out);
    assert.deepEqual(app.usage, { all: { cores: 5, gib: 9 }, lost: { cores: 1, gib: 2 }, isWhole: true });
    assert.deepEqual(app.details, {});
    assert.deepEqual(other.details, { PENDING: 0, RUNNING: 2, SUCCEEDED: 1, FAILED: 0 });
  });

  test("-o yaml and -o json print the same, and -o name prints names", async () => {
    const terminal = await open();
    const { parse } = await import("yaml");
    const json: unknown = JSON.parse((await terminal.run("list", "-o", "json")).out);
    assert.deepEqual(parse((await terminal.run("list", "-o", "yaml")).out), json);
    assert.equal(
      (await terminal.run("list", "-n", "other", "-o", "name")).out,
      "sparkapplication.sparkoperator.k8s.io/b",
    );
  });

  test("prints every instant in data as the API does", async () => {
    const { out } = await (await open()).run("list", "-o", "json");
    assert.match(out, /"createdAt": "2026-11-02T08:00:00(\.\d+)?Z"/);
    assert.doesNotMatch(out, /\d{12}/);
  });

  test("colours states on a terminal, and keeps the columns as wide", async () => {
    const terminal = openTerminal({ crds: ["checkpoints.", "sparkapplications."], colours: true });
    await make(terminal.simulator, application("a", running), application("b"));
    const { out } = await terminal.run("list");
    assert.match(out, /\u001b\[32mRUNNING *\u001b\[39m/);
    assert.match(out, /\u001b\[33mNEW +\u001b\[39m/);
    const plain = await openTerminalAgain(terminal);
    assert.equal(out.replaceAll(/\u001b\[\d+m/g, ""), plain);
    assert.match((await terminal.run("status", "a")).out, /state {6}\u001b\[32mRUNNING\u001b\[39m\n/);
  });

  const wrong: readonly (readonly [readonly string[], number, RegExp])[] = [
    [["-A", "-n", "x"], 1, /use -A or -n, not both$/],
    [["deployments"], 1, /deployments is not a kind that Rekindle runs \(SparkApplication, /],
    [["-o", "xml"], 2, /Allowed choices are table, wide, json, yaml, name, key/],
  ];
  for (const [args, code, line] of wrong) {
    test(`refuses list ${args.join(" ")}`, async () => {
      const ran = await (await open()).run("list", ...args);
      assert.equal(ran.code, code);
      assert.match(ran.err, line);
    });
  }

  test("prints a table for each kind, and none for a kind that is not installed", async () => {
    const terminal = await open();
    assert.match((await terminal.run("list", "SparkConnect")).err, /does not serve this resource.*rekindle manifests/);
    await make(terminal.simulator, crdOf(scheduledKind), crdOf(connectKind));
    await make(
      terminal.simulator,
      {
        apiVersion: "sparkoperator.k8s.io/v1beta2",
        kind: "ScheduledSparkApplication",
        metadata: { name: "nightly", namespace: "default" },
        spec: { schedule: "@daily" },
        status: { scheduleState: "Scheduled", nextRun: "2026-11-03T00:00:00Z" },
      },
      {
        apiVersion: "sparkoperator.k8s.io/v1alpha1",
        kind: "SparkConnect",
        metadata: { name: "server", namespace: "default" },
        spec: {},
        status: { state: "Ready", server: { podName: "server-server" } },
      },
    );
    const { out } = await terminal.run("list");
    assert.match(
      out,
      /^SparkApplication\nNAMESPACE[\s\S]+\n\nScheduledSparkApplication\nNAMESPACE[\s\S]+\n\nSparkConnect\n/,
    );
    assert.match(out, /default +nightly +Scheduled +0s +its next run at 2026-11-03T00:00:00Z/);
    assert.match(out, /default +server +Ready +0s +clients/);
    const status = await terminal.run("status", "scheduledsparkapp/default/nightly", "-o", "wide");
    assert.match(status.out, /state {6}Scheduled\nwaits for {2}its next run[\s\S]+schedule +@daily/);
  });

  test("--watch prints each change once: new, another state, gone", () => {
    const row = (name: string, state: string): Listed => ({
      ...{ kind: "SparkApplication", namespace: "default", name, state, attempts: 1, createdAt: 0 },
      ...{ waitsFor: undefined, message: undefined, ended: undefined, details: {}, usage: undefined },
    });
    const before = [row("a", "RUNNING"), row("b", "RUNNING"), row("c", "RUNNING")];
    const after = [row("a", "RUNNING"), row("b", "COMPLETED"), row("d", "NEW")];
    assert.deepEqual(
      changedRows(before, after).map(({ name, state }) => `${name} ${state}`),
      ["b COMPLETED", "d NEW", "c GONE"],
    );
    assert.deepEqual(changedRows(after, after), []);
  });
});

describe("rekindle status", () => {
  test("prints as data the same as its three lines", async () => {
    const terminal = await open();
    const told: unknown = JSON.parse((await terminal.run("status", "a", "-o", "json")).out);
    assert.deepEqual(Object.keys(Object(told)), [
      ...[
        "kind",
        "namespace",
        "name",
        "state",
        "attempts",
        "waitsFor",
        "since",
        "do",
        "details",
        "history",
        "waits",
        "saves",
        "runs",
        "notes",
        "pods",
      ].filter((key) => key !== "attempts"),
    ]);
    assert.equal((await terminal.run("status", "a", "-o", "name")).out, "sparkapplication.sparkoperator.k8s.io/a");
  });

  test("--watch prints each change once and ends with the application", async () => {
    const states = ["RUNNING", "SUCCEEDING", "COMPLETED"];
    const terminal = openTerminal({
      slept: async ({ transport }) => {
        const { request } = await import("../../../shared/adapters/kubernetes/requests.ts");
        const path = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/default/sparkapplications/a";
        const state = states.shift() ?? "COMPLETED";
        const found = await request(transport, "GET", path);
        const status = { driverInfo: {}, applicationState: { state } };
        await request(transport, "PUT", `${path}/status`, { ...found, status });
      },
    });
    await make(terminal.simulator, application("a", running));
    const { out, code } = await terminal.run("status", "a", "--watch");
    assert.equal(code, 0);
    assert.deepEqual(
      [...out.matchAll(/^state {6}(\w+)$/gm)].map(([, state]) => state),
      ["RUNNING", "SUCCEEDING", "COMPLETED"],
    );
    const lines = out.split("\n");
    assert.equal(
      lines.filter((line) => line.startsWith("waits for")).length,
      new Set(lines.filter((line) => line.startsWith("waits for"))).size,
      out,
    );
  });
});
