/** suspend, pause, resume, delete: their writes, and their refusals. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { request } from "../../../../shared/adapters/kubernetes/requests.ts";
import { isRecord } from "../../../../shared/core/json.ts";

import { application, make, openTerminal, type Terminal } from "../terminal.ts";

const path = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/default/sparkapplications";

const specOf = async ({ simulator }: Terminal, name: string): Promise<Readonly<Record<string, unknown>>> => {
  const { spec } = await request(simulator.transport, "GET", `${path}/${name}`);
  return isRecord(spec) ? spec : {};
};

const failed = { applicationState: { state: "FAILED" } };
const running = { applicationState: { state: "RUNNING" } };

describe("rekindle suspend and resume", () => {
  test("set and reset spec.suspend, also when they are repeated", async () => {
    const terminal = openTerminal();
    await make(terminal.simulator, application("app", running));
    assert.match((await terminal.run("suspend", "default/app")).out, /^default\/app is being suspended/);
    assert.equal((await specOf(terminal, "app"))["suspend"], true);
    assert.match((await terminal.run("suspend", "app")).out, /is suspended already$/);
    assert.match((await terminal.run("resume", "app")).out, /continues$/);
    assert.equal((await specOf(terminal, "app"))["suspend"], false);
    assert.match((await terminal.run("resume", "app")).out, /neither suspended nor paused$/);
  });

  test("end a suspension and a pause by one resume", async () => {
    const terminal = openTerminal();
    await make(terminal.simulator, application("app", running));
    await terminal.run("suspend", "app");
    await terminal.run("pause", "app");
    assert.match((await terminal.run("resume", "app")).out, /continues$/);
    assert.equal((await specOf(terminal, "app"))["suspend"], false);
    assert.match((await terminal.run("resume", "app")).out, /neither/);
  });

  const refusals: readonly (readonly [readonly string[], RegExp])[] = [
    [["suspend", "ended"], /default\/ended has ended \(FAILED\): there is nothing to suspend$/],
    [["suspend", "SparkConnect/default/c"], /a SparkConnect has no spec\.suspend; delete it, or .*rekindle pause$/],
    [["resume", "none"], /there is no application of any kind default\/none; see them all with: rekindle list$/],
  ];
  for (const [args, line] of refusals) {
    test(`refuse in one line: ${args.join(" ")}`, async () => {
      const terminal = openTerminal();
      await make(terminal.simulator, application("ended", failed));
      const { code, err } = await terminal.run(...args);
      assert.equal(code, 1);
      assert.match(err, line);
    });
  }
});

describe("rekindle delete", () => {
  const three = async (answer = false): Promise<Terminal> => {
    const terminal = openTerminal({ answer });
    const labelled = application("c");
    const objects = [
      application("a"),
      application("b"),
      { ...labelled, metadata: { ...labelled.metadata, labels: { team: "data" } } },
    ];
    await make(terminal.simulator, ...objects);
    return terminal;
  };
  const left = async (terminal: Terminal): Promise<string> => (await terminal.run("list", "-o", "name")).out;

  test("removes the named ones, and prints them", async () => {
    const terminal = await three();
    const { out, code } = await terminal.run("delete", "a", "default/b", "--wait");
    assert.equal(code, 0);
    assert.equal(
      out,
      "sparkapplication.sparkoperator.k8s.io/a deleted\nsparkapplication.sparkoperator.k8s.io/b deleted",
    );
    assert.equal(await left(terminal), "sparkapplication.sparkoperator.k8s.io/c");
  });

  test("removes the ones with labels only after a confirmation", async () => {
    const terminal = await three();
    assert.match(
      (await terminal.run("delete", "-l", "team=data")).err,
      /nothing was deleted \(--yes skips the question\)$/,
    );
    assert.equal((await terminal.run("delete", "-l", "team=data", "--yes")).code, 0);
    assert.doesNotMatch(await left(terminal), /\/c/);
    assert.match((await terminal.run("delete", "-l", "team=none", "--yes")).out, /nothing matches/);
  });

  test("removes all of a namespace after a confirmation", async () => {
    const terminal = await three(true);
    assert.equal((await terminal.run("delete", "--all")).code, 0);
    assert.equal(await left(terminal), "");
  });

  const wrong: readonly (readonly string[])[] = [[], ["a", "--all"], ["a", "-l", "x=y"]];
  for (const args of wrong) {
    test(`refuses delete ${args.join(" ")}`, async () => {
      const { code, err } = await (await three()).run("delete", ...args);
      assert.equal(code, 1);
      assert.match(err, /name what to delete, or use -l LABELS or --all; exactly one of these$/);
    });
  }

  test("waits up to its timeout for one that a finalizer holds, and returns 4", async () => {
    const terminal = openTerminal();
    const held = application("held");
    await make(terminal.simulator, { ...held, metadata: { ...held.metadata, finalizers: ["example.com/hold"] } });
    const { code, err } = await terminal.run("delete", "held", "--wait", "--timeout", "5s");
    assert.equal(code, 4);
    assert.match(err, /default\/held or a pod of it is still there; see: rekindle status default\/held$/);
  });
});
