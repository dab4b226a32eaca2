/** The built functions as separate processes, and the built host: an application runs to its end through the queue. */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { SQSClient } from "@aws-sdk/client-sqs";
import { request } from "../../../shared/adapters/kubernetes/requests.ts";
import { isRecord } from "../../../shared/core/json.ts";
import { type Served, serveSimulator } from "../../../shared/simulator/http/serve.ts";
import { openSimulator, type Simulator } from "../../../shared/simulator/open.ts";
import { builtFor } from "../../support/build.ts";
import { crds } from "../../support/crds.ts";
import { testCase } from "../../support/test-case.ts";
import { createQueues, depthOf } from "../lambda/queues.ts";
import type { Progress } from "./nats.ts";

const root = join(import.meta.dirname, "..", "..", "..");
const home = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/default/sparkapplications";
/** `wake` is no process of its own where the queue holds timers itself. */
const functionsOf = (hasTimers: boolean): readonly string[] =>
  hasTimers ? ["forward", "reconcile", "resync"] : ["forward", "reconcile", "wake", "resync"];
const limitMs = 60_000;

const until = async (what: string, isSo: () => Promise<boolean>): Promise<void> => {
  const late = Date.now() + limitMs;
  while (!(await isSo())) {
    if (Date.now() > late) throw new Error(`${limitMs / 1_000} s passed, and still not: ${what}`);
    await sleep(200);
  }
};

const application = {
  apiVersion: "sparkoperator.k8s.io/v1beta2",
  kind: "SparkApplication",
  metadata: { name: "pi", namespace: "default" },
  spec: {
    type: "Scala",
    sparkVersion: "4.1.1",
    image: "example/spark:4.1.1",
    mainClass: "org.apache.spark.examples.SparkPi",
    mainApplicationFile: "local:///opt/spark/examples/jars/spark-examples.jar",
    restartPolicy: { type: "OnFailure", onFailureRetries: 2, onFailureRetryInterval: 2 },
    driver: { serviceAccount: "spark" },
    executor: { instances: 2 },
  },
};

const statusIn = (answer: unknown): { state: unknown; attempts: unknown } => {
  const status = isRecord(answer) ? answer["status"] : undefined;
  const application = isRecord(status) ? status["applicationState"] : undefined;
  return {
    state: isRecord(application) ? application["state"] : undefined,
    attempts: isRecord(status) ? status["executionAttempts"] : undefined,
  };
};

const ended = (child: ChildProcess): Promise<number | null> =>
  child.exitCode !== null ? Promise.resolve(child.exitCode) : new Promise((resolve) => child.once("exit", resolve));

type FunctionProcesses = { readonly children: readonly ChildProcess[]; readonly lines: string[] };

const startAll = (
  functions: readonly string[],
  env: Record<string, string>,
  args: readonly string[] = [],
): FunctionProcesses => {
  const lines: string[] = [];
  const children = functions.map((name) => {
    const child = spawn(process.execPath, [join(root, "dist", `${name}.mjs`), ...args], {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => lines.push(`${name}: ${chunk.toString().trim()}`));
    return child;
  });
  return { children, lines };
};

/** Returns the lines of one function with this trace id. */
const linesOf = (lines: readonly string[], name: string, id: string): readonly string[] =>
  lines
    .flatMap((text) =>
      text.split("\n").map((line) => (text.startsWith(`${name}: `) ? line.replace(`${name}: `, "") : "")),
    )
    .filter((line) => line.includes(`"trace":"${id}"`));

/** The lines that the trace of an event has, from the watch through a step to the timer that the step sends. */
const followed = [
  ["forward", "sent"],
  ["reconcile", "step"],
  ["reconcile", "sent"],
] as const;

const isWhole = (lines: readonly string[], id: string): boolean =>
  followed.every(([name, message]) => linesOf(lines, name, id).some((line) => line.includes(`"message":"${message}"`)));

/**
 * Follows an event of the watch by its trace id. The sender also sends what a resync has asked for, which no watch has
 * seen, so one of its traces must be whole.
 */
const follow = (lines: readonly string[], sender: string): void => {
  const ids = lines
    .flatMap((text) => (text.startsWith(`${sender}: `) ? text.replace(`${sender}: `, "").split("\n") : []))
    .filter((line) => line.includes('"message":"sent"') && line.includes("SparkApplication/default/pi"))
    .flatMap((line) => /"trace":"([0-9a-f]{32})"/.exec(line)?.[1] ?? []);
  assert.ok(ids.length > 0, `${sender} sent nothing on:\n${lines.join("\n")}`);
  assert.ok(
    ids.some((id) => isWhole(lines, id)),
    `no trace of ${ids.join(", ")} has the lines of ${followed.map((pair) => pair.join(" ")).join(", ")}:\n${lines.join("\n")}`,
  );
};

/**
 * The application runs, fails once by a killed driver, runs again and completes; then the processes stop on a signal.
 */
const story = async (
  simulator: Simulator,
  { children, lines }: FunctionProcesses,
  quiet: () => Promise<boolean>,
  check: (lines: readonly string[]) => void,
): Promise<void> => {
  const { transport } = simulator;
  const status = async () => statusIn(await request(transport, "GET", `${home}/pi`));
  await request(transport, "POST", home, application);
  await until("RUNNING", async () => (await status()).state === "RUNNING");
  simulator.killPod("default", "pi-driver", { code: 1 });
  await until("RUNNING again", async () => {
    const { state, attempts } = await status();
    return state === "RUNNING" && attempts === 2;
  });
  await until("COMPLETED", async () => (await status()).state === "COMPLETED");
  await until("queues are empty", quiet);
  check(lines);
  for (const child of children) child.kill("SIGTERM");
  assert.deepEqual(
    await Promise.all(children.map(ended)),
    children.map(() => 0),
    lines.join("\n"),
  );
};

/** Runs the story on a simulator behind HTTP, with the processes that `start` starts on it. */
const onSimulator = async (
  start: (served: Served) => FunctionProcesses,
  quiet: () => Promise<boolean>,
  check: (lines: readonly string[]) => void,
): Promise<void> => {
  await builtFor("dist");
  const simulator = openSimulator({
    start: Date.now(),
    crds,
    scripts: { "*": [{ jobMs: 3_000 }] },
  });
  await request(simulator.transport, "POST", "/api/v1/namespaces", { metadata: { name: "rekindle" } });
  await request(simulator.transport, "POST", "/api/v1/namespaces/default/serviceaccounts", {
    metadata: { name: "spark" },
  });
  const served = await serveSimulator(simulator);
  const processes = start(served);
  try {
    await story(simulator, processes, quiet, check);
  } catch (cause) {
    throw new Error(`${String(cause)}\n${processes.lines.join("\n")}`, { cause });
  } finally {
    for (const child of processes.children) child.kill("SIGKILL");
    await served.close();
  }
};

type Queues = {
  readonly env: Record<string, string>;
  readonly hasTimers: boolean;
  readonly quiet: () => Promise<boolean>;
};

const asFunctions = ({ env, hasTimers, quiet }: Queues): Promise<void> =>
  onSimulator(
    ({ url }) => startAll(functionsOf(hasTimers), { ...env, REKINDLE_CLUSTER_RECORD: JSON.stringify({ server: url }) }),
    quiet,
    (lines) => follow(lines, hasTimers ? "reconcile" : "wake"),
  );

export const processes = testCase(
  "forward, reconcile, wake and resync as processes run an application to its end, told under one id by all of them, and stop when told",
  async (client: SQSClient, endpoint: string): Promise<void> => {
    const queues = await createQueues(client, "processes", { visibilitySeconds: 5, maxReceiveCount: 5 });
    await asFunctions({
      env: {
        AWS_ENDPOINT_URL_SQS: endpoint,
        REKINDLE_FIFO_URL: queues.fifo,
        REKINDLE_DELAY_URL: queues.delay,
      },
      hasTimers: false,
      quiet: async () => (await depthOf(client, queues.fifo)) === 0,
    });
  },
);

type ProgressOf = (queue: string) => Promise<Progress>;

export const natsProcesses = testCase(
  "forward, reconcile and resync as processes run an application to its end, told under one id by all of them, and stop when told",
  (url: string, progressOf: ProgressOf): Promise<void> =>
    asFunctions({
      env: { REKINDLE_NATS_URL: url },
      hasTimers: true,
      quiet: async () => (await progressOf("rekindle-keys")).lag === 0,
    }),
);

export const natsHost = testCase(
  "a host whose queue is there runs an application to its end, and stops when told",
  async (url: string, progressOf: ProgressOf): Promise<void> => {
    const dir = mkdtempSync(join(tmpdir(), "rekindle-host-"));
    const kubeconfig = join(dir, "kubeconfig");
    try {
      await onSimulator(
        (served) => {
          writeFileSync(kubeconfig, served.kubeconfig);
          return startAll(["cli"], { REKINDLE_QUEUE: "nats", REKINDLE_NATS_URL: url, REKINDLE_NATS_PREFIX: "host" }, [
            "host",
            "--kubeconfig",
            kubeconfig,
            "--listen",
            "127.0.0.1:0",
          ]);
        },
        async () => {
          const { lag, given } = await progressOf("host-keys");
          return lag === 0 && given > 0;
        },
        (lines) => assert.doesNotMatch(lines.join("\n"), /"level":"?(error|50)/),
      );
    } finally {
      rmSync(dir, { recursive: true });
    }
  },
);
