/**
 * Functions behind a dispatcher, as one program: the dispatcher always runs; the process of a function starts with its
 * first call, and is stopped after three seconds without one, as on a platform that scales to zero.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort, isOpen } from "../../../support/port.ts";
import { endsWithParent } from "../../subject.ts";

const idleMs = 3_000;

type Env = Readonly<Record<string, string>>;

/** The folder of the bundles, the settings of all, and the cluster's record for the account of each. */
const { DIST: dist = "", SETTINGS: settings = "{}", RECORDS: given = "{}" } = process.env;
const common: Env = JSON.parse(settings);
const records: Env = JSON.parse(given);

const start = (name: string, env: Env): ChildProcess => {
  const record = { REKINDLE_CLUSTER_RECORD: records[name] ?? "" };
  const all = { PATH: process.env["PATH"] ?? "", ...common, ...record, ...env };
  return spawn("setpriv", [...endsWithParent, process.execPath, join(dist, `${name}.mjs`)], {
    stdio: "inherit",
    env: all,
  });
};

type Instance = {
  readonly child: ChildProcess;
  readonly port: number;
  calls: number;
  timer: NodeJS.Timeout | undefined;
};

const hasEnded = ({ child }: Instance): boolean => child.exitCode !== null || child.signalCode !== null;

const startInstance = async (name: string): Promise<Instance> => {
  const port = await freePort();
  const child = start(name, { REKINDLE_LISTEN: `127.0.0.1:${port}` });
  const instance: Instance = { child, port, calls: 0, timer: undefined };
  while (!(await isOpen(port))) {
    if (hasEnded(instance)) throw new Error(`${name} ended before it listened`);
    await sleep(20);
  }
  return instance;
};

const forwarded = (incoming: IncomingMessage, body: Buffer, port: number, outgoing: ServerResponse): Promise<void> =>
  new Promise((resolve, reject) => {
    const { method, url, headers } = incoming;
    const sent = request({ host: "127.0.0.1", port, method, path: url, headers, agent: false }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on("error", reject).pipe(outgoing).on("close", resolve);
    });
    sent.once("error", reject);
    sent.end(body);
  });

/** Serves a function at a port of 127.0.0.1, which is returned. */
const serve = async (name: string): Promise<number> => {
  let current: Promise<Instance> | undefined;
  const running = async (): Promise<Instance> => {
    const known = await current?.catch(() => undefined);
    if (known !== undefined && !hasEnded(known)) return known;
    current = startInstance(name);
    return await current;
  };
  let turn: Promise<unknown> = Promise.resolve();
  const acquired = (): Promise<Instance> => {
    const next = turn.then(running).then((instance) => {
      instance.calls += 1;
      clearTimeout(instance.timer);
      return instance;
    });
    turn = next.catch(() => undefined);
    return next;
  };
  const released = (instance: Instance): void => {
    instance.calls -= 1;
    if (instance.calls > 0) return;
    instance.timer = setTimeout(() => {
      current = undefined;
      instance.child.kill("SIGTERM");
    }, idleMs);
  };
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const body = await buffer(incoming);
    const instance = await acquired();
    try {
      await forwarded(incoming, body, instance.port, outgoing);
    } finally {
      released(instance);
    }
  };
  const port = await freePort();
  createServer((incoming, outgoing) => {
    answer(incoming, outgoing).catch(() => (outgoing.headersSent ? outgoing.destroy() : outgoing.writeHead(502).end()));
  }).listen(port, "127.0.0.1");
  return port;
};

const ports = [await serve("reconcile"), await serve("deliver")] as const;
const dispatcher = start("dispatch", {
  REKINDLE_LISTEN: `127.0.0.1:${await freePort()}`,
  REKINDLE_CALL_URLS: `reconcile=http://127.0.0.1:${ports[0]}/,deliver=http://127.0.0.1:${ports[1]}/`,
});
// The bench kills the group of processes and starts it anew.
dispatcher.once("exit", (code) => process.exit(code ?? 1));
