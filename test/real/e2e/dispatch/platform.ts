/**
 * A platform that calls a function over HTTP as Knative does: the first request starts a process, and one without
 * requests for a while is stopped. In a storm its processes are killed before, during and after requests.
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, request as requestOf, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort, isOpen } from "../../../support/port.ts";
import type { OnDemand } from "../functions/fixture.ts";
import { startFunction } from "../installed.ts";
import { tallied } from "../lambda/cases.ts";

/** The moment of a request at which its process is killed. After it, the answer is lost with the process. */
export type Fate = { readonly when: "before" | "after" } | { readonly when: "middle"; readonly afterMs: number };

export type PlatformOptions = {
  readonly name: string;
  readonly log: string;
  /** The environment of a process that listens at this address. */
  readonly envOf: (listen: string) => Readonly<Record<string, string>>;
  readonly port: number;
  /** The fate of the next request; undefined: its process lives. */
  readonly fate: () => Fate | undefined;
  readonly idleMs: number;
};

export type Platform = OnDemand & {
  /** Requests that were answered with this status; 502: the process died. */
  readonly answers: readonly number[];
  readonly stop: () => Promise<void>;
};

type Instance = {
  readonly child: ChildProcess;
  readonly port: number;
  requests: number;
  timer: NodeJS.Timeout | undefined;
};

type Answer = { readonly status: number; readonly headers: IncomingMessage["headers"]; readonly body: Buffer };

/** Sends the request to the process; rejects when the process dies. */
const forwarded = ({ method, url, headers }: IncomingMessage, body: Buffer, port: number): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const sent = requestOf({ host: "127.0.0.1", port, method, path: url, headers, agent: false }, (incoming) => {
      const status = incoming.statusCode ?? 502;
      buffer(incoming).then((text) => resolve({ status, headers: incoming.headers, body: text }), reject);
    });
    sent.once("error", reject);
    sent.end(body);
  });

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

/** Opens the platform of one function at `port` of 127.0.0.1. */
export const openPlatform = async (options: PlatformOptions): Promise<Platform> => {
  const { name, log, envOf, port, fate, idleMs } = options;
  const kills: string[] = [];
  const answers: number[] = [];
  const counts = { started: 0, stopped: 0 };
  let current: Promise<Instance> | undefined;
  const living = new Set<ChildProcess>();

  const started = async (): Promise<Instance> => {
    const at = await freePort();
    const child = startFunction(name, envOf(`127.0.0.1:${at}`), log);
    counts.started += 1;
    living.add(child);
    child.once("exit", () => living.delete(child));
    for (const until = performance.now() + 20_000; !(await isOpen(at)); await sleep(15)) {
      if (hasEnded(child)) throw new Error(`${name} ended before it listened`);
      if (performance.now() > until) throw new Error(`${name} does not listen`);
    }
    return { child, port: at, requests: 0, timer: undefined };
  };

  const instance = async (): Promise<Instance> => {
    const known = await current?.catch(() => undefined);
    if (known !== undefined && !hasEnded(known.child)) return known;
    current = started();
    return await current;
  };
  /** One at a time: a second request waits for the process that the first one starts. */
  let turns: Promise<unknown> = Promise.resolve();
  const acquired = (): Promise<Instance> => {
    const next = turns.then(instance).then((one) => {
      one.requests += 1;
      clearTimeout(one.timer);
      return one;
    });
    turns = next.catch(() => {});
    return next;
  };

  const kill = ({ child }: Instance, when: Fate["when"]): void => {
    if (child.kill("SIGKILL")) kills.push(when);
    current = undefined;
  };
  const released = (one: Instance): void => {
    one.requests -= 1;
    if (one.requests > 0) return;
    one.timer = setTimeout(() => {
      if (one.requests > 0 || hasEnded(one.child)) return;
      counts.stopped += 1;
      current = undefined;
      one.child.kill("SIGTERM");
    }, idleMs);
  };

  const answered = async (incoming: IncomingMessage): Promise<Answer> => {
    const body = await buffer(incoming);
    const drawn = fate();
    let one = await acquired();
    if (drawn?.when === "before") {
      kill(one, "before");
      one = await acquired();
    }
    try {
      const timer = drawn?.when === "middle" ? setTimeout(() => kill(one, "middle"), drawn.afterMs) : undefined;
      try {
        const answer = await forwarded(incoming, body, one.port);
        if (drawn?.when !== "after") return answer;
        kill(one, "after");
        throw new Error("the answer is lost");
      } finally {
        clearTimeout(timer);
      }
    } finally {
      released(one);
    }
  };

  const server = createServer((incoming: IncomingMessage, outgoing: ServerResponse) => {
    answered(incoming).then(
      ({ status, headers, body }) => {
        answers.push(status);
        outgoing.writeHead(status, headers).end(body);
      },
      () => {
        answers.push(502);
        outgoing.writeHead(502).end();
      },
    );
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    kills,
    answers,
    counts: () => ({ ...counts, running: living.size }),
    taken: async () => `${answers.length} calls (${tallied(answers.map(String))})`,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      clearTimeout((await current?.catch(() => undefined))?.timer);
      for (const child of living) child.kill("SIGKILL");
    },
  };
};
