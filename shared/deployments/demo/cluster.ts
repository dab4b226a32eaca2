/**
 * The demo's cluster: the simulator in real time with transports that count requests, the CRDs and the example as they
 * are shipped, and a port on loopback with a kubeconfig for kubectl. Functions run on it in one process: forwarder,
 * queue and resync are the host's, and each delivery is an invocation of an instance, reused while it runs and killed
 * between any two calls.
 */
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openQueue } from "../../adapters/embedded/queue.ts";
import { allOrNone, startWorkers } from "../../adapters/embedded/workers.ts";
import { openTelemetry } from "../../adapters/telemetry/tracing.ts";
import type { HttpRequest, Transport } from "../../core/http.ts";
import { type Key, type Message, textOf } from "../../core/key.ts";
import type { World } from "../../engine/context/world.ts";
import type { Queue, Report } from "../../engine/ports.ts";
import { take } from "../../engine/reconcile/intake.ts";
import { timing } from "../../engine/settings.ts";
import { startForwarder } from "../../forward/forwarder.ts";
import { defaultFamilies } from "../../kube/resources.ts";
import { serveSimulator } from "../../simulator/http/serve.ts";
import type { Scripts } from "../../simulator/nodes/script.ts";
import { openSimulator, type Simulator } from "../../simulator/open.ts";
import { drive } from "../../simulator/storage/clock.ts";
import { operatorsFor } from "../common/operators.ts";
import { openRuntime } from "../common/runtime.ts";
import { operatorsByKind } from "../common/step-dependencies.ts";
import { resync, startSweeping } from "../resync/sweep.ts";

export type DemoCluster = {
  readonly simulator: Simulator;
  /** Opens a transport; `counted` is called for each request. */
  openTransport(counted?: () => void): Transport;
  stop(): void;
};

/** Opens the cluster at the present time. `scripts` set the durations of simulated Spark. */
export const openDemoCluster = (scripts: Scripts): DemoCluster => {
  const start = Date.now();
  const simulator = openSimulator({ start, seed: String(start), events: true, commands: true, scripts });
  const { catchUp, stop } = drive(simulator.clock);
  return {
    simulator,
    openTransport: (counted = () => {}) => {
      const enter = (): void => {
        counted();
        catchUp();
      };
      return {
        send: async (request) => {
          enter();
          return simulator.transport.send(request);
        },
        stream: async (request) => {
          enter();
          return simulator.transport.stream(request);
        },
      };
    },
    stop,
  };
};

/** The texts of the manifests. */
export type Manifests = {
  readonly crds: readonly string[];
  /** The service account of the example, and the namespace for records of cluster-scoped objects. */
  readonly beside: readonly string[];
  readonly example: string;
};

/** Path of the example, from the package's root. */
export const exampleFile = "infra/examples/spark-pi.yaml";

/** Paths of examples of other kinds, for a cluster that stays up. */
export const moreExamples: readonly string[] = [
  "volcano-job",
  "volcano-jobflow",
  "volcano-cronjob",
  "spark-pi-scheduled",
].map((name) => `infra/examples/${name}.yaml`);

const home = `apiVersion: v1
kind: Namespace
metadata: { name: rekindle }
`;

const account = `apiVersion: v1
kind: ServiceAccount
metadata: { name: spark, namespace: default }
`;

export const readManifests = async (root: URL): Promise<Manifests> => {
  const folder = new URL("infra/crds/", root);
  const files = (await readdir(folder)).filter((file) => file.endsWith(".yaml")).sort();
  const crds = await Promise.all(files.map((file) => readFile(new URL(file, folder), "utf8")));
  return { crds, beside: [home, account], example: await readFile(new URL(exampleFile, root), "utf8") };
};

export type Served = {
  readonly url: string;
  /** Path of the kubeconfig, which `close` deletes. */
  readonly kubeconfig: string;
  close(): Promise<void>;
};

/**
 * Returns whether the file may be written: it does not exist, or is a kubeconfig of an earlier demo. Any other
 * kubeconfig may hold access to other clusters.
 */
const isOurs = async (file: string): Promise<boolean> => {
  const text = await readFile(file, "utf8").catch(() => undefined);
  return text === undefined || /"server": "http:\/\/127\.0\.0\.1:\d+"/.test(text);
};

/** Returns the requested file, or one in a temporary folder; `clear` deletes it. */
const placeFor = async (path: string | undefined): Promise<{ file: string; clear: () => Promise<void> }> => {
  if (path !== undefined) {
    const file = resolve(path);
    if (!(await isOurs(file))) throw new Occupied(`--kubeconfig ${path} exists already; name another file`);
    return { file, clear: () => rm(file, { force: true }) };
  }
  const folder = await mkdtemp(join(tmpdir(), "rekindle-demo-"));
  return { file: join(folder, "kubeconfig"), clear: () => rm(folder, { recursive: true, force: true }) };
};

/** The kubeconfig cannot be written at the requested path. */
export class Occupied extends Error {
  override readonly name = "Occupied";
}

export const serve = async (simulator: Simulator, port: number, path: string | undefined): Promise<Served> => {
  const { file: kubeconfig, clear } = await placeFor(path);
  const { url, kubeconfig: text, close } = await serveSimulator(simulator, { port });
  try {
    await writeFile(kubeconfig, text, { mode: 0o600 });
  } catch (cause) {
    await close();
    throw new Occupied(`--kubeconfig ${kubeconfig} cannot be written`, { cause });
  }
  return {
    url,
    kubeconfig,
    close: async () => {
      await Promise.all([close(), clear()]);
    },
  };
};

/** An event that a cloud's console would show, without the engine's state. */
export type Notice =
  | { readonly did: "killed"; readonly invocation: number; readonly request: HttpRequest }
  | { readonly did: "took over"; readonly invocation: number; readonly afterMs: number }
  | { readonly did: "complained"; readonly message: string };

type InstanceSettings = {
  readonly transport: Transport;
  readonly queue: Queue;
  readonly open: (doors: {
    readonly transport: Transport;
    readonly queue: Queue;
    readonly report: Report;
  }) => Promise<World>;
  /** Returns whether the instance that has just sent this request is killed; then no answer reaches it. */
  readonly kills: (request: HttpRequest) => boolean;
  /** Returns whether an invocation for this key is counted; all others run without a number. */
  readonly counts: (key: Key) => boolean;
  readonly notice: (notice: Notice) => void;
};

export type Instances = {
  /**
   * Runs one delivery. It never ends when its instance is killed: the message comes back after the queue's visibility
   * timeout.
   */
  invoke(messages: readonly Message[]): Promise<boolean>;
  /** Returns the number of counted invocations. */
  invocations(): number;
};

/** The current work of an instance, and whether it is killed. */
type Life = { dead: boolean; invocation: number; messages: readonly Message[] };

/** The result of each call of a killed process: it never ends. */
const never = <T>(): Promise<T> => new Promise<T>(() => {});

const mortal = (settings: InstanceSettings, life: Life, die: (request: HttpRequest) => void): Transport => ({
  stream: (request) => (life.dead ? never() : settings.transport.stream(request)),
  send: async (request) => {
    if (life.dead) return never();
    const answer = settings.transport.send(request);
    if (settings.kills(request)) die(request);
    const value = await answer;
    return life.dead ? never() : value;
  },
});

const mortalQueue = (queue: Queue, life: Life): Queue => ({
  send: (message, id) => (life.dead ? never() : queue.send(message, id)),
  sendLater: (message, id, delayMs) => (life.dead ? never() : queue.sendLater(message, id, delayMs)),
});

/** Passes on reports of level error; everything else shows in the API. */
const reportTo =
  (notice: InstanceSettings["notice"]): Report =>
  (level, message, fields) => {
    if (level === "error") notice({ did: "complained", message: `${message} ${JSON.stringify(fields ?? {})}` });
  };

/** A kill: its time (performance.now, ms), and the function that reports it once. */
type Kill = { readonly at: number; readonly tell: () => void };

/** Kills by the key of the killed invocation. */
type Orphans = Map<string, Kill>;

const start = async (settings: InstanceSettings, life: Life, orphans: Orphans): Promise<World> => {
  const { queue, notice } = settings;
  const die = (request: HttpRequest): void => {
    life.dead = true;
    const news = { did: "killed", invocation: life.invocation, request } as const;
    let isReported = false;
    const tell = (): void => {
      if (!isReported) notice(news);
      isReported = true;
    };
    for (const message of life.messages) orphans.set(textOf(message), { at: performance.now(), tell });
    // A console is slower than a watch: the reader of the API shows the last write first.
    setImmediate(tell);
  };
  const transport = mortal(settings, life, die);
  return settings.open({ transport, queue: mortalQueue(queue, life), report: reportTo(notice) });
};

const openInstances = (settings: InstanceSettings): Instances => {
  const warm: { readonly world: World; readonly life: Life }[] = [];
  const orphans: Orphans = new Map();
  let invocations = 0;
  const tellTakeOver = (messages: readonly Message[], invocation: number): void => {
    for (const key of new Set(messages.map(textOf))) {
      const kill = orphans.get(key);
      if (kill === undefined) continue;
      orphans.delete(key);
      // On a busy machine the message is back before the kill is reported.
      kill.tell();
      settings.notice({ did: "took over", invocation, afterMs: performance.now() - kill.at });
    }
  };
  const cold = async (life: Life) => ({ life, world: await start(settings, life, orphans) });
  return {
    invocations: () => invocations,
    invoke: async (messages) => {
      if (messages.some(settings.counts)) invocations += 1;
      const doing = { invocation: invocations, messages };
      tellTakeOver(messages, invocations);
      const instance = warm.pop() ?? (await cold({ dead: false, ...doing }));
      Object.assign(instance.life, doing);
      const ending = await take(instance.world, messages);
      warm.push(instance);
      return ending !== undefined;
    },
  };
};

export type FunctionSettings = Pick<InstanceSettings, "kills" | "notice"> & {
  readonly transport: Transport;
  /** The visibility timeout of a killed invocation's message, ms. */
  readonly visibilityMs: number;
};

export type Functions = {
  /** True once every watch has listed its objects and a resync has succeeded. */
  ready(): boolean;
  /** Returns the number of invocations for namespaced objects. */
  invocations(): number;
  stop(): Promise<void>;
};

const cluster = "demo";
const parallel = 8;
const resyncMs = 60_000;
const graceMs = 500;
const againMs = 1_000;

/**
 * Returns whether an invocation is counted: those for the queues root and default, which the first resync creates and
 * which have no namespace, are not.
 */
const counts = ({ namespace }: Key): boolean => namespace !== "";

export const startFunctions = (settings: FunctionSettings): Functions => {
  const { transport, visibilityMs, kills, notice } = settings;
  const operators = operatorsFor(timing, undefined, undefined, defaultFamilies);
  const operatorOf = operatorsByKind(operators);
  const queue = openQueue({ now: () => performance.now(), visibilityMs });
  const open: InstanceSettings["open"] = (doors) =>
    openRuntime({
      ...{ ...doors, timing, operatorOf, clockFrom: "sent", own: () => ({}), more: () => ({}) },
      telemetry: openTelemetry({ report: doors.report, level: "debug" }),
    });
  const instances = openInstances({ transport, queue, open, kills, counts, notice });
  const workers = startWorkers({
    queue,
    take: allOrNone(instances.invoke, againMs),
    parallel,
    againMs,
    now: () => performance.now(),
  });
  const forwarder = startForwarder({
    ...{ transport, operators, cluster, namespaces: [], selector: undefined },
    send: (message, id) => queue.send(message, id),
    report: reportTo(notice),
    now: Date.now,
    random: Math.random,
  });
  const scope = { transport, queue, cluster, namespaces: [], selector: undefined, operators };
  const sweeping = startSweeping(() => resync(scope, String(Date.now())), resyncMs, reportTo(notice));
  return {
    ready: () => forwarder.synced() && sweeping.swept(),
    invocations: instances.invocations,
    stop: async () => {
      await Promise.all([forwarder.stop(), sweeping.stop()]);
      // The killed invocation never ends.
      await Promise.race([workers.stop(graceMs), sleep(graceMs)]);
    },
  };
};
