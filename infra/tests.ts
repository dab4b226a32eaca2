/** Runs files of node:test, one line per file as it ends, and keeps what failed for the end. */
import { availableParallelism } from "node:os";
import { join, relative } from "node:path";
import type { EventData } from "node:test";
import { run } from "node:test";
import { inspect } from "node:util";
import type { Tally } from "./tally.ts";

type Ended = EventData.TestPass | EventData.TestFail;

export type Failure = { readonly file: string; readonly name: string; readonly message: string };
export type FileResult = Tally & { readonly file: string; readonly ms: number };
export type TestResult = {
  readonly tally: Tally;
  readonly files: readonly FileResult[];
  readonly failures: readonly Failure[];
};

const root = (file: string): string => relative(process.cwd(), file);

/** The error of the test's own body; node:test wraps it. */
const messageOf = (event: EventData.TestFail): string => {
  const { error } = event.details;
  return inspect(error.cause ?? error, { colors: process.stdout.isTTY ?? false, depth: 6 });
};

/** A parent fails because its child did: the child tells more. */
const isEcho = (event: EventData.TestFail): boolean => event.details.error.message.includes("subtest");

const fileLine = ({ file, ms, passed, failed, skipped }: FileResult): string => {
  const counts = `${passed} passed${failed > 0 ? `, ${failed} FAILED` : ""}${skipped > 0 ? `, ${skipped} skipped` : ""}`;
  return `${failed > 0 ? "✗" : "✓"} ${file.padEnd(48)} ${counts.padEnd(24)} ${(ms / 1000).toFixed(1).padStart(6)} s`;
};

const tallyOf = (counts: EventData.TestSummary["counts"]): Tally => ({
  passed: counts.passed,
  failed: Math.max(0, counts.tests - counts.passed - counts.skipped - counts.todo),
  skipped: counts.skipped + counts.todo,
});

/** What the events of a run add up to. */
class Collector {
  readonly files: FileResult[] = [];
  readonly failures: Failure[] = [];
  readonly reasons = new Map<string, number>();
  tally: Tally = { passed: 0, failed: 0, skipped: 0 };

  ended(event: Ended): void {
    if (typeof event.skip === "string") this.reasons.set(event.skip, (this.reasons.get(event.skip) ?? 0) + 1);
  }

  failed(event: EventData.TestFail): void {
    const file = root(event.file ?? "");
    if (event.name === event.file) this.add({ file, ms: event.details.duration_ms, passed: 0, failed: 1, skipped: 0 });
    if (!isEcho(event)) this.failures.push({ file, name: event.name, message: messageOf(event) });
  }

  summary(event: EventData.TestSummary): void {
    const tally = tallyOf(event.counts);
    if (event.file === undefined) this.tally = tally;
    else this.add({ file: root(event.file), ms: event.duration_ms, ...tally });
  }

  add(result: FileResult): void {
    this.files.push(result);
    console.log(fileLine(result));
  }
}

const tell = (collector: Collector): void => {
  for (const [reason, count] of collector.reasons) console.log(`  skipped ${count}: ${reason}`);
  for (const { file, name, message } of collector.failures) console.log(`\n✗ ${file}: ${name}\n${message}`);
};

export type Choice = { readonly files: readonly string[]; readonly names?: readonly RegExp[] };

/** What Node has compiled for one file, the next need not: hundreds of processes load the same modules. */
const compiled = join("node_modules", ".cache", "node");

/** Runs the files, one more at a time than there are cores (three at most), for many of them wait; prints as it goes. */
export const runTests = async ({ files, names }: Choice): Promise<TestResult> => {
  const collector = new Collector();
  process.env["NODE_COMPILE_CACHE"] ??= join(process.cwd(), compiled);
  const stream = run({
    files: [...files],
    concurrency: Math.min(3, availableParallelism() + 1),
    timeout: 180_000,
    ...(names === undefined ? {} : { testNamePatterns: [...names] }),
  });
  stream.on("test:pass", (event) => collector.ended(event));
  stream.on("test:fail", (event) => collector.failed(event));
  stream.on("test:stderr", (event) => process.stderr.write(event.message));
  stream.on("test:summary", (event) => collector.summary(event));
  for await (const _ of stream);
  tell(collector);
  return { tally: collector.tally, files: collector.files, failures: collector.failures };
};
