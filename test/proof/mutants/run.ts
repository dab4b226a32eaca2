/** `npm run mutants`: removes each promise from a copy of the sources; the sweep or tests named must fail on it. */
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { conclude } from "../../../infra/tally.ts";
import { edited, placeOf, type Sources } from "./anchors.ts";
import { help, readArguments } from "./arguments.ts";
import type { Mutant, Swept, Tested } from "./mutants.ts";
import { tryRefactorings } from "./refactorings.ts";
import { sourcesOf } from "./sources.ts";

const isTested = (mutant: Mutant): mutant is Tested => "tests" in mutant;

const root = join(import.meta.dirname, "..", "..", "..");

type Result = {
  readonly name: string;
  readonly promise: string;
  readonly seconds: number;
  /** The sweep case or the test that failed; `violation` is its message. */
  readonly killedBy?: string;
  readonly violation?: string;
  /** The reason why the mutant was not killed or not tried. */
  readonly failure?: string;
};

const copied = ["shared", "infra", "functions", "test", "package.json"] as const;

/** The folder of the copies. It is the same for each run, so that Node's compile cache applies to the next run. */
const copies = join(root, ".cache", "mutants");

/** Copies the shipped sources, the sweep and the tests. Returns the folder. */
const copy = (index: number): string => {
  const folder = join(copies, String(index));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const part of copied) cpSync(join(root, part), join(folder, part), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  return folder;
};

/** The result of an edit: a function that takes it back, or the reason why it cannot be made. */
type Edited = { readonly undo: () => void } | { readonly failure: string };

/** Applies the edit of a mutant to a copy. */
const mutate = (folder: string, mutant: Mutant, sources: Sources): Edited => {
  const place = placeOf(mutant, sources);
  if ("failure" in place) return place;
  const path = join(folder, place.file);
  const text = readFileSync(path, "utf8");
  writeFileSync(path, edited(text, place));
  return { undo: () => writeFileSync(path, text) };
};

/** The output of a run and the failures that it reported; `sights` is undefined if the run did not finish. */
type Seen = { readonly said: string; readonly sights: readonly Sight[] | undefined };
type Sight = { readonly by: string; readonly what: string };

/** Runs a script of the copy to its end. Returns the last 2,000 characters of its output and the JSON that it wrote. */
const run = <Read>(
  folder: string,
  script: string,
  args: readonly string[],
): Promise<{ readonly result: Read | undefined; readonly said: string }> =>
  new Promise((resolve) => {
    const file = join(folder, "result.json");
    rmSync(file, { force: true });
    const command = ["--disable-warning=ExperimentalWarning", join(folder, script), "--json", file, ...args];
    const child = spawn(process.execPath, command, { cwd: folder });
    let said = "";
    const hear = (chunk: Buffer): void => {
      said = (said + chunk.toString("utf8")).slice(-2_000);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("close", () =>
      resolve({ result: existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Read) : undefined, said }),
    );
  });

type Violated = { readonly violations: readonly { readonly id: string; readonly violations: readonly string[] }[] };

/**
 * Sweeps scenarios in a copy, by one thread unless `more` has `--threads`; `--seed` in it draws a part of the cases.
 */
const sweepIn = async (
  folder: string,
  scenarios: readonly string[],
  fault: string,
  more: readonly string[] = [],
): Promise<Seen> => {
  const chosen = scenarios.flatMap((name) => ["--scenario", name]);
  const args = [
    "--first",
    ...(more.includes("--threads") ? [] : ["--threads", "1"]),
    ...chosen,
    "--fault",
    fault,
    ...more,
  ];
  const { result, said } = await run<Violated>(folder, "test/proof/sweep/run.ts", args);
  return { said, sights: result?.violations.map(({ id, violations }) => ({ by: id, what: violations[0] ?? "" })) };
};

type Ran = { readonly failures: readonly { readonly file: string; readonly name: string; readonly message: string }[] };

const testsIn = async (folder: string, tests: readonly string[]): Promise<Seen> => {
  const { result, said } = await run<Ran>(folder, "test/run.ts", ["--first", ...tests]);
  const sights = result?.failures.map(({ file, name, message }) => ({ by: `${file}: ${name}`, what: message }));
  return { said, sights };
};

/** Tries one mutant in a copy and restores the copy. */
const tried = async (folder: string, mutant: Mutant, sources: Sources): Promise<Omit<Result, "seconds">> => {
  const { name, promise } = mutant;
  const made = mutate(folder, mutant, sources);
  if ("failure" in made) return { name, promise, failure: made.failure };
  try {
    const { sights, said } = isTested(mutant)
      ? await testsIn(folder, mutant.tests)
      : await sweepIn(folder, mutant.scenarios, mutant.fault);
    const [first] = sights ?? [];
    if (sights === undefined) return { name, promise, failure: `nothing ran to its end: ${said.trim().slice(-600)}` };
    if (first === undefined) return { name, promise, failure: "survived: nothing that is named sees it" };
    return { name, promise, killedBy: first.by, violation: first.what };
  } finally {
    made.undo();
  }
};

const tell = ({ name, promise, seconds, killedBy, violation, failure }: Result): void => {
  const time = `${seconds.toFixed(1).padStart(5)} s`;
  if (failure !== undefined) {
    console.log(`✗ ${name.padEnd(26)} ${time}  ${promise}\n    ${failure}`);
    return;
  }
  console.log(
    `✓ ${name.padEnd(26)} ${time}  killed by ${killedBy}\n    ${(violation ?? "").split("\n").join(" ").slice(0, 150)}`,
  );
};

const each = <Item>(lists: readonly (readonly Item[])[]): readonly Item[] => [...new Set(lists.flat())];

/** Runs an unchanged copy, which must see no violation: otherwise every mutant would appear killed. */
const untouched = async (folder: string, chosen: readonly Mutant[], threads: number): Promise<Result> => {
  const began = performance.now();
  const isSwept = (mutant: Mutant): mutant is Swept => !isTested(mutant);
  const scenarios = each(chosen.filter(isSwept).map((mutant) => mutant.scenarios));
  const tests = each(chosen.filter(isTested).map((mutant) => mutant.tests));
  const seeded = ["--seed", "1", "--threads", String(threads)];
  const seen = [
    ...(scenarios.length === 0 ? [] : [await sweepIn(folder, scenarios, "crash-after|422", seeded)]),
    ...(tests.length === 0 ? [] : [await testsIn(folder, tests)]),
  ];
  const result = { name: "untouched", promise: "the copy without an edit has no violation" };
  const seconds = (performance.now() - began) / 1000;
  const troubled = seen.find(({ sights }) => sights === undefined || sights.length > 0);
  return { ...result, seconds, ...(troubled === undefined ? {} : { failure: troubled.said.trim().slice(-600) }) };
};

type Trying = { readonly folders: readonly string[]; readonly chosen: readonly Mutant[] };

/** Tries the unchanged copy and then all chosen mutants, one at a time in each folder. */
const tryAll = async ({ folders, chosen }: Trying): Promise<readonly Result[]> => {
  const results: Result[] = [];
  const [one = ""] = folders;
  const first = await untouched(one, chosen, folders.length);
  console.log(`${first.failure === undefined ? "✓" : "✗"} untouched: ${first.promise} (${first.seconds.toFixed(1)} s)`);
  if (first.failure !== undefined) console.log(first.failure);
  const waiting = [...chosen];
  const sources = sourcesOf(root);
  const work = async (folder: string): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const began = performance.now();
      const result = { ...(await tried(folder, next, sources)), seconds: (performance.now() - began) / 1000 };
      results.push(result);
      tell(result);
    }
  };
  await Promise.all(folders.map(work));
  return [first, ...results];
};

/** Tries refactorings in memory. Returns the numbers of edits that follow them, and of those that do not. */
const refactored = (chosen: readonly Mutant[]): { readonly passed: number; readonly failed: number } => {
  const { refactorings, tried: edits, broken } = tryRefactorings(chosen, sourcesOf(root));
  for (const { mutant, by, why } of broken) console.log(`✗ ${mutant}: ${by}\n    ${why}`);
  console.log(`${refactorings} refactorings, ${edits} edits after them`);
  return { passed: edits - broken.length, failed: broken.length };
};

const main = async (): Promise<void> => {
  const read = readArguments(process.argv.slice(2));
  if ("failure" in read) {
    console.error(read.failure);
    process.exitCode = 1;
    return;
  }
  const { values, chosen } = read;
  if (values.help) return console.log(help);
  if (values.refactorings) return conclude({ ...refactored(chosen), skipped: 0 });
  const threads = Number(values.threads ?? Math.min(4, availableParallelism()));
  const folders = Array.from({ length: threads }, (_, index) => copy(index));
  const all = await tryAll({ folders, chosen });
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  const failed = all.filter(({ failure }) => failure !== undefined).length;
  const details = { mutants: all.slice(1) };
  conclude(
    { passed: all.length - failed, failed, skipped: 0 },
    values.json === undefined ? undefined : { file: values.json, details },
  );
};

await main();
