/** The event source mapping behaves as Lambda's: batches, partial answers, redelivery, order under kills. */

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { testCase } from "../../support/test-case.ts";
import { fatesOf } from "./fates.ts";
import { type Mapping, startMapping } from "./mapping.ts";
import type { Lambda } from "./pool.ts";
import { createQueues, depthOf, sendAll } from "./queues.ts";
import { type Case, must, type Scene, withToy } from "./scene.ts";

const mapped = async <T>(
  scene: Scene,
  queueUrl: string,
  lambda: Lambda,
  work: (mapping: Mapping) => Promise<T>,
): Promise<T> => {
  const { queue: client } = scene;
  const { concurrency } = lambda.definition;
  const mapping = startMapping({ client, queueUrl, lambda, batchSize: 10, concurrency, waitSeconds: 1 });
  try {
    return await work(mapping);
  } finally {
    await mapping.stop();
  }
};

const emptied = async (scene: Scene, url: string, timeoutMs: number): Promise<void> => {
  const until = performance.now() + timeoutMs;
  while ((await depthOf(scene.queue, url)) > 0) {
    if (performance.now() > until) throw new Error(`${await depthOf(scene.queue, url)} messages are left`);
    await sleep(100);
  }
};

/** The queue chooses which groups come first in a batch. */
const sorted = (line: string): string => JSON.stringify(z.array(z.string()).parse(JSON.parse(line)).sort());

const linesOf = async (file: string): Promise<readonly string[]> =>
  (await readFile(file, "utf8").catch(() => "")).split("\n").filter((line) => line !== "");

/** Message bodies of one batch → the batches that the function sees. */
const batches: readonly {
  readonly name: string;
  readonly messages: readonly object[];
  readonly seen: readonly string[];
}[] = [
  {
    name: "only what failed comes back",
    messages: [{ name: "a" }, { name: "b", fail: true }, { name: "c" }],
    seen: ['["a","b","c"]', '["b"]'],
  },
  {
    name: "an answer that names a stranger fails the whole batch",
    messages: [{ name: "a" }, { name: "b", answer: { batchItemFailures: [{ itemIdentifier: "x" }] } }],
    seen: ['["a","b"]', '["a","b"]'],
  },
  {
    name: "an answer that is none fails the whole batch",
    messages: [{ name: "a", answer: "thanks" }, { name: "b" }],
    seen: ['["a","b"]', '["a","b"]'],
  },
  {
    name: "an empty answer is success",
    messages: [{ name: "a", answer: null }, { name: "b" }],
    seen: ['["a","b"]'],
  },
];

const redelivered: Case = testCase(
  "batches of mixed groups: what is done is deleted, the rest comes back when its time is over",
  async (scene) => {
    const lines: string[] = [];
    for (const [index, { name, messages, seen }] of batches.entries()) {
      const settings = { visibilitySeconds: 1, maxReceiveCount: 10 };
      const { fifo } = await createQueues(scene.queue, `batch-${index}`, settings);
      const entries = messages.map((message, at) => ({
        MessageBody: JSON.stringify(message),
        MessageGroupId: `group-${at}`,
        MessageDeduplicationId: `${index}-${at}`,
      }));
      await sendAll(scene.queue, fifo, entries);
      await withToy(scene, {}, ({ lambda, dir }) =>
        mapped(scene, fifo, lambda, async () => {
          await emptied(scene, fifo, 15_000);
          const got = (await linesOf(join(dir, "delivered"))).map(sorted);
          must(JSON.stringify(got) === JSON.stringify(seen), `${name}: the function saw ${got.join(" ")}`);
          lines.push(name);
        }),
      );
    }
    return lines;
  },
);

const groups = 40;
const numbers = 10;

const sendNumbered = async (scene: Scene, fifo: string): Promise<void> => {
  const entries = Array.from({ length: numbers }, (_, number) =>
    Array.from({ length: groups }, (_, group) => ({
      MessageBody: JSON.stringify({ group: `g${group}`, number: number + 1 }),
      MessageGroupId: `g${group}`,
      MessageDeduplicationId: `g${group}-${number + 1}`,
    })),
  ).flat();
  await sendAll(scene.queue, fifo, entries);
};

/**
 * Sends 40 groups × 10 messages, with kills and failures: every message takes effect once, in the order of its group.
 */
const ordered: Case = testCase(
  `${groups * numbers} messages in ${groups} groups under kills: all applied, in order`,
  async (scene) => {
    const settings = { visibilitySeconds: 2, maxReceiveCount: 100 };
    const { fifo, dead } = await createQueues(scene.queue, "ordered", settings);
    await sendNumbered(scene, fifo);
    const fates = fatesOf({ random: scene.random, kill: 0.3, stall: 0.02, stallMs: [2_500, 4_000] });
    return await withToy(scene, { fates, concurrency: 4, timeoutMs: 10_000 }, ({ lambda, ledger, dir }) =>
      mapped(scene, fifo, lambda, async () => {
        const began = performance.now();
        await emptied(scene, fifo, 120_000);
        const seconds = (performance.now() - began) / 1_000;
        const effects = (await readdir(dir)).filter((file) => file.startsWith("effect-")).length;
        must(effects === groups * numbers, `${effects} of ${groups * numbers} messages had their effect`);
        must((await linesOf(join(dir, "disorder"))).length === 0, "a group went backwards or jumped");
        must((await depthOf(scene.queue, dead)) === 0, "messages ended in the dead-letter queue");
        must(ledger.kills.length > 0, "nothing was killed");
        const repeated = (await linesOf(join(dir, "repeated"))).length;
        const starts = ledger.entries.filter((entry) => entry.initMs !== undefined).length;
        return [
          `${seconds.toFixed(1)} s, ${ledger.entries.length} invocations, ${starts} starts, ${ledger.kills.length} kills, ${ledger.stalls.length} stalls`,
          `${repeated} effects were tried a second time and made nothing new`,
        ];
      }),
    );
  },
);

export const deliveries: readonly Case[] = [redelivered, ordered];
