/** Every command that follows or waits ends at its timeout, whatever it reads meanwhile. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Transport } from "../../../../shared/core/http.ts";
import type { Simulator } from "../../../../shared/simulator/open.ts";
import { openSimulator } from "../../../../shared/simulator/open.ts";
import { application, driverPod, full, installed, make, onTerminal } from "../terminal.ts";

const running = { applicationState: { state: "RUNNING" }, driverInfo: { podName: "app-driver" } };

/** A cluster in which a log never ends, and whose watcher sees how long a log was read. */
const endless = (simulator: Simulator): { readonly transport: Transport; readonly closed: () => number } => {
  let closed = 0;
  const stream: Transport["stream"] = async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    async function* lines(): AsyncGenerator<string> {
      yield "2026-11-28T10:00:00Z a line";
      await promise;
    }
    const close = (): void => {
      closed += 1;
      resolve();
    };
    return { status: 200, headers: {}, lines: lines(), close };
  };
  return { transport: { ...simulator.transport, stream }, closed: () => closed };
};

/** A terminal beside an application that runs for ever. A submitted application gets this state, too. */
const opened = async () => {
  const simulator = openSimulator({ crds: installed([""]) });
  await make(simulator, application("app", running));
  await make(simulator, driverPod({ status: { phase: "Running" } }));
  const { transport, closed } = endless(simulator);
  const began = simulator.clock.now();
  return { terminal: onTerminal(simulator, { transport }), closed, spent: () => simulator.clock.now() - began };
};

describe("a timeout", () => {
  const submitted = ["submit", "--application", "new", "--image", "i:4.1.1", "--class", "M"];
  const rows: readonly (readonly [words: readonly string[], says: RegExp])[] = [
    [["status", "app", "--watch", "--timeout", "5s"], /default\/app is still RUNNING; it continues/],
    [["log", "app", "-f", "--timeout", "5s"], /default\/app is still RUNNING; it continues/],
    [["log", "app", "--timeout", "5s"], /default\/app is still RUNNING; it continues/],
    [["event", "app", "-f", "--timeout", "5s"], /default\/app is still RUNNING; it continues/],
    [["event", "app", "-w", "--timeout", "5s"], /default\/app is still RUNNING; it continues/],
    [["list", "-w", "--timeout", "5s"], /the timeout has passed/],
    [[...submitted, "--wait", "--timeout", "5s", "local:///a.jar"], /default\/new is still NEW; it continues/],
    [[...submitted, "--watch", "--timeout", "5s", "local:///a.jar"], /default\/new is still NEW; it continues/],
  ];
  for (const [words, says] of rows)
    test(`ends: ${words.join(" ")}`, async () => {
      const { terminal, spent } = await opened();
      const { code, err } = await terminal.run(...words);
      assert.deepEqual([code, spent()], [4, 5_000], err);
      assert.match(err, says);
    });

  test("closes the log that is followed, and keeps the lines that came", async () => {
    const { terminal, closed } = await opened();
    const { out } = await terminal.run("log", "app", "-f", "--timeout", "5s");
    assert.deepEqual([out, closed()], ["a line", 1]);
  });

  test("counts for all keys of a recovery together", async () => {
    const simulator = openSimulator({ crds: installed([""]) });
    const submitted = {
      ...running,
      submissionID: "s",
      executionAttempts: 1,
      lastSubmissionAttemptTime: "2026-11-28T10:00:00Z",
    };
    await make(simulator, application("one", submitted), application("two", submitted));
    const began = simulator.clock.now();
    const { code, out } = await onTerminal(simulator).run("recover", "one", "two", "--no-strict", "--wait", "5s");
    assert.match(out, /2 checked, 0 refused, 2 not settled yet/);
    assert.deepEqual([code, simulator.clock.now() - began], [4, 5_000]);
  });

  test("counts for all objects of a deletion together", async () => {
    const { terminal, spent } = await opened();
    const held = (name: string) => ({
      ...full(name),
      metadata: { name, namespace: "default", finalizers: ["example.com/held"] },
    });
    await make(terminal.simulator, held("one"), held("two"));
    const { code, err } = await terminal.run("delete", "one", "two", "--wait", "--timeout", "4s");
    assert.deepEqual([code, spent()], [4, 4_000]);
    assert.match(err, /default\/one, default\/two or a pod of it is still there/);
  });

  test("is refused where nothing is waited for", async () => {
    const { terminal } = await opened();
    const { code, err } = await terminal.run(...submitted, "--timeout", "5s", "local:///a.jar");
    assert.equal(code, 1);
    assert.match(err, /--timeout is for --wait or --watch/);
  });
});
