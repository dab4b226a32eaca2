/** The harness's own lane: shows that the small Lambda of test/lambda does what lanes and benchmarks take from it. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { conclude, proving, tallyOf } from "../../infra/tally.ts";
import { startElasticMq } from "../queue/elasticmq.ts";
import { ensure } from "../setup/ensure.ts";
import { runtimeClient } from "../setup/lambda.ts";
import { cases } from "./cases.ts";
import { deliveries } from "./delivery.ts";
import { openClient } from "./queues.ts";
import { randomFrom } from "./random.ts";
import type { Case, Scene } from "./scene.ts";

const help = `node infra/door.mjs test/lambda/run.ts [--case TEXT] [--seed N] [--json FILE]

  --case TEXT  only cases whose name contains it
  --seed N     kills and their moments; printed, so that a run can be repeated
  --json FILE  the outcome as data

Runs a toy function in environments of the real runtime client, behind a real SQS protocol (ElasticMQ, Java).`;

type Result = {
  readonly name: string;
  readonly ok: boolean;
  readonly seconds: number;
  readonly lines: readonly string[];
};

const attempt = async ({ name, run }: Case, scene: Scene): Promise<Result> => {
  const began = performance.now();
  const ended = (ok: boolean, lines: readonly string[]): Result => {
    const seconds = Math.round((performance.now() - began) / 100) / 10;
    console.log(`${ok ? "✔" : "✖"} ${name} (${seconds} s)`);
    for (const line of lines) console.log(`    ${line}`);
    return { name, ok, seconds, lines };
  };
  try {
    return ended(true, await run(scene));
  } catch (error) {
    return ended(false, [error instanceof Error ? error.message : String(error)]);
  }
};

const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      help: { type: "boolean", short: "h" },
      case: { type: "string" },
      seed: { type: "string" },
      json: { type: "string" },
    },
  });
  if (values.help === true) return console.log(help);
  await ensure(["lambda", "queue"]);
  const seed = Number(values.seed ?? Date.now() % 1_000_000);
  console.log(`seed ${seed}`);
  const dir = await mkdtemp(join(tmpdir(), "rekindle-lambda-"));
  const broker = await startElasticMq({ dir });
  const queue = openClient(broker.endpoint);
  const results: Result[] = [];
  try {
    const scene: Scene = { client: await runtimeClient(), dir, random: randomFrom(seed), queue };
    const chosen = [...cases, ...deliveries].filter(({ name }) => name.includes(values.case ?? ""));
    for (const one of chosen) results.push(await attempt(one, scene));
  } finally {
    queue.destroy();
    await broker.stop();
    await rm(dir, { recursive: true, force: true });
  }
  conclude(tallyOf(results), values.json === undefined ? undefined : { file: values.json, details: { seed, results } });
};

await proving(main);
