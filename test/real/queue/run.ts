/**
 * `npm run queue`: the queue's suite, run with Rekindle's SQS adapter against a third-party SQS server, with its NATS
 * adapter against NATS' server, and with the dispatcher against HTTP servers.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { SQSClient } from "@aws-sdk/client-sqs";
import { conclude, proving, tallyOf } from "../../../infra/tally.ts";
import { credentials, openClient, region } from "../lambda/queues.ts";
import { ensure } from "../setup/ensure.ts";
import type { Behaviour } from "./counter.ts";
import { openDispatched } from "./dispatched.ts";
import { startElasticMq } from "./elasticmq.ts";
import { processCases } from "./function-processes.ts";
import { openNatsCounter, progressOn } from "./nats.ts";
import { natsCases } from "./nats-cases.ts";
import { startNats } from "./nats-server.ts";
import { natsHost, natsProcesses, processes } from "./processes.ts";
import { openCounter } from "./sqs.ts";
import { behaviours, refusals } from "./suite.ts";
import { updates } from "./updates.ts";

const help = `npm run queue [-- [--of sqs|nats|dispatcher] [--name TEXT] [--json FILE]]

  --of QUEUE   only this queue; the dispatcher needs nothing but Node
  --name TEXT  only behaviours whose name contains it
  --json FILE  the outcome as data

Starts ElasticMQ on 127.0.0.1 and runs every behaviour on queues of its own, four at a time, in real time. The same
behaviours on NATS' server, and its own: workers and the server are killed. Then with the dispatcher, whose calls go to
HTTP servers on 127.0.0.1, and its own: functions as processes that are killed, away, or refuse.`;

type Result = { readonly name: string; readonly ok: boolean; readonly ms: number; readonly message?: string };

const atOnce = 4;

const queues: readonly string[] = ["sqs", "nats", "dispatcher"];

const measured = async (name: string, run: () => Promise<void>): Promise<Result> => {
  const began = performance.now();
  const ended = (more: { ok: boolean; message?: string }): Result => {
    const ms = Math.round(performance.now() - began);
    console.log(`${more.ok ? "✓" : "✗"} ${name.padEnd(88)} ${(ms / 1_000).toFixed(1).padStart(5)} s`);
    if (more.message !== undefined) console.log(more.message);
    return { name, ms, ...more };
  };
  try {
    await run();
    return ended({ ok: true });
  } catch (cause) {
    return ended({ ok: false, message: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause) });
  }
};

const attempt = async (endpoint: string, name: string, run: (client: SQSClient) => Promise<void>): Promise<Result> => {
  const client = openClient(endpoint);
  return await measured(name, () => run(client)).finally(() => client.destroy());
};

/** The processes load the whole machine, so they run after the behaviours. */
const attemptProcesses = async (endpoint: string): Promise<Result> =>
  attempt(endpoint, processes.name, (client) => processes.run(client, endpoint));

/** Runs so many at once. */
const eachOf = async <T>(all: readonly T[], run: (one: T, serial: number) => Promise<Result>): Promise<Result[]> => {
  const results: Result[] = [];
  const left = [...all.entries()];
  const worker = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) results.push(await run(next[1], next[0]));
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
};

const runAll = (endpoint: string, chosen: readonly Behaviour[]): Promise<Result[]> =>
  eachOf(chosen, ({ name, run }, serial) =>
    attempt(endpoint, `sqs: ${name}`, async (client) => run(await openCounter(client, `suite-${serial}`))),
  );

const throughDispatcher = async ({ run }: Behaviour): Promise<void> => {
  const counter = await openDispatched();
  await run(counter).finally(() => counter.stop());
};

/** Runs the suite with the dispatcher, and its own behaviours. */
const runDispatched = async (chosen: readonly Behaviour[], own: typeof processCases): Promise<Result[]> => [
  ...(await eachOf(chosen, (one) => measured(`dispatcher: ${one.name}`, () => throughDispatcher(one)))),
  ...(await eachOf(own, ({ name, run }) => measured(`dispatcher: ${name}`, run))),
];

type Chosen = (one: { readonly name: string }) => boolean;

/** Runs the suite on a server of NATS, and the behaviours that kill the server or its workers, each on one of its own. */
const onNats = async (isChosen: Chosen): Promise<Result[]> => {
  await ensure(["nats"]);
  const dir = await mkdtemp(join(tmpdir(), "rekindle-nats-"));
  const server = await startNats({ dir });
  try {
    const results = [
      ...(await eachOf(behaviours.filter(isChosen), ({ name, run }, serial) =>
        measured(`nats: ${name}`, async () => {
          const counter = await openNatsCounter(server.url, `suite-${serial}`);
          await run(counter).finally(() => counter.close());
        }),
      )),
      ...(await eachOf(natsCases.filter(isChosen), ({ name, run }) => measured(`nats: ${name}`, run))),
    ];
    // Each builds what it runs, so not both at once.
    for (const { name, run } of [natsProcesses, natsHost].filter(isChosen))
      results.push(await measured(`nats: ${name}`, () => run(server.url, progressOn(server.url))));
    return results;
  } finally {
    await server.stop();
    await rm(dir, { recursive: true, force: true });
  }
};

/** Runs the tests of status updates, each on its own queue. */
const attemptUpdates = async (endpoint: string, chosen: typeof updates): Promise<Result[]> => {
  const results: Result[] = [];
  for (const [serial, { name, run }] of chosen.entries())
    results.push(await attempt(endpoint, name, (client) => run(client, `updates-${serial}`)));
  return results;
};

/** Starts ElasticMQ, and runs everything that needs it. */
const onSqs = async (isChosen: Chosen): Promise<{ readonly startMs: number; readonly results: Result[] }> => {
  await ensure(["queue"]);
  const dir = await mkdtemp(join(tmpdir(), "rekindle-queue-"));
  const began = performance.now();
  const server = await startElasticMq({ dir });
  const startMs = Math.round(performance.now() - began);
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_SQS: server.endpoint,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  });
  try {
    const results = await runAll(server.endpoint, [...behaviours, ...refusals].filter(isChosen));
    results.push(...(await attemptUpdates(server.endpoint, updates.filter(isChosen))));
    if (isChosen(processes)) results.push(await attemptProcesses(server.endpoint));
    return { startMs, results };
  } finally {
    await server.stop();
    await rm(dir, { recursive: true, force: true });
  }
};

const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      help: { type: "boolean", short: "h" },
      of: { type: "string" },
      name: { type: "string" },
      json: { type: "string" },
    },
  });
  if (values.help === true) return console.log(help);
  const { of = "all" } = values;
  if (!queues.includes(of) && of !== "all") throw new Error(`--of takes ${queues.join(", ")}`);
  const isOf = (queue: string): boolean => of === "all" || of === queue;
  const isChosen: Chosen = ({ name }) => name.includes(values.name ?? "");
  const dispatched = isOf("dispatcher")
    ? await runDispatched(behaviours.filter(isChosen), processCases.filter(isChosen))
    : [];
  const onServer = isOf("nats") ? await onNats(isChosen) : [];
  const { startMs, results } = isOf("sqs") ? await onSqs(isChosen) : { startMs: 0, results: [] };
  const all = [...dispatched, ...onServer, ...results];
  conclude(
    tallyOf(all),
    values.json === undefined ? undefined : { file: values.json, details: { startMs, results: all } },
  );
};

await proving(main);
