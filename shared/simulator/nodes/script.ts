/**
 * Scripts of pods: plain JSON, by application name or in an annotation of the pod, or from the command line of a
 * container; and the state of the simulated machines that run them beside the objects: running drivers, and held tasks
 * of silent nodes.
 */

import type { Task } from "../storage/clock.ts";
import { isFields, itemsAt, parsed, textAt } from "../storage/json.ts";
import type { Item } from "../storage/metadata.ts";

/** The course of one pod. Times in ms; fields that are left out have defaults. */
export type PodScript = {
  /** From being bound to Running. */
  readonly startMs?: number;
  /** From Running to the end of its process by itself. Without it, the process runs until it is told to end. */
  readonly runMs?: number;
  readonly exitCode?: number;
  /** Reason of the terminated container, such as OOMKilled. */
  readonly reason?: string;
  readonly pull?: "fails";
  /** From SIGTERM to the end of the process. */
  readonly stopMs?: number;
  /** The exit code after SIGTERM; absent: 143. A server that ends gracefully exits with 0. */
  readonly stopCode?: number;
  /** From the terminal phase of a deleted pod to its removal by the kubelet, ms; absent: 200. */
  readonly removeMs?: number;
  readonly log?: string;
  /** Of an executor: the time of the one task that it works on from its start, as its driver reports. */
  readonly busyMs?: number;
  /** Of an executor: the shuffle data that it has written since its start, bytes, as its driver reports. */
  readonly shuffleBytes?: number;
  /** Of a Connect server: its tasks from these times after its start on, ms; absent: its REST API does not answer. */
  readonly tasks?: readonly (readonly [fromMs: number, tasks: ServerTasks])[];
};

/** The tasks that a Connect server's REST API shows, or no answer. */
export type ServerTasks = { readonly running: number; readonly ended: number } | "silent";

/**
 * A driver's gauge of the executors that it needs: a number; one that alternates with 0 every five seconds; no answer;
 * or a JSON value that its metrics show in the place of the number.
 */
export type Gauge = number | { readonly flaps: number } | { readonly shows: unknown } | "silent";

/** The course of one driver. With `runMs` its process dies that long after it came up, and cleans nothing. */
export type DriverScript = PodScript & {
  /** From Running to asking for executors. */
  readonly bootMs?: number;
  /** From the first running executor to the end of the job; the driver then exits with `exitCode`. */
  readonly jobMs?: number;
  /** From the first running executor to a backlog of tasks, where executors are allocated dynamically. */
  readonly backlogMs?: number;
  /** The gauge from these times after the container's start on, ms; 0 before the first. */
  readonly gauge?: readonly (readonly [fromMs: number, gauge: Gauge])[];
  /** The job never ends. */
  readonly hangs?: boolean;
  /** By executor id; "*" is for those not named. */
  readonly executors?: Readonly<Record<string, PodScript>>;
};

/** One script per driver attempt; the last holds for all later ones. */
export type Scripts = Readonly<Record<string, readonly DriverScript[]>>;

const scriptAnnotation = "simulator.rekindle.dev/script";

const isScript = (value: unknown): value is DriverScript => isFields(value);

const annotated = (pod: Item): readonly DriverScript[] => {
  const value = parsed(textAt(pod, "metadata", "annotations", scriptAnnotation) ?? "");
  const list = Array.isArray(value) ? value : [value];
  return list.filter(isScript);
};

/** The script of the n-th pod of a name, counted from 1. */
export const scriptFor = (scripts: Scripts, name: string, nth: number, pod: Item): DriverScript => {
  const own = annotated(pod);
  const list = own.length > 0 ? own : (scripts[name] ?? scripts["*"] ?? []);
  return list[nth - 1] ?? list.at(-1) ?? {};
};

const seconds: Readonly<Record<string, number>> = { "": 1, s: 1, m: 60, h: 3_600, d: 86_400 };

const unquoted = (text: string): string => text.replaceAll(/^["']|["']$/g, "");

/** The commands of a shell's line in their order; operators between them are not interpreted. */
const stepsIn = (line: string): readonly string[] =>
  line
    .split(/;|&&|\|\||\n/)
    .map((step) => step.trim())
    .filter((step) => step !== "");

const isText = (value: unknown): value is string => typeof value === "string";

/** The line that the pod's first container runs; undefined when the image decides. */
const lineOf = (pod: Item): string | undefined => {
  const [container] = itemsAt(pod, "spec", "containers");
  const words = [...itemsAt(container, "command"), ...itemsAt(container, "args")].filter(isText);
  const [shell = "", flag = "", line] = words;
  if (words.length === 0) return undefined;
  return /(^|\/)(ba|da|a)?sh$/.test(shell) && /^-\w*c$/.test(flag) ? (line ?? "") : words.join(" ");
};

/** The time that a `sleep N` takes, ms; undefined for any other command. */
const sleepMs = (step: string): number | undefined => {
  const [, amount = "", unit = ""] = /^sleep\s+(\d+(?:\.\d+)?)([smhd]?)$/.exec(step) ?? [];
  return amount === "" ? undefined : Number(amount) * (seconds[unit] ?? 1) * 1_000;
};

/** The job that the arguments of a driver ask for: `sleep N` among them is its duration. */
export const argumentScript = (pod: Item): DriverScript => {
  const [container] = itemsAt(pod, "spec", "containers");
  const text = itemsAt(container, "args").filter(isText).join(" ");
  const jobMs = sleepMs(/\bsleep\s+\S+/.exec(text)?.[0] ?? "");
  return jobMs === undefined ? {} : { jobMs };
};

/** Programs that serve until they are told to end. */
const serves = (step: string): boolean => step.includes("start-connect-server.sh");

/** Duration, exit code and output of a pod's command; undefined without one. Every other program takes no time. */
export const commandScript = (pod: Item): PodScript | undefined => {
  const line = lineOf(pod);
  if (line === undefined) return undefined;
  let runMs = 0;
  const lines: string[] = [];
  for (const step of stepsIn(line)) {
    const slept = sleepMs(step);
    const code = /^exit\s+(\d+)$/.exec(step)?.[1];
    if (/^sleep\s+inf/.test(step) || serves(step)) return { log: lines.join("\n") };
    if (slept !== undefined) runMs += slept;
    else if (code !== undefined) return { runMs, exitCode: Number(code), log: lines.join("\n") };
    else if (step.startsWith("echo ")) lines.push(unquoted(step.slice(5).trim()));
  }
  return { runMs, log: lines.join("\n") };
};

/** A driver process. Replaced on every change, never altered, so that a snapshot shares it. */
export type Driver = {
  readonly uid: string;
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly app: string;
  readonly appId: string;
  readonly attempt: number;
  readonly script: DriverScript;
  /** The confs in its files when its container started: a mount stays as it was, whatever becomes of the ConfigMap. */
  readonly conf: Readonly<Record<string, string>>;
  /** The executors' pod template, as text. */
  readonly template: string;
  readonly nextId: number;
  readonly failures: number;
  /** Number of executors wanted since its last change, where they are allocated dynamically. */
  readonly wanted?: number;
  /** The number of executors that it adds next, while it has too few for its gauge; 0: it has enough. */
  readonly adds?: number;
  readonly booted: boolean;
  /** Instant at which the first executor ran. */
  readonly jobSince: number | undefined;
  /** The context is being stopped or the process is gone: lost executors are not replaced. */
  readonly ended: boolean;
};

export type Memories = {
  readonly drivers: ReadonlyMap<string, Driver>;
  /** The UID of the newest driver of `namespace/appId`. */
  readonly newest: ReadonlyMap<string, string>;
  /** Number of drivers that an application has had, by `namespace/app`. */
  readonly attempts: ReadonlyMap<string, number>;
  readonly held: readonly Task[];
};

export type Memory = {
  driver(uid: string): Driver | undefined;
  newest(namespace: string, appId: string): Driver | undefined;
  /** Stores the state of a driver, and returns it. */
  remember(driver: Driver): Driver;
  /** The attempt number of a new driver of an application. */
  count(namespace: string, app: string): number;
  /** Keeps a task until its machine is thawed. */
  hold(task: Task): void;
  /** Returns all held tasks, and holds none of them any longer. */
  release(): readonly Task[];
  snapshot(): Memories;
  restore(state: Memories): void;
};

/** Copies its maps at the first write after a snapshot. */
export const openMemory = (): Memory => {
  let drivers = new Map<string, Driver>();
  let newest = new Map<string, string>();
  let attempts = new Map<string, number>();
  let held: readonly Task[] = [];
  let shared = false;
  const own = (): void => {
    if (!shared) return;
    shared = false;
    drivers = new Map(drivers);
    newest = new Map(newest);
    attempts = new Map(attempts);
  };
  return {
    driver: (uid) => drivers.get(uid),
    newest: (namespace, appId) => drivers.get(newest.get(`${namespace}/${appId}`) ?? ""),
    remember: (driver) => {
      own();
      if (!drivers.has(driver.uid)) newest.set(`${driver.namespace}/${driver.appId}`, driver.uid);
      drivers.set(driver.uid, driver);
      return driver;
    },
    count: (namespace, app) => {
      own();
      const n = (attempts.get(`${namespace}/${app}`) ?? 0) + 1;
      attempts.set(`${namespace}/${app}`, n);
      return n;
    },
    hold: (task) => {
      held = [...held, task];
    },
    release: () => {
      const all = held;
      held = [];
      return all;
    },
    snapshot: () => {
      shared = true;
      return { drivers, newest, attempts, held };
    },
    restore: (state) => {
      shared = false;
      drivers = new Map(state.drivers);
      newest = new Map(state.newest);
      attempts = new Map(state.attempts);
      held = state.held;
    },
  };
};
