/**
 * Further behaviours of the dispatcher: functions as processes that are killed, away, or that refuse. Whatever happens
 * to them, no message is lost, and only a delivery that somebody has begun counts.
 */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { openAgents, openCall, takingBy } from "../../../shared/adapters/dispatch/call.ts";
import { openQueue } from "../../../shared/adapters/embedded/queue.ts";
import { startWorkers } from "../../../shared/adapters/embedded/workers.ts";
import { recordsOf } from "../../../shared/adapters/lambda.ts";
import { freePort } from "../../support/port.ts";
import { testCase } from "../../support/test-case.ts";
import { messageOf } from "./counter.ts";

const script = new URL("receiver.ts", import.meta.url).pathname;

/** A batch as a function's process saw it: reason and number of deliveries of each message, and when. */
type Seen = { readonly text: string; readonly at: number };

type Stage = {
  readonly seen: Seen[];
  readonly send: (name: string, reason: string) => Promise<void>;
  /** Starts a process of the function that reacts like this. */
  readonly start: (...mode: readonly string[]) => Promise<ChildProcess>;
  readonly kill: (child: ChildProcess) => Promise<void>;
  readonly until: (what: string, is: () => boolean) => Promise<void>;
};

const textOf = (line: string): string =>
  recordsOf(JSON.parse(line))
    .map(({ body, received }) => `${String(JSON.parse(body).reason)}×${received}`)
    .join(" ");

/** Opens a dispatcher of a function that is not running yet. */
const onStage = async (run: (stage: Stage) => Promise<void>): Promise<void> => {
  const port = await freePort();
  const now = (): number => performance.now();
  const queue = openQueue({ now, visibilityMs: 60_000, mostMessages: 10, maxReceives: 5 });
  const agents = await openAgents({}, 8);
  const url = `http://127.0.0.1:${port}/`;
  const call = openCall({ url, limitMs: 30_000, leastAgainMs: 1_000, prove: undefined, agents, now: Date.now });
  const take = takingBy({ call, put: async () => {}, report: () => {}, now, random: () => 0 });
  const workers = startWorkers({ queue, take, parallel: 4, againMs: 1_000, now });
  const seen: Seen[] = [];
  const children = new Set<ChildProcess>();
  const start: Stage["start"] = async (...mode) => {
    const child = spawn(process.execPath, [script, String(port), ...mode], { stdio: ["ignore", "pipe", "inherit"] });
    children.add(child);
    let rest = "";
    const listening = new Promise<void>((resolve) => {
      child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
        const lines = `${rest}${chunk}`.split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines)
          if (line === "listening") resolve();
          else seen.push({ text: textOf(line), at: now() });
      });
    });
    await listening;
    return child;
  };
  const kill: Stage["kill"] = async (child) => {
    children.delete(child);
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  };
  const until: Stage["until"] = async (what, is) => {
    for (const end = now() + 20_000; !is(); ) {
      if (now() > end) throw new Error(`${what}: not within 20 s; seen: ${seen.map(({ text }) => text).join(", ")}`);
      await sleep(10);
    }
  };
  const send: Stage["send"] = (name, reason) => queue.send(messageOf(name, reason), `${name}${reason}`);
  try {
    await run({ seen, send, start, kill, until });
  } finally {
    await workers.stop(0);
    for (const child of children) await kill(child);
    agents.close();
  }
};

type Case = { readonly name: string; readonly run: () => Promise<void> };

const texts = (seen: readonly Seen[]): string => seen.map(({ text }) => text).join(", ");

export const processCases: readonly Case[] = [
  testCase("what a killed function had in hand comes again, counted, and what came meanwhile after it", () =>
    onStage(async ({ seen, send, start, kill, until }) => {
      const first = await start("never");
      await send("a", "1");
      await until("the first call", () => seen.length === 1);
      await send("a", "2");
      await kill(first);
      await start("done");
      await until("the next call", () => seen.length === 2);
      assert.equal(texts(seen), "1×1, 1×2 2×1");
    }),
  ),
  testCase("a function that is away loses nothing, is asked with growing waits, and no attempt counts", () =>
    onStage(async ({ seen, send, start, until }) => {
      for (const name of ["a", "b", "c"]) await send(name, "1");
      await sleep(4_000);
      await start("done");
      await until("all calls", () => seen.length === 3);
      assert.equal(texts(seen), "1×1, 1×1, 1×1");
    }),
  ),
  testCase("429 with Retry-After closes the URL for every key for that time, and no attempt counts", () =>
    onStage(async ({ seen, send, start, until }) => {
      await start("429", "3");
      await send("a", "1");
      await until("the refused call", () => seen.length === 1);
      await sleep(200);
      await send("b", "1");
      await until("both calls", () => seen.length === 3);
      assert.equal(texts(seen), "1×1, 1×1, 1×1");
      const waited = (seen[1]?.at ?? 0) - (seen[0]?.at ?? 0);
      assert.ok(waited >= 2_900, `called again after ${waited} ms`);
    }),
  ),
  testCase("503 without Retry-After counts, and holds up no other key", () =>
    onStage(async ({ seen, send, start, until }) => {
      await start("503");
      await send("a", "1");
      await until("the failed call", () => seen.length === 1);
      await send("b", "1");
      await until("both keys", () => seen.length === 3);
      assert.equal(texts(seen), "1×1, 1×1, 1×2");
    }),
  ),
];
