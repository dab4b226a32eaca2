/** The demo at high speed: its claims hold, they are read from the API, and a failed claim is reported. */
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { HttpResponse, Transport } from "../../../../shared/core/http.ts";
import type { FunctionSettings, Functions } from "../../../../shared/deployments/demo/cluster.ts";
import type { Tempo } from "../../../../shared/deployments/demo/scenario.ts";
import { runDemo } from "../../../../shared/deployments/demo/start.ts";

const root = new URL("../../../../", import.meta.url);

const hurried: Tempo = {
  visibilityMs: 1_000,
  calmMs: 50,
  limitMs: 25_000,
  spark: { startMs: 1_500, bootMs: 50, jobMs: 3_500, executors: { "*": { startMs: 50 } } },
};

type Ran = { readonly code: number; readonly text: string; readonly warned: readonly string[] };

type Given = { readonly args?: readonly string[]; readonly tempo?: Tempo; readonly terminal?: boolean } & {
  readonly engine?: (settings: FunctionSettings) => Functions;
  readonly env?: Readonly<Record<string, string>>;
};

const run = async ({ args = [], tempo = hurried, terminal = false, engine, env = {} }: Given): Promise<Ran> => {
  const texts: string[] = [];
  const warned: string[] = [];
  const code = await runDemo({
    ...{ args, root, env, tempo, interrupted: new AbortController().signal },
    output: { write: (text) => texts.push(text), isTTY: terminal, columns: 80 },
    warn: (line) => warned.push(line),
    ...(engine === undefined ? {} : { engine }),
  });
  return { code, text: texts.join(""), warned };
};

/** Functions without an engine: `write` writes to the API, and no function is ever invoked. */
const stranger =
  (write: (transport: Transport) => Promise<void>) =>
  ({ transport }: FunctionSettings): Functions => {
    const writing = write(transport);
    return { ready: () => true, invocations: () => 0, stop: () => writing };
  };

const application = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/default/sparkapplications/spark-pi";

const ask = (transport: Transport, method: "GET" | "PATCH", path: string, body?: unknown): Promise<HttpResponse> =>
  transport.send({
    ...{ method, path, timeoutMs: 1_000 },
    headers: { "content-type": "application/merge-patch+json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

const untilApplied = async (transport: Transport): Promise<void> => {
  while ((await ask(transport, "GET", application)).status !== 200)
    await new Promise((resolve) => setImmediate(resolve));
};

/** Asserts that the texts stand in this order. */
const inOrder = (text: string, parts: readonly string[]): void => {
  let from = 0;
  for (const part of parts) {
    const at = text.indexOf(part, from);
    assert.ok(at >= 0, `${part} is not after ${text.slice(0, from).trimEnd().split("\n").at(-1)} in\n${text}`);
    from = at + part.length;
  }
};

const story = [
  "kubectl apply -f infra/examples/spark-pi.yaml",
  "spark-pi is created and requests 2 executors",
  "the record of attempt 1 is saved before its driver is created",
  "pod spark-pi-driver is created for attempt 1",
  "invocation 1 is killed",
  "receives the message after",
  "spark-pi is SUBMITTED",
  "spark-pi-driver is found and not created again",
  "spark-pi is RUNNING",
  "kill -9: the process of executor 1",
  "executor 1 failed: exit code 137 (SIGKILL)",
  "executor 3 is created by spark-pi-driver, in place of executor 1",
  "executor 3 runs on",
  "spark-pi is COMPLETED",
  "its log says: Pi is roughly 3.14",
  "✔ the application is COMPLETED",
  "✔ one driver per attempt                   attempt 1: 1 driver",
  "✔ a killed executor was replaced",
  "✔ an invocation continued after the kill",
  "✔ the driver's log is readable",
];

describe("the demo", { concurrency: true }, () => {
  test("continues after the kills of a function and an executor, and prints the lines in this order", async () => {
    const { code, text } = await run({});
    inOrder(text, story);
    assert.equal(code, 0);
    assert.ok(!text.includes("\u001b"), "no colours and no pictures where nobody is at a terminal");
  });

  test("draws on a terminal, restores the cursor, and writes the same story as JSON", async () => {
    const folder = await mkdtemp(join(tmpdir(), "rekindle-demo-test-"));
    try {
      const json = join(folder, "demo.json");
      const { code, text } = await run({ args: ["--json", json], terminal: true, env: { NO_COLOR: "1" } });
      assert.equal(code, 0);
      assert.ok(text.includes("executors   ✖ 1 (137)   ● 2   ● 3"), text);
      assert.ok(text.startsWith("\u001b[?25l") && text.endsWith("\u001b[?25h"), "the cursor comes back");
      assert.ok(!text.includes("\u001b[3"), "NO_COLOR is obeyed");
      const data = JSON.parse(await readFile(json, "utf8"));
      assert.equal(data.passed, true);
      assert.ok(data.timeline.some((entry: { text: string }) => entry.text === "spark-pi is COMPLETED"));
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test("prints the states in the API whoever wrote them, and fails if a claim does not hold", async () => {
    const engine = stranger(async (transport) => {
      await untilApplied(transport);
      for (const state of ["SUBMITTED", "RUNNING", "FAILED"]) {
        const errorMessage = state === "FAILED" ? "a stranger says so" : "";
        const status = { applicationState: { state, errorMessage }, driverInfo: {} };
        const { status: code, body } = await ask(transport, "PATCH", `${application}/status`, { status });
        assert.equal(code, 200, body);
      }
    });
    const { code, text } = await run({ engine });
    inOrder(text, [
      "spark-pi is SUBMITTED",
      "spark-pi is RUNNING",
      "spark-pi is FAILED (no further attempt: a stranger says so)",
    ]);
    inOrder(text, [
      "✖ the application is COMPLETED             SUBMITTED → RUNNING → FAILED",
      "✖ one driver per attempt                   no driver",
      "✖ a killed executor was replaced           no executor was killed",
      "5 of 5 claims did not hold",
    ]);
    assert.equal(code, 1);
  });

  test("fails after its time limit if nothing happens", async () => {
    const { code, text } = await run({ engine: stranger(async () => {}), tempo: { ...hurried, limitMs: 300 } });
    assert.match(text, /✖ the application is COMPLETED +no state/);
    assert.equal(code, 1);
  });

  const refused = [
    { args: ["--skip-story", "--json", "a.json"], says: /--json writes the story/ },
    { args: ["--fast"], says: /--fast/ },
    { args: ["--port", "http"], says: /--port http is not a port/ },
    { args: ["--serve", "extra"], says: /extra/ },
  ];
  for (const { args, says } of refused)
    test(`refuses ${args.join(" ")}`, async () => {
      const { code, text, warned } = await run({ args });
      assert.deepEqual([code, text, warned.length], [2, "", 1]);
      assert.match(warned[0] ?? "", says);
    });

  test("prints its options with --help", async () => {
    const { code, text } = await run({ args: ["--help"] });
    assert.equal(code, 0);
    assert.match(text, /--serve/);
  });
});
