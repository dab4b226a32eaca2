/**
 * Further behaviours of the queue on NATS: its server and its workers are killed, senders outrun it, and it refuses.
 * Each case has a server of its own.
 */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { nkeys } from "@nats-io/transport-node";
import { openNats } from "../../../shared/adapters/nats/connection.ts";
import { openNatsQueues } from "../../../shared/adapters/nats/receiver.ts";
import { namesOf, natsQueue, opening } from "../../../shared/adapters/nats/streams.ts";
import type { Received } from "../../../shared/adapters/poller.ts";
import { readMessage } from "../../../shared/engine/message.ts";
import { testCase } from "../../support/test-case.ts";
import { type Counter, messageOf, sendAll, shown, visibilityMs } from "./counter.ts";
import { openNatsCounter, openNatsWorker } from "./nats.ts";
import { type NatsServer, ofOverlay, plain, startNats, without } from "./nats-server.ts";

type Case = { readonly name: string; readonly run: () => Promise<void> };

const onServer = async (
  run: (server: NatsServer) => Promise<void>,
  opening: Omit<Parameters<typeof startNats>[0], "dir"> = {},
): Promise<void> => {
  const dir = await mkdtemp(join(tmpdir(), "rekindle-nats-"));
  const server = await startNats({ dir, ...opening });
  try {
    await run(server);
  } finally {
    await server.stop();
    await rm(dir, { recursive: true, force: true });
  }
};

const until = async (what: string, is: () => boolean, ms = 30_000): Promise<void> => {
  for (const end = performance.now() + ms; !is(); await sleep(20))
    if (performance.now() > end) throw new Error(`${what}: not within ${ms / 1_000} s`);
};

const script = new URL("nats-worker.ts", import.meta.url).pathname;

/** The visibility timeout of workers that are killed: longer than a busy machine pauses a process. */
const workerLockMs = 6_000;

/** A step of a worker; `from` and `to` are of the machine's monotonic clock, ns, which all processes share. */
type Step = { readonly group: string; readonly from: bigint; to: bigint | undefined };

/** The steps of all workers. Their lines arrive in any order, so steps are compared by the times in the lines. */
type Log = { readonly steps: Step[]; readonly ended: string[] };

const openLog = (): Log => ({ steps: [], ended: [] });

const note = (log: Log, own: Map<string, Step>, line: string): void => {
  const [what = "", group = "", reasons = "", at = ""] = line.split(" ");
  if (what === "begin") {
    const step: Step = { group, from: BigInt(at), to: undefined };
    log.steps.push(step);
    own.set(group, step);
  }
  if (what === "end") {
    const step = own.get(group);
    if (step !== undefined) step.to = BigInt(at);
    own.delete(group);
    log.ended.push(...reasons.split(","));
  }
};

/** Returns the steps of a key that began before another step of it had ended. */
const overlapsIn = ({ steps }: Log): readonly string[] =>
  [...Map.groupBy(steps, ({ group }) => group).values()].flatMap((all) => {
    const inTurn = all.toSorted((a, b) => (a.from < b.from ? -1 : 1));
    return inTurn.flatMap(({ group, from }, at) => {
      const before = inTurn[at - 1];
      if (before === undefined || (before.to !== undefined && before.to <= from)) return [];
      return [`${group}: from ${before.from} to ${before.to}, and from ${from}`];
    });
  });

/** Starts a worker as a process. A killed one ends its steps. */
const startWorker = async (url: string, queue: string, stepMs: number, log: Log): Promise<ChildProcess> => {
  const child = spawn(process.execPath, [script, url, queue, String(stepMs), String(workerLockMs)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const own = new Map<string, Step>();
  const { promise: ready, resolve } = Promise.withResolvers<void>();
  createInterface(child.stdout).on("line", (line) => {
    if (line === "ready") resolve();
    else note(log, own, line);
  });
  const { promise: gone, resolve: end } = Promise.withResolvers<bigint>();
  child.once("exit", () => end(process.hrtime.bigint()));
  // All lines of the process have arrived when its streams are closed.
  child.once("close", async () => {
    const at = await gone;
    for (const step of own.values()) step.to = at;
  });
  await ready;
  return child;
};

const killed = async (child: ChildProcess): Promise<void> => {
  const gone = new Promise((resolve) => child.once("close", resolve));
  child.kill("SIGKILL");
  await gone;
};

/** Sends messages to 40 keys; returns the reasons of those that the server has acknowledged. */
const sendMany = async (queue: Pick<Awaited<ReturnType<typeof openNatsWorker>>["queue"], "send">, count: number) => {
  const stored: string[] = [];
  await Promise.all(
    Array.from({ length: count }, async (_, at) => {
      await sleep(at * 5);
      await queue.send(messageOf(`k${at % 40}`, String(at)), `id ${at}`);
      stored.push(String(at));
    }),
  );
  return stored;
};

const reasonsOf = (received: readonly Received[]): readonly string[] =>
  received.map(({ body }) => readMessage(body)?.reason ?? "");

const refusedIn = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "it was taken",
    (cause: unknown) => (cause instanceof Error ? cause.message : String(cause)),
  );

/** Longer than a restart of the server takes on a busy machine. */
const restartMs = 30_000;

const restarted = async (server: NatsServer, counter: Counter): Promise<void> => {
  await sendAll(counter, "a1");
  const first = await counter.receive();
  assert.equal(shown(first), "a1");
  await server.kill();
  const sent = counter.send(messageOf("a", "2"), "a2");
  await server.start();
  await sent;
  assert.equal(shown(await counter.receive()), "");
  await counter.acknowledge(first);
  assert.equal(shown(await counter.receive()), "a2");
};

export const natsCases: readonly Case[] = [
  testCase(
    "a server that is killed forgets neither a message nor a lock, and takes the acknowledgement of before",
    () =>
      onServer(async (server) => {
        const counter = await openNatsCounter(server.url, "restarted", restartMs);
        try {
          await restarted(server, counter);
        } finally {
          await counter.close();
        }
      }),
  ),
  testCase(
    "workers and the server are killed: every message that was acknowledged to its sender is taken, no key twice at once",
    () =>
      onServer(async (server) => {
        const { nats, queue } = await openNatsWorker(server.url, "killed", { lockMs: workerLockMs });
        const log = openLog();
        const workers = [
          await startWorker(server.url, "killed", 15, log),
          await startWorker(server.url, "killed", 15, log),
        ];
        const sending = sendMany(queue, 600);
        for (const at of [0, 1, 0]) {
          await sleep(500);
          await server.kill();
          await server.start();
          await sleep(300);
          const victim = workers[at];
          if (victim !== undefined) await killed(victim);
          workers[at] = await startWorker(server.url, "killed", 15, log);
        }
        const stored = await sending;
        assert.equal(stored.length, 600);
        const taken = (): Set<string> => new Set(log.ended);
        await until(`all messages are taken (${taken().size})`, () => taken().size === 600);
        for (const worker of workers) await killed(worker);
        await nats.close();
        assert.deepEqual(overlapsIn(log), []);
      }),
  ),
  testCase("the depth counts messages that wait or are out, and timers apart from them", () =>
    onServer(async (server) => {
      const { steps, close } = openNatsQueues({
        address: { servers: [server.url], name: "suite" },
        prefix: "depth",
        report: () => {},
      });
      assert.deepEqual(await steps.depth(), { ready: 0, delayed: 0 });
      await sendAll(steps.queue, "a1 a2 b1");
      await steps.queue.sendLater(messageOf("c", "1"), "c1", 60_000);
      assert.deepEqual(await steps.depth(), { ready: 3, delayed: 1 });
      const receiver = steps.receiver(10);
      const handed = await receiver.receive(0);
      assert.deepEqual(await steps.depth(), { ready: 3, delayed: 1 });
      await receiver.acknowledge(handed);
      assert.deepEqual(await steps.depth(), { ready: 0, delayed: 1 });
      await receiver.close?.();
      await close();
    }),
  ),
  testCase("a step that takes longer than the visibility timeout keeps its key, up to the longest time of a step", () =>
    onServer(async (server) => {
      const long = await openNatsWorker(server.url, "long", { lockMs: 1_500, longestMs: 6_000 });
      const other = await openNatsWorker(server.url, "long", { lockMs: 1_500 });
      await sendAll(long.queue, "a1");
      const first = await long.receiver.receive(0);
      await sendAll(long.queue, "a2");
      assert.deepEqual(await other.receiver.receive(3_500), []);
      await long.receiver.acknowledge(first);
      const second = await other.receiver.receive(2_000);
      assert.deepEqual(reasonsOf(second), ["2"]);
      await other.receiver.acknowledge(second);
      await sendAll(long.queue, "b1");
      const hung = await long.receiver.receive(0);
      assert.deepEqual(reasonsOf(await other.receiver.receive(12_000)), ["1"]);
      // The result of the step that took too long is void.
      await long.receiver.acknowledge(hung);
      for (const { nats, receiver } of [long, other]) {
        await receiver.close?.();
        await nats.close();
      }
    }),
  ),
  testCase("4,000 sends that nobody waited for all arrive, at most 500 of them under way", () =>
    onServer(async (server) => {
      const { nats, names, queue } = await openNatsWorker(server.url, "many");
      await Promise.all(
        Array.from({ length: 4_000 }, (_, at) => queue.send(messageOf(`k${at}`, String(at)), `id ${at}`)),
      );
      const info = JSON.stringify(await nats.ask(`$JS.API.STREAM.INFO.${names.queue}`));
      assert.match(info, /"messages":4000\b/);
      await nats.close();
    }),
  ),
  testCase(
    "an nkey and a token prove a client; a wrong one is refused in one line that names the setting",
    async () => {
      const user = nkeys.createUser();
      const seed = new TextDecoder().decode(user.getSeed());
      const proofs = [
        { more: `authorization { users: [{ nkey: ${user.getPublicKey()} }] }`, text: seed },
        { more: 'authorization { token: "a token of the suite" }', text: "a token of the suite" },
      ];
      for (const { more, text } of proofs)
        await onServer(
          async (server) => {
            const { nats, queue } = await openNatsWorker(server.url, "proved", { credentials: async () => text });
            await sendAll(queue, "a1");
            await nats.close();
            const refused = await refusedIn(
              openNatsWorker(server.url, "proved", { credentials: async () => "another token" }),
            );
            assert.match(refused, /^NATS open proved: .*REKINDLE_NATS_CREDENTIALS$/);
          },
          { configuration: (place) => plain(place, more) },
        );
    },
  ),
  testCase("the rights in the overlay are enough for every request of a sender and a worker", async () => {
    const user = nkeys.createUser();
    const seed = new TextDecoder().decode(user.getSeed());
    await onServer(
      async (server) => {
        const { nats, queue, receiver } = await openNatsWorker(server.url, "rekindle-keys", {
          credentials: async () => seed,
        });
        await sendAll(queue, "a1 b1");
        await queue.sendLater(messageOf("c", "1"), "c1", 500);
        const first = await receiver.receive(0);
        assert.equal(first.length, 2);
        await receiver.acknowledge(first.slice(0, 1));
        await receiver.giveBack(first.slice(1), 1_000);
        await server.kill();
        await server.start();
        const seen: string[] = [];
        for (const until = performance.now() + 10_000; seen.length < 2 && performance.now() < until; ) {
          const more = await receiver.receive(1_000);
          seen.push(...more.map(({ body }) => readMessage(body)?.name ?? ""));
          await receiver.acknowledge(more);
        }
        assert.deepEqual(seen.toSorted(), ["b", "c"]);
        await receiver.close?.();
        await nats.close();
      },
      { configuration: ofOverlay, env: { REKINDLE_NATS_USER: user.getPublicKey() } },
    );
  }),
  testCase("a client without rights is told so in one line", () =>
    onServer(
      async (server) => {
        const refused = await refusedIn(openNatsWorker(server.url, "forbidden"));
        assert.match(refused, /^NATS open forbidden: no permission/);
      },
      {
        configuration: (place) =>
          plain(
            place,
            'no_auth_user: guest, authorization { users: [{ user: guest, password: guest, permissions: { publish: { deny: "$JS.API.>" } } }] }',
          ),
      },
    ),
  ),
  testCase("a server without JetStream is one line that says so", async () => {
    const dir = await mkdtemp(join(tmpdir(), "rekindle-nats-"));
    const server = await startNats({ dir, configuration: without });
    const nats = openNats({ servers: [server.url], name: "suite" });
    const names = namesOf("off");
    const queue = natsQueue({ nats, names, open: opening(nats, names, visibilityMs) });
    const refused = await refusedIn(sendAll(queue, "a1"));
    await nats.close();
    await server.stop();
    await rm(dir, { recursive: true, force: true });
    assert.match(refused, /^NATS open off: no such stream, or JetStream is off/);
  }),
];
