/** `npm run queue`: the queue's suite, run with Rekindle's SQS adapter against a third-party SQS server. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { SQSClient } from "@aws-sdk/client-sqs";
import { conclude, proving, tallyOf } from "../../../infra/tally.ts";
import { credentials, openClient, region } from "../lambda/queues.ts";
import { ensure } from "../setup/ensure.ts";
import { startElasticMq } from "./elasticmq.ts";
import { processes } from "./processes.ts";
import { openCounter } from "./sqs.ts";
import { type Behaviour, behaviours, refusals } from "./suite.ts";
import { updates } from "./updates.ts";

const help = `npm run queue [-- [--name TEXT] [--json FILE]]

  --name TEXT  only behaviours whose name contains it
  --json FILE  the outcome as data

Starts ElasticMQ on 127.0.0.1 and runs every behaviour on queues of its own, four at a time, in real time.`;

type Result = { readonly name: string; readonly ok: boolean; readonly ms: number; readonly message?: string };

const atOnce = 4;

const attempt = async (endpoint: string, name: string, run: (client: SQSClient) => Promise<void>): Promise<Result> => {
  const client = openClient(endpoint);
  const began = performance.now();
  const ended = (more: { ok: boolean; message?: string }): Result => {
    const ms = Math.round(performance.now() - began);
    console.log(`${more.ok ? "✓" : "✗"} ${name.padEnd(88)} ${(ms / 1_000).toFixed(1).padStart(5)} s`);
    if (more.message !== undefined) console.log(more.message);
    return { name, ms, ...more };
  };
  try {
    await run(client);
    return ended({ ok: true });
  } catch (cause) {
    return ended({ ok: false, message: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause) });
  } finally {
    client.destroy();
  }
};

/** The processes load the whole machine, so they run after the behaviours. */
const attemptProcesses = async (endpoint: string): Promise<Result> =>
  attempt(endpoint, processes.name, (client) => processes.run(client, endpoint));

const runAll = async (endpoint: string, chosen: readonly Behaviour[]): Promise<Result[]> => {
  const results: Result[] = [];
  const left = [...chosen.entries()];
  const worker = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [serial, { name, run }] = next;
      const open = async (client: SQSClient): Promise<void> => run(await openCounter(client, `suite-${serial}`));
      results.push(await attempt(endpoint, name, open));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
};

/** Runs the tests of status updates, each on its own queue. */
const attemptUpdates = async (endpoint: string, chosen: typeof updates): Promise<Result[]> => {
  const results: Result[] = [];
  for (const [serial, { name, run }] of chosen.entries())
    results.push(await attempt(endpoint, name, (client) => run(client, `updates-${serial}`)));
  return results;
};

const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: { help: { type: "boolean", short: "h" }, name: { type: "string" }, json: { type: "string" } },
  });
  if (values.help === true) return console.log(help);
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
    const isChosen = ({ name }: { readonly name: string }): boolean => name.includes(values.name ?? "");
    const results = await runAll(server.endpoint, [...behaviours, ...refusals].filter(isChosen));
    results.push(...(await attemptUpdates(server.endpoint, updates.filter(isChosen))));
    if (isChosen(processes)) results.push(await attemptProcesses(server.endpoint));
    conclude(
      tallyOf(results),
      values.json === undefined ? undefined : { file: values.json, details: { startMs, results } },
    );
  } finally {
    await server.stop();
    await rm(dir, { recursive: true, force: true });
  }
};

await proving(main);
