/**
 * `npm run bench`: all parts, each in a process of its own, those that load the machine one after the other; then one table of
 * all figures with their floors, and the share of the processors that other processes took meanwhile.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { conclude, tallyOf } from "../../infra/tally.ts";
import { columns } from "../../shared/inspection/io/text.ts";
import { type Figure, figureShape } from "./figures.ts";
import { publish, quietShare } from "./published.ts";
import { busySeconds, ownSeconds } from "./seconds.ts";

/** The arguments of each part, in the order of their costs. */
export const parts: Readonly<Record<string, readonly string[]>> = {
  bundle: ["bundle"],
  functions: ["functions"],
  dispatch: ["functions", "--part", "dispatch"],
  cloud: ["cloud"],
  bell: ["bell"],
  submit: ["submit", "--admission"],
  alone: ["alone", "--count", "100"],
  elastic: ["elastic"],
  burst: ["submit", "--burst", "3000"],
  fairness: ["fairness"],
  job: ["job"],
  gang: ["gang"],
  recovery: ["recovery"],
  restart: ["restart", "--count", "300"],
  settled: ["settled", "--count", "10000,100000"],
  upstream: ["upstream", "--count", "1500"],
  sweep: ["sweep"],
  page: ["page", "--part", "browser"],
  viewers: ["page", "--part", "viewers"],
  sixthousand: ["upstream"],
};

/**
 * Parts that run side by side, because each waits for most of its time, or takes its time from the simulator's clock. The first
 * ones have times of single starts and events among their figures, so those that load the machine more are apart.
 */
const together: readonly (readonly string[])[] = [
  ["functions", "dispatch", "cloud"],
  ["viewers", "restart", "elastic"],
];

/** Returns the parts in the order of their runs; those of one entry run side by side. */
export const roundsOf = (names: readonly string[]): readonly (readonly string[])[] => {
  const waits = new Set(together.flat());
  const alone = names.filter((name) => !waits.has(name)).map((name) => [name]);
  const besides = together.map((round) => round.filter((name) => names.includes(name)));
  return [...alone, ...besides].filter(({ length }) => length > 0);
};

/** Without `sixthousand`, which alone takes as long as the others together. */
export const usualParts: readonly string[] = Object.keys(parts).filter((name) => name !== "sixthousand");

const shape = z.object({ figures: z.array(figureShape) });

export type Part = {
  readonly name: string;
  readonly ok: boolean;
  readonly seconds: number;
  /** The share of the processors' time that other processes took. */
  readonly others: number;
  readonly figures: readonly Figure[];
};

const exitOf = (args: readonly string[]): Promise<number> =>
  new Promise((resolve, reject) => {
    const script = join(import.meta.dirname, "run.ts");
    const child = spawn(process.execPath, [...process.execArgv, script, ...args], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    child.once("error", reject);
    child.once("exit", (code) => resolve(code ?? 1));
  });

const figuresIn = (file: string): readonly Figure[] => shape.parse(JSON.parse(readFileSync(file, "utf8"))).figures;

const secondsSince = (began: number): number => (performance.now() - began) / 1_000;

/** Measures parts side by side. The share of other processes is that of the whole round. */
const measured = async (names: readonly string[], dir: string): Promise<readonly Part[]> => {
  const [began, busy, own] = [performance.now(), busySeconds(), ownSeconds()];
  const ended = await Promise.all(
    names.map(async (name) => {
      const file = join(dir, `${name}.json`);
      const code = await exitOf([...(parts[name] ?? []), "--json", file]);
      return { name, ok: code === 0, seconds: secondsSince(began), figures: code === 0 ? figuresIn(file) : [] };
    }),
  );
  const others = busySeconds() - busy - (ownSeconds() - own);
  const share = Math.max(0, others) / (secondsSince(began) * availableParallelism());
  return ended.map((part) => ({ ...part, others: share }));
};

const numberText = (value: number): string =>
  value >= 100 || Number.isInteger(value) ? value.toFixed(0) : value.toPrecision(3);

/** The rows of the table: name, value, unit, floor, ratio to the floor, aim. */
export const rowsOf = (figures: readonly Figure[]): readonly (readonly string[])[] => [
  ["figure", "value", "unit", "floor", "ratio", "aim"],
  ...figures.map(({ name, value, unit, floor, aim }) => [
    ...[name, numberText(value), unit],
    ...(floor === undefined ? ["", ""] : [numberText(floor), (value / floor).toFixed(2)]),
    aim === undefined ? "" : `${numberText(aim)}${value > aim ? ", missed" : ""}`,
  ]),
];

const loadText = ({ name, seconds, others }: Part): string =>
  `${name}: ${seconds.toFixed(0)} s, ${others < quietShare ? "on a quiet machine" : `beside other processes, which took ${(100 * others).toFixed(0)} % of the processors: its times are too long`}`;

type Results = {
  /** The file that gets all as data. */
  readonly json: string | undefined;
  /** Whether README gets the figures. */
  readonly publishes: boolean;
};

/** Measures the parts of these names, and prints the table. The figures of a part that failed are not published. */
export const benchWhole = async (names: readonly string[], { json, publishes }: Results): Promise<void> => {
  const unknown = names.filter((name) => parts[name] === undefined);
  if (unknown.length > 0) throw new Error(`no part ${unknown.join(", ")}: ${Object.keys(parts).join(", ")}`);
  const dir = mkdtempSync(join(tmpdir(), "rekindle-bench-"));
  try {
    const found: Part[] = [];
    const began = performance.now();
    for (const round of roundsOf(names))
      for (const part of await measured(round, dir)) {
        found.push(part);
        console.log(part.ok ? loadText(part) : `${part.name}: failed after ${part.seconds.toFixed(0)} s`);
        if (publishes && part.ok) publish(part, new Date().toISOString());
      }
    console.log(`${found.length} parts: ${secondsSince(began).toFixed(0)} s`);
    console.log(`\n${columns(rowsOf(found.flatMap(({ figures }) => figures)))}`);
    const details = { measuredAt: new Date().toISOString(), processors: availableParallelism(), parts: found };
    conclude(tallyOf(found), json === undefined ? undefined : { file: json, details });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
};
