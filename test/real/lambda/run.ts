/**
 * The harness's own lane: proves the behaviour of the small Lambda in test/real/lambda on which lanes and benchmarks
 * rely.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { conclude, proving, tallyOf } from "../../../infra/tally.ts";
import { attempt, type Result } from "../../support/attempt.ts";
import { startElasticMq } from "../queue/elasticmq.ts";
import { ensure } from "../setup/ensure.ts";
import { runtimeClient } from "../setup/lambda.ts";
import { cases } from "./cases.ts";
import { deliveries } from "./delivery.ts";
import { openClient } from "./queues.ts";
import { randomFrom } from "./random.ts";
import type { Scene } from "./scene.ts";

const help = `node infra/door.mjs test/real/lambda/run.ts [--case TEXT] [--seed N] [--json FILE]

  --case TEXT  only cases whose name contains it
  --seed N     kills and their moments; printed, so that a run can be repeated
  --json FILE  the outcome as data

Runs a toy function in environments of the real runtime client, behind a real SQS protocol (ElasticMQ, Java).`;

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
    for (const one of chosen) results.push(await attempt(one.name, () => one.run(scene)));
  } finally {
    queue.destroy();
    await broker.stop();
    await rm(dir, { recursive: true, force: true });
  }
  conclude(tallyOf(results), values.json === undefined ? undefined : { file: values.json, details: { seed, results } });
};

await proving(main);
