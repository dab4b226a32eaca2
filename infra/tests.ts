/** Runs files of node:test, many in one process where possible; prints each file at its end, and failures at once. */
import { fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { Tally } from "./tally.ts";
import type { Lot, LotEnded, Told } from "./test-lot.ts";

export type Failure = { readonly file: string; readonly name: string; readonly message: string };
export type FileResult = Tally & { readonly file: string; readonly ms: number };
export type TestResult = {
  readonly tally: Tally;
  readonly files: readonly FileResult[];
  readonly failures: readonly Failure[];
};

const fileLine = ({ file, ms, passed, failed, skipped }: FileResult): string => {
  const counts = `${passed} passed${failed > 0 ? `, ${failed} FAILED` : ""}${skipped > 0 ? `, ${skipped} skipped` : ""}`;
  return `${failed > 0 ? "✗" : "✓"} ${file.padEnd(48)} ${counts.padEnd(24)} ${(ms / 1000).toFixed(1).padStart(6)} s`;
};

const none: Tally = { passed: 0, failed: 0, skipped: 0 };

const plus = (tally: Tally, { outcome }: Told): Tally =>
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

  /** Adds the files of a lot that has ended. */
  add(results: readonly FileResult[]): void {
    for (const result of results) {
      this.files.push(result);
      console.log(fileLine(result));
    }
  }

  tally(): Tally {
    const sum = (key: keyof Tally): number => this.files.reduce((total, file) => total + file[key], 0);
    return { passed: sum("passed"), failed: sum("failed"), skipped: sum("skipped") };
  }
}

const lotPath = join(import.meta.dirname, "test-lot.ts");
/** Longest time, ms, that a lot may take without the end of a test. */
const longestMs = 300_000;

/** The results of one lot's files, collected as its tests end. */
class LotResult {
  readonly #lot: Lot;
  readonly #files: Map<string, FileResult>;
  readonly #collector: Collector;

  constructor(lot: Lot, collector: Collector) {
    this.#lot = lot;
    this.#files = new Map(lot.files.map((file) => [file, { file, ms: 0, ...none }]));
    this.#collector = collector;
  }

  /** A test that a shared file defines counts for the only file of its lot, or for the file that defines it. */
  hear(one: Told): void {
    const { reasons } = this.#collector;
    const [first = one.file, ...others] = this.#lot.files;
    const file = others.length === 0 ? first : one.file;
    const before = this.#files.get(file) ?? { file, ms: 0, ...none };
    this.#files.set(file, { ...before, ...plus(before, one), ms: before.ms + (one.isOuter ? one.ms : 0) });
    if (one.reason !== undefined) reasons.set(one.reason, (reasons.get(one.reason) ?? 0) + 1);
    if (one.outcome === "failed") this.#collector.failed({ file, name: one.name, message: one.message ?? "" });
  }

  /** A process that failed although no test did, such as by an import that throws, counts as a failure. */
  end(badly: string | undefined): void {
    const [first] = this.#files.values();
    const isKnown = [...this.#files.values()].some(({ failed }) => failed > 0);
    if (badly !== undefined && first !== undefined && !isKnown) {
      this.#files.set(first.file, { ...first, failed: 1 });
      const message = `the process of ${this.#lot.files.join(", ")} ended with ${badly}`;
      this.#collector.failed({ file: first.file, name: first.file, message });
    }
    this.#collector.add([...this.#files.values()]);
  }
}

/** Runs one lot in a process of its own. */
const play = (lot: Lot, collector: Collector): Promise<void> =>
  new Promise((resolve) => {
    const result = new LotResult(lot, collector);
    const child = fork(lotPath, [JSON.stringify(lot)], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
    const giveUp = (): void => void child.kill("SIGKILL");
    const timer = setTimeout(giveUp, longestMs);
    let isWhole = false;
    child.on("message", (one: Told | LotEnded) => {
      timer.refresh();
      if (one === "ended") isWhole = true;
      else result.hear(one);
    });
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      const late = signal === "SIGKILL" ? ` (no test ended within ${longestMs / 1000} s)` : "";
      const how = isWhole ? `${signal ?? code}${late}` : `${signal ?? code}${late} before its tests did`;
      result.end(isWhole && code === 0 ? undefined : how);
      resolve();
    });
  });

/** Rooms whose tests use nothing of the machine but time. */
const sharing = /^test\/unit\/(core|engine|kube|spark|volcano)\//;
/** Matches a file that may affect its process or the tests of other files: it runs alone. */
const apart = /^(before|after)(Each)?\(|\bprocess\.(env|chdir|exitCode|on|argv)\b|\bmock\.|node:child_process/m;
/** Number of files in one process: they share loaded and compiled modules. */
const perLot = 24;

const isApart = (file: string): boolean => !sharing.test(file) || apart.test(readFileSync(file, "utf8"));

const lotsOf = (files: readonly string[], names: readonly string[]): readonly Lot[] => {
  const alone = files.filter(isApart);
  const others = files.filter((file) => !alone.includes(file));
  const lots = Array.from({ length: Math.ceil(others.length / perLot) }, (_, index) =>
    others.slice(index * perLot, (index + 1) * perLot),
  );
  return [...alone.map((file) => [file]), ...lots].map((lot) => ({ files: lot, names }));
};

const tell = ({ reasons, failures }: Collector): void => {
  for (const [reason, count] of reasons) console.log(`  skipped ${count}: ${reason}`);
  if (failures.length > 0) console.log("");
  for (const { file, name } of failures) console.log(`✗ ${file}: ${name}`);
};

export type Choice = { readonly files: readonly string[]; readonly names?: readonly RegExp[] };

/** Node's cache of compiled modules: hundreds of processes load the same ones. */
const compiled = join("node_modules", ".cache", "node");

/** Runs the files, one process more at a time than there are cores (three at most), as many of them wait. */
export const runTests = async ({ files, names = [] }: Choice): Promise<TestResult> => {
  const collector = new Collector();
  process.env["NODE_COMPILE_CACHE"] ??= join(process.cwd(), compiled);
  const waiting = [
    ...lotsOf(
      files,
      names.map(({ source }) => source),
    ),
  ];
  const work = async (): Promise<void> => {
    for (let lot = waiting.shift(); lot !== undefined; lot = waiting.shift()) await play(lot, collector);
  };
  await Promise.all(Array.from({ length: Math.min(3, availableParallelism() + 1) }, work));
  tell(collector);
  return { tally: collector.tally(), files: collector.files, failures: collector.failures };
};
