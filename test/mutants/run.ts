/** `npm run mutants`: each promise of the engine removed from a copy of the sources; the sweep must see it. */
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { conclude } from "../../infra/tally.ts";
import { mutants as engineMutants, type Mutant } from "./mutants.ts";
import { upstreamMutants } from "./upstream.ts";

const mutants = [...engineMutants, ...upstreamMutants];

const help = `npm run mutants [-- [NAME…] [--threads N] [--json FILE]]

  NAME         only these
  --threads N  as many at once (default: one per processor, at most 4)
  --json FILE  writes the result as data, too

${mutants.map(({ name, promise }) => `  ${name.padEnd(26)} ${promise}`).join("\n")}`;

const root = join(import.meta.dirname, "..", "..");

type Result = {
  readonly name: string;
  readonly promise: string;
  readonly seconds: number;
  /** The case that saw it, and what it saw. */
  readonly killedBy?: string;
  readonly violation?: string;
  /** Why it proves nothing. */
  readonly failure?: string;
};

const copied = ["shared", "infra", "test/sweep", "package.json"] as const;

/** A copy of what ships and of the sweep. */
const copy = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "rekindle-mutant-"));
  for (const part of copied) cpSync(join(root, part), join(folder, part), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  return folder;
};

const occurrences = (text: string, part: string): number => text.split(part).length - 1;

/** Makes the one edit; says why not, if its text has changed. */
const mutate = (folder: string, { file, find, replace }: Mutant): string | undefined => {
  const path = join(folder, file);
  if (!existsSync(path)) return `there is no ${file} any more`;
  const text = readFileSync(path, "utf8");
  const found = occurrences(text, find);
  if (found !== 1) return `what it replaces stands ${found} times in ${file}: ${JSON.stringify(find.slice(0, 80))}`;
  writeFileSync(
    path,
    text.replace(find, () => replace),
  );
  return undefined;
};

type Swept = { readonly violations: readonly { readonly id: string; readonly violations: readonly string[] }[] };

const run = (
  folder: string,
  args: readonly string[],
): Promise<{ readonly swept: Swept | undefined; readonly said: string }> =>
  new Promise((resolve) => {
    const file = join(folder, "result.json");
    const script = ["--disable-warning=ExperimentalWarning", join(folder, "test/sweep/run.ts")];
    const child = spawn(process.execPath, [...script, "--first", "--threads", "1", "--json", file, ...args], {
      cwd: folder,
    });
    let said = "";
    const hear = (chunk: Buffer): void => {
      said = (said + chunk.toString("utf8")).slice(-2_000);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("close", () =>
      resolve({ swept: existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Swept) : undefined, said }),
    );
  });

const sweepOf = (mutant: Mutant): readonly string[] => [
  ...mutant.scenarios.flatMap((name) => ["--scenario", name]),
  "--fault",
  mutant.fault,
];

const tried = async (mutant: Mutant): Promise<Omit<Result, "seconds">> => {
  const { name, promise } = mutant;
  const folder = copy();
  try {
    const failure = mutate(folder, mutant);
    if (failure !== undefined) return { name, promise, failure };
    const { swept, said } = await run(folder, sweepOf(mutant));
    const [first] = swept?.violations ?? [];
    if (swept === undefined) return { name, promise, failure: `the sweep did not run: ${said.trim().slice(-600)}` };
    if (first === undefined) return { name, promise, failure: "survived: no case of the sweep sees it" };
    return { name, promise, killedBy: first.id, violation: first.violations[0] ?? "" };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const tell = ({ name, promise, seconds, killedBy, violation, failure }: Result): void => {
  const time = `${seconds.toFixed(1).padStart(5)} s`;
  if (failure !== undefined) {
    console.log(`✗ ${name.padEnd(26)} ${time}  ${promise}\n    ${failure}`);
    return;
  }
  console.log(`✓ ${name.padEnd(26)} ${time}  killed by ${killedBy}\n    ${(violation ?? "").slice(0, 150)}`);
};

/** Without an edit the copy must see nothing: else every mutant would seem killed. */
const untouched = async (chosen: readonly Mutant[]): Promise<Result> => {
  const began = performance.now();
  const folder = copy();
  try {
    const scenarios = [...new Set(chosen.flatMap((mutant) => mutant.scenarios))].flatMap((name) => [
      "--scenario",
      name,
    ]);
    const { swept, said } = await run(folder, [...scenarios, "--fault", "crash-after|422"]);
    const result = { name: "untouched", promise: "the copy without an edit has no violation" };
    const seconds = (performance.now() - began) / 1000;
    const clean = swept !== undefined && swept.violations.length === 0;
    return { ...result, seconds, ...(clean ? {} : { failure: said.trim().slice(-600) }) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const main = async (): Promise<void> => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { threads: { type: "string" }, json: { type: "string" }, help: { type: "boolean", short: "h" } },
  });
  if (values.help) return console.log(help);
  const chosen = mutants.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  const results: Result[] = [];
  const first = await untouched(chosen);
  console.log(`${first.failure === undefined ? "✓" : "✗"} untouched: ${first.promise} (${first.seconds.toFixed(1)} s)`);
  if (first.failure !== undefined) console.log(first.failure);
  const waiting = [...chosen];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const began = performance.now();
      const result = { ...(await tried(next)), seconds: (performance.now() - began) / 1000 };
      results.push(result);
      tell(result);
    }
  };
  const threads = Number(values.threads ?? Math.min(4, availableParallelism()));
  await Promise.all(Array.from({ length: threads }, work));
  const all = [first, ...results];
  const failed = all.filter(({ failure }) => failure !== undefined).length;
  const details = { mutants: results };
  conclude(
    { passed: all.length - failed, failed, skipped: 0 },
    values.json === undefined ? undefined : { file: values.json, details },
  );
};

await main();
