/**
 * A worker process of `tests.ts`: runs the test files that its parent names, one after the other, reports each test, and
 * what a file has changed in the process that the next file would meet.
 */
import { createHook } from "node:async_hooks";
import { readFileSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { relative } from "node:path";
import type { EventData } from "node:test";
import { run } from "node:test";
import { inspect } from "node:util";

type Ended = EventData.TestPass | EventData.TestFail;

/** One test that ended. */
export type TestEnded = {
  readonly name: string;
  readonly outcome: "passed" | "failed" | "skipped" | "suite";
  /** The reason for a skip, where the test gives one. */
  readonly reason?: string;
  /** The error; absent where a test within this one reports it. */
  readonly message?: string;
};

/** CPU milliseconds of a file: until its first test starts, which is mostly its imports, and after that; child processes included. */
export type Cpu = { readonly importMs: number; readonly testsMs: number };

/** The last message about a file: all its tests have ended. */
export type FileEnded = {
  readonly ended: string;
  readonly cpu: Cpu;
  /** Changes of the process that the file has left behind for the next one; with any, the file has failed. */
  readonly traces: readonly string[];
  /** Resident memory of the worker, bytes. */
  readonly rss: number;
};

/**
 * Keeps node:test from following every promise, which takes a quarter of the CPU time of the simulator's tests. It follows
 * them to name the test of an uncaught error; without that the error fails the file. A Node that cannot leave promises
 * out follows them as before.
 */
const followNoPromises = (): void => {
  const hook = createHook({ trackPromises: false });
  const flag = Object.getOwnPropertySymbols(hook).find(({ description }) => description === "kNoPromiseHook");
  if (flag === undefined) return;
  const { enable } = hook;
  Reflect.set(Object.getPrototypeOf(hook), "enable", function (this: typeof hook) {
    Reflect.set(this, flag, true);
    return enable.call(this);
  });
};

/** One file for a worker. */
export type Assignment = { readonly file: string; readonly names: readonly string[] };

/** The error of the test's own body; node:test wraps it. */
const messageOf = (event: EventData.TestFail): string => {
  const { error } = event.details;
  return inspect(error.cause ?? error, { colors: process.stdout.isTTY ?? false, depth: 6 });
};

/** True for a parent that fails because its child did: the child reports the error. */
const isEcho = (event: EventData.TestFail): boolean => event.details.error.message.includes("subtest");

const skipOf = ({ skip, todo }: Ended): string | boolean | undefined => skip ?? todo;

/** node:test passes a file without tests as one test of that name, which proves nothing. */
const outcomeOf = (event: Ended, file: string): TestEnded["outcome"] => {
  if (event.details.type === "suite" || event.name === file) return "suite";
  return skipOf(event) !== undefined && skipOf(event) !== false ? "skipped" : "passed";
};

const ended = (event: Ended, outcome: TestEnded["outcome"]): TestEnded => {
  const skip = skipOf(event);
  return { name: event.name, outcome, ...(typeof skip === "string" ? { reason: skip } : {}) };
};

const tell = (message: readonly TestEnded[] | FileEnded): void => void process.send?.(message);

/** The time, ms, for which ends of tests are gathered into one message; each message wakes the parent. */
const gatheredMs = 250;

/** Tells ends of tests together, those that failed and all before them at once. */
const openReport = () => {
  let waiting: TestEnded[] = [];
  let told = performance.now();
  const flush = (): void => {
    tell(waiting);
    waiting = [];
    told = performance.now();
  };
  return {
    add: (one: TestEnded): void => {
      waiting.push(one);
      if (one.outcome === "failed" || performance.now() - told > gatheredMs) flush();
    },
    flush,
  };
};

/** CPU milliseconds of the child processes that have ended; 0 where the system does not say. */
const childrenMs = (): number => {
  if (process.platform !== "linux") return 0;
  const [, , , , , , , , , , , , , user = 0, system = 0] = readFileSync("/proc/self/stat", "utf8")
    .replace(/^.*\) /, "")
    .split(" ")
    .map(Number);
  return (user + system) * 10;
};

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000 + childrenMs();
};

/** Events of the process that node:test itself listens to. */
const ofNode = ["uncaughtException", "unhandledRejection", "beforeExit", "exit", "message"];

/** Globals that @hono/node-server replaces in each process that serves, once and for good. */
const ofLibraries = ["Request", "Response"];

/** The functions of `object`, and its other values that are there from the start. */
const valuesOf = (name: string, object: object): readonly (readonly [string, unknown])[] =>
  Object.entries(Object.getOwnPropertyDescriptors(object))
    .filter(([key, { value }]) => value !== undefined && !ofLibraries.includes(key))
    .map(([key, { value }]) => [`${name}${key}`, value]);

/** Values that a test may replace for itself, such as the clock, and that its file must restore for the next one. */
const replaceable = (): ReadonlyMap<string, unknown> =>
  new Map([
    ...valuesOf("", globalThis),
    ...valuesOf("console.", console),
    ...valuesOf("Date.", Date),
    ...valuesOf("Math.", Math),
    ["process.stdout.write", process.stdout.write],
  ]);

const listeners = (): ReadonlyMap<string, number> =>
  new Map(
    process
      .eventNames()
      .map((name): [string, number] => [String(name), process.listenerCount(name)])
      .filter(([name]) => !ofNode.includes(name)),
  );

/** Gives each file the environment and the folder that the first one had. */
const environment = { ...process.env };
const folder = process.cwd();
const restore = (): void => {
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
  process.chdir(folder);
};

/** Starts to watch the process; the result says what has changed since. */
const watchProcess = (): (() => readonly string[]) => {
  const values = replaceable();
  const counts = listeners();
  return () => {
    const after = replaceable();
    const replaced = [...values].filter(([name, value]) => !Object.is(after.get(name), value));
    const added = [...listeners()].filter(([name, count]) => count > (counts.get(name) ?? 0));
    return [
      ...replaced.map(([name]) => `has left ${name} replaced`),
      ...added.map(([name]) => `has left a listener of the process to ${name}`),
    ];
  };
};

/** Runs one file; the result says what it cost and what it left behind. */
const play = async ({ file, names }: Assignment): Promise<FileEnded> => {
  const tracesOf = watchProcess();
  const began = cpuMs();
  let imported: number | undefined;
  const late: string[] = [];
  process.exitCode = undefined;
  const stream = run({
    files: [file],
    isolation: "none",
    ...(names.length === 0 ? {} : { testNamePatterns: names.map((name) => new RegExp(name)) }),
  });
  let failed = 0;
  const report = openReport();
  stream.on("test:start", () => {
    imported ??= cpuMs();
  });
  stream.on("test:pass", (event) => report.add(ended(event, outcomeOf(event, file))));
  stream.on("test:fail", (event) => {
    failed += 1;
    report.add({
      ...ended(event, isEcho(event) ? "suite" : "failed"),
      ...(isEcho(event) ? {} : { message: messageOf(event) }),
    });
  });
  // An error after the end of its test reaches no test; node:test says it in a diagnostic.
  stream.on("test:diagnostic", ({ message }) => {
    if (/^(Error|Warning): /.test(message)) late.push(message);
  });
  // node:test ends a run when nothing is open any more: a file that leaves a server open does not end.
  process.channel?.unref();
  for await (const _ of stream);
  process.channel?.ref();
  report.flush();
  // Node writes its cache of compiled modules when a process ends by itself, but the parent ends this one by a signal.
  flushCompileCache();
  const traces = tracesOf();
  restore();
  const isBad = failed === 0 && process.exitCode !== undefined && process.exitCode !== 0;
  const done = cpuMs();
  return {
    ended: relative(process.cwd(), file),
    cpu: { importMs: Math.round((imported ?? done) - began), testsMs: Math.round(done - (imported ?? done)) },
    traces: [...traces, ...(isBad ? [`has set the exit code ${process.exitCode}`, ...late] : [])],
    rss: process.memoryUsage.rss(),
  };
};

followNoPromises();

process.on("message", (assignment: Assignment) => {
  play(assignment).then(tell, (error: unknown) => {
    console.error(error);
    process.exit(1);
  });
});
