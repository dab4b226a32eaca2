/**
 * `npm run bench -- sweep`: the processor time of a case of the sweep, over some faults of some scenarios of each
 * kind. It decides how many cases the whole sweep can afford.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import type { Figure } from "./figures.ts";
import { ownSeconds } from "./seconds.ts";

const scenarios = ["completion", "loss", "job-completion", "hosted-job-completion"];
/** Names of faults: deaths around each call, answers that are late, and reads that are behind. */
const faults = "crash-.*|late|stale.*";

/** The whole sweep is to have so many cases in so many CPU seconds. */
const whole = { cases: 250_000, cpuSeconds: 1_200 };

const swept = z.object({ passed: z.number(), failed: z.number() });

const run = (args: readonly string[]): Promise<number> =>
  new Promise((resolve, reject) => {
    const script = join(import.meta.dirname, "../proof/sweep/run.ts");
    const child = spawn(process.execPath, [...process.execArgv, script, ...args], { stdio: ["ignore", 2, "inherit"] });
    child.once("error", reject);
    child.once("exit", (code) => resolve(code ?? 1));
  });

/** Throws when a case violates a promise. */
export const benchSweep = async (): Promise<readonly Figure[]> => {
  const dir = mkdtempSync(join(tmpdir(), "rekindle-bench-sweep-"));
  try {
    const file = join(dir, "sweep.json");
    const before = ownSeconds();
    const of = scenarios.flatMap((name) => ["--scenario", name]);
    const code = await run(["--singles", "--fault", faults, ...of, "--json", file]);
    const cpu = ownSeconds() - before;
    const { passed, failed } = swept.parse(JSON.parse(readFileSync(file, "utf8")));
    if (code !== 0) throw new Error(`${failed} cases of the sweep failed`);
    const perCase = (cpu * 1_000) / passed;
    const aim = (whole.cpuSeconds * 1_000) / whole.cases;
    return [
      { name: `sweep.${scenarios.length}-scenarios.cases`, value: passed, unit: "cases" },
      { name: `sweep.${scenarios.length}-scenarios.cpu-per-case`, value: perCase, unit: "ms", aim },
    ];
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
};
