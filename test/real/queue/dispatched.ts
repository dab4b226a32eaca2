/**
 * The dispatcher behind the suite's counter: the embedded queue, its workers, and calls that the test holds and
 * answers. The calls go to a real HTTP server, or to the test itself under a clock that it turns.
 */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type Call, openAgents, openCall, takingBy } from "../../../shared/adapters/dispatch/call.ts";
import { type EmbeddedQueue, openQueue } from "../../../shared/adapters/embedded/queue.ts";
import { startWorkers } from "../../../shared/adapters/embedded/workers.ts";
import { type BatchRecord, recordsOf } from "../../../shared/adapters/lambda.ts";
import type { Message } from "../../../shared/core/key.ts";
import { readMessage } from "../../../shared/engine/message.ts";
import { type Counter, type Handed, maxReceives, visibilityMs } from "./counter.ts";

/** One call that waits for its answer. */
type Held = {
  readonly messages: readonly Message[];
  readonly received: readonly number[];
  /** `failed`: positions of the messages that must come again after `againMs`. */
  readonly answer: (failed: readonly number[], againMs: number) => void;
};

type Verdict = "done" | { readonly againMs: number };
type Token = { readonly held: Held; readonly at: number; readonly verdicts: Map<number, Verdict> };

const isToken = (token: unknown): token is Token => typeof token === "object" && token !== null && "held" in token;

const tokens = (handed: readonly Handed[]): readonly Token[] => handed.map(({ token }) => token).filter(isToken);

/** Answers each call of which every message has its verdict. */
const judge = (handed: readonly Handed[], verdict: Verdict): void => {
  for (const { held, at, verdicts } of tokens(handed)) {
    verdicts.set(at, verdict);
    if (verdicts.size < held.messages.length) continue;
    const failed = [...verdicts].flatMap(([position, one]) => (one === "done" ? [] : [{ position, ...one }]));
    held.answer(
      failed.map(({ position }) => position),
      Math.max(0, ...failed.map(({ againMs }) => againMs)),
    );
  }
};

const handedOf = (held: Held): readonly Handed[] => {
  const verdicts = new Map<number, Verdict>();
  return held.messages.map((message, at) => ({
    message,
    received: held.received[at] ?? 0,
    token: { held, at, verdicts },
  }));
};

type Opening = {
  readonly call: Call;
  readonly pending: Held[];
  readonly now: () => number;
  readonly pass: (ms: number) => Promise<void>;
  /** Waits until calls and answers that are under way have arrived. */
  readonly settle: () => Promise<void>;
};

export type Dispatched = Counter & { readonly stop: () => Promise<void> };

/** The queue whose deliveries go out while the gate is open: a counter receives when it is asked. */
const gated = (queue: EmbeddedQueue) => {
  const pumps: (() => void)[] = [];
  let open = false;
  return {
    queue: {
      ...queue,
      receive: (...asked: Parameters<EmbeddedQueue["receive"]>) => (open ? queue.receive(...asked) : []),
      onReady: (listener: () => void) => {
        pumps.push(listener);
        queue.onReady(listener);
      },
    },
    turn: (is: boolean): void => {
      open = is;
      if (is) for (const pump of pumps) pump();
    },
  };
};

const openOver = ({ call, pending, now, pass, settle }: Opening): Dispatched => {
  const dead: string[] = [];
  const bury = ({ reason }: Message): void => void dead.push(reason);
  // The call's own time limit ends a delivery; the queue's is the longer one.
  const queue = openQueue({ now, visibilityMs: visibilityMs + 200, maxReceives, mostMessages: 10, bury });
  const gate = gated(queue);
  const put = async (): Promise<void> => {};
  const take = takingBy({ call, put, report: () => {}, now, random: () => 0 });
  const workers = startWorkers({ queue: gate.queue, take, parallel: 10, againMs: 1_000, now });
  const taken = (): readonly Handed[] => pending.splice(0).flatMap(handedOf);
  const receive = async (): Promise<readonly Handed[]> => {
    gate.turn(true);
    await settle();
    gate.turn(false);
    return taken();
  };
  return {
    send: queue.send,
    sendLater: queue.sendLater,
    receive,
    poll: async (waitMs) => {
      gate.turn(true);
      for (const until = performance.now() + waitMs; pending.length === 0 && performance.now() < until; )
        await sleep(5);
      gate.turn(false);
      return taken();
    },
    acknowledge: async (handed) => {
      judge(handed, "done");
      await settle();
    },
    giveBack: async (handed, againMs) => {
      judge(handed, { againMs });
      await settle();
    },
    pass,
    dead: async () => dead,
    stop: () => workers.stop(0),
  };
};

const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** Opens the dispatcher under a clock that the counter turns; its calls end in the test. */
export const openTurned = (): Dispatched => {
  const time = { now: 1_000_000 };
  const pending: Held[] = [];
  const limits = new Set<{ readonly at: number; readonly end: () => void }>();
  const call: Call = ({ messages, received }) =>
    new Promise((resolve) => {
      limits.add({
        at: time.now + visibilityMs,
        end: () => resolve({ did: "broke", why: "no answer in time", againMs: 0 }),
      });
      const answer: Held["answer"] = (failed, againMs) =>
        resolve({ did: "answered", failed, carried: [], ...(failed.length > 0 ? { againMs } : {}) });
      pending.push({ messages, received, answer });
    });
  const pass = async (ms: number): Promise<void> => {
    time.now += ms;
    for (const limit of limits) {
      if (limit.at > time.now) continue;
      limits.delete(limit);
      limit.end();
    }
    await settled();
  };
  return openOver({ call, pending, now: () => time.now, pass, settle: settled });
};

const messageIn = ({ body }: BatchRecord): Message => {
  const message = readMessage(body);
  if (message === undefined) throw new Error(`not a message of ours: ${body.slice(0, 200)}`);
  return message;
};

const heldOf = (body: string, response: ServerResponse): Held => {
  const records = recordsOf(JSON.parse(body));
  return {
    messages: records.map(messageIn),
    received: records.map(({ received }) => received),
    answer: (failed, againMs) => {
      const batchItemFailures = failed.map((at) => ({ itemIdentifier: records[at]?.id }));
      const again = failed.length === 0 ? {} : { "retry-after": String(Math.ceil(againMs / 1_000)) };
      response.writeHead(200, { "content-type": "application/json", ...again });
      response.end(JSON.stringify({ batchItemFailures }));
    },
  };
};

/** Time in which the workers begin a call, ms; and the longest that a call or an answer is under way. */
const beginMs = 50;
const arriveMs = 5_000;

/** Opens the dispatcher whose calls go to an HTTP server on 127.0.0.1, in real time. */
export const openDispatched = async (): Promise<Dispatched> => {
  const pending: Held[] = [];
  const open = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    let body = "";
    open.add(response);
    response.once("close", () => open.delete(response));
    request.setEncoding("utf8").on("data", (text: string) => {
      body += text;
    });
    request.on("end", () => void pending.push(heldOf(body, response)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  const agents = await openAgents({}, 32);
  const url = `http://127.0.0.1:${address.port}/`;
  const reach = openCall({ url, limitMs: visibilityMs, leastAgainMs: 0, prove: undefined, agents, now: Date.now });
  let calls = 0;
  const call: Call = (delivery) => {
    calls += 1;
    return reach(delivery).finally(() => {
      calls -= 1;
    });
  };
  /** Waits until each call has arrived, and until the dispatcher has each answer. */
  const settle = async (): Promise<void> => {
    await sleep(beginMs);
    for (const until = performance.now() + arriveMs; calls !== open.size && performance.now() < until; ) await sleep(5);
    await sleep(beginMs);
  };
  const pass = async (ms: number): Promise<void> => void (await sleep(ms));
  const opened = openOver({ call, pending, now: () => performance.now(), pass, settle });
  return {
    ...opened,
    stop: async () => {
      await opened.stop();
      agents.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
