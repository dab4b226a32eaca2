/** Runs files of node:test in a few worker processes; prints each file at its end, and failures at once. */
import { type ChildProcess, fork } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, relative, resolve } from "node:path";
import type { Tally } from "./tally.ts";
import type { Assignment, Cpu, FileEnded, TestEnded } from "./test-worker.ts";

export type Failure = { readonly file: string; readonly name: string; readonly message: string };
export type FileResult = Tally & { readonly file: string; readonly ms: number; readonly cpu: Cpu };
export type TestResult = {
  readonly tally: Tally;
  readonly files: readonly FileResult[];
  readonly failures: readonly Failure[];
};

const seconds = (ms: number): string => (ms / 1000).toFixed(1).padStart(6);

const fileLine = ({ file, ms, cpu, passed, failed, skipped }: FileResult): string => {
  const counts = `${passed} passed${failed > 0 ? `, ${failed} FAILED` : ""}${skipped > 0 ? `, ${skipped} skipped` : ""}`;
  const spent = `${seconds(ms)} s ${seconds(cpu.importMs + cpu.testsMs)} CPU-s`;
  return `${failed > 0 ? "✗" : "✓"} ${file.padEnd(48)} ${counts.padEnd(24)} ${spent}`;
};

const none: Tally = { passed: 0, failed: 0, skipped: 0 };

const plus = (tally: Tally, { outcome }: TestEnded): Tally =>
  outcome === "suite" ? tally : { ...tally, [outcome]: tally[outcome] + 1 };

/** The results of a run. */
class Collector {
  readonly files: FileResult[] = [];
  readonly failures: Failure[] = [];
  readonly reasons = new Map<string, number>();

  failed({ file, name, message }: Failure): void {
    this.failures.push({ file, name, message });
    console.log(`\n✗ ${file}: ${name}\n${message}\n`);
  }

  add(result: FileResult): void {
    this.files.push(result);
    console.log(fileLine(result));
  }

  tally(): Tally {
    const sum = (key: keyof Tally): number => this.files.reduce((total, file) => total + file[key], 0);
    return { passed: sum("passed"), failed: sum("failed"), skipped: sum("skipped") };
  }
}

const workerPath = join(import.meta.dirname, "test-worker.ts");
/** Longest time, ms, that a file may take without the end of a test. */
const longestMs = 300_000;
/** Resident memory, bytes, above which a worker gets no further file. */
const largest = 1_200_000_000;

/** How a file ended in its worker. */
type End = { readonly how: FileEnded } | { readonly died: string };

/** Gives a worker one file; each test that ends goes to `hear`. */
const assign = (child: ChildProcess, assignment: Assignment, hear: (one: TestEnded) => void): Promise<End> =>
  new Promise((done) => {
    const giveUp = (): void => void child.kill("SIGKILL");
    const timer = setTimeout(giveUp, longestMs);
    const end = (result: End): void => {
      clearTimeout(timer);
      child.removeAllListeners();
      done(result);
    };
    child.on("message", (message: readonly TestEnded[] | FileEnded) => {
      timer.refresh();
      if ("ended" in message) end({ how: message });
      else for (const one of message) hear(one);
    });
    child.on("error", (error) => end({ died: error.message }));
    child.on("close", (code, signal) => {
      const late = signal === "SIGKILL" ? ` (no test ended within ${longestMs / 1000} s)` : "";
      end({ died: `${signal ?? code}${late}` });
    });
    child.send(assignment);
  });

/** The worker of a file that has ended; undefined where no other file may follow in it. */
type Worker = ChildProcess | undefined;

/** Runs one file in the worker, or in a new one. */
const play = async (worker: Worker, assignment: Assignment, collector: Collector): Promise<Worker> => {
  const { file, names } = assignment;
  const child =
    worker?.connected === true ? worker : fork(workerPath, { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const began = performance.now();
  let tally = none;
  const fail = (name: string, message: string): void => {
    tally = { ...tally, failed: tally.failed + 1 };
    collector.failed({ file, name, message });
  };
  const end = await assign(child, assignment, (one) => {
    const { reasons } = collector;
    tally = plus(tally, one);
    if (one.reason !== undefined) reasons.set(one.reason, (reasons.get(one.reason) ?? 0) + 1);
    if (one.outcome === "failed") collector.failed({ file, name: one.name, message: one.message ?? "" });
  });
  const isEmpty = tally.passed + tally.failed + tally.skipped === 0 && names.length === 0;
  if ("died" in end) fail(file, `the process of ${file} ended with ${end.died} before its tests did`);
  else if (end.how.traces.length > 0) fail(file, end.how.traces.map((trace) => `${file} ${trace}`).join("\n"));
  else if (isEmpty) fail(file, `${file} has run no test`);
  const cpu = "how" in end ? end.how.cpu : { importMs: 0, testsMs: 0 };
  collector.add({ file, ms: performance.now() - began, cpu, ...tally });
  if ("how" in end && end.how.traces.length === 0 && end.how.rss < largest) return child;
  child.kill("SIGKILL");
  return undefined;
};

/** Matches a file that measures or instruments its process: neither it nor the files beside it may see the other. */
const measuring = /\bprocess\.(cpuUsage|memoryUsage)\b|"node:inspector"/;
const importing = /\bfrom "(\.[^"]+)"/g;

/** True for a file that measures its process, by itself or by a test helper that it imports. */
const isApart = (file: string, seen = new Set<string>()): boolean => {
  if (seen.has(file) || !existsSync(file)) return false;
  seen.add(file);
  const text = readFileSync(file, "utf8");
  if (measuring.test(text)) return true;
  return [...text.matchAll(importing)]
    .map(([, path = ""]) => relative(process.cwd(), resolve(file, "..", path)))
    .some((path) => path.startsWith("test") && isApart(path, seen));
};

const tell = ({ reasons, failures }: Collector): void => {
  for (const [reason, count] of reasons) console.log(`  skipped ${count}: ${reason}`);
  if (failures.length > 0) console.log("");
  for (const { file, name } of failures) console.log(`✗ ${file}: ${name}`);
};

export type Choice = {
  readonly files: readonly string[];
  readonly names?: readonly RegExp[];
  /** Processes at a time. */
  readonly workers?: number;
  /** Starts no further file after a failure. */
  readonly first?: boolean;
};

/** One more than there are cores, as many files wait; three at most, because each imports the same modules. */
const usualWorkers = Math.min(3, availableParallelism() + 1);

/** Runs the files; each worker takes the next one as soon as its own has ended. */
export const runTests = async ({
  files,
  names = [],
  workers = usualWorkers,
  first = false,
}: Choice): Promise<TestResult> => {
  const collector = new Collector();
  const patterns = names.map(({ source }) => source);
  const waiting = [...files];
  const work = async (): Promise<void> => {
    let shared: Worker;
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      if (first && collector.failures.length > 0) break;
      const assignment = { file, names: patterns };
      if (isApart(file)) (await play(undefined, assignment, collector))?.kill();
      else shared = await play(shared, assignment, collector);
    }
    shared?.kill();
  };
  await Promise.all(Array.from({ length: Math.min(workers, files.length) }, work));
  tell(collector);
  return { tally: collector.tally(), files: collector.files, failures: collector.failures };
};
