/**
 * `npm run soak`: leads random lives by seeds, and the first of them also under rules that submit before they write.
 */
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { conclude } from "../../../infra/tally.ts";
import { type Counts, noCounts } from "./census.ts";
import { openInitialCluster } from "./fixture.ts";
import { type Led, lead } from "./lead.ts";
import { others, ours, type Rule, ruleNamed } from "./rules.ts";

const help = `npm run soak [-- [--steps N] [--from SEED] [--seed N [--rule NAME]] [--replay] [--threads N] [--json FILE]]

  --steps N     ends with the life in which so many steps were taken (default 50000). A step is one invocation: of a key's
                step, or of a resync; each makes some five requests
  --from SEED   the first seed (default 1)
  --seed N      leads the life of this seed alone and prints all that happens in it
  --rule NAME   with --seed: whose rule decides
  --replay      records every decision as JSON, takes it again, and counts each difference as a violation
  --threads N   as many at once (default: one per processor, at most 4)
  --json FILE   writes the result as data, too

Rules:
${[ours, ...others].map(({ name, says }) => `  ${name.padEnd(16)} ${says}`).join("\n")}`;

/** The share of the steps that each other rule takes for comparison: fewer steps suffice for a rate. */
const compared = 0.02;
const hourMs = 3_600_000;

type Sum = {
  lives: number;
  steps: number;
  calls: number;
  replayed: number;
  simulatedMs: number;
  readonly counts: Counts;
  readonly red: Led[];
};

const add = (sum: Sum, led: Led): void => {
  sum.lives += 1;
  sum.steps += led.steps;
  sum.calls += led.calls;
  sum.replayed += led.replayed;
  sum.simulatedMs += led.simulatedMs;
  for (const name of Object.keys(sum.counts) as (keyof Counts)[]) sum.counts[name] += led.counts[name];
  if (led.violations.length > 0) sum.red.push(led);
};

type Running = {
  readonly rule: Rule;
  readonly from: number;
  readonly steps: number;
  readonly threads: number;
  readonly replay: boolean;
};

/** Prints a line of progress at most every 20 s. */
const openProgress = (steps: number) => {
  const began = performance.now();
  let last = began;
  return (sum: Sum): void => {
    if (performance.now() - last < 20_000) return;
    last = performance.now();
    const seconds = Math.round((last - began) / 1_000);
    console.log(`  … ${sum.steps} of ${steps} steps, ${sum.lives} lives, ${sum.red.length} red  ${seconds} s`);
  };
};

const tellRed = ({ seed, violations }: Led): void => {
  console.log(`✗ seed ${seed}: npm run soak -- --seed ${seed}`);
  for (const violation of violations.slice(0, 4)) console.log(`    ${violation.slice(0, 300)}`);
};

/** Leads lives from the seed `from` on until they have taken `steps` steps. */
const run = ({ rule, from, steps, threads, replay }: Running): Promise<Sum> =>
  new Promise((resolve, reject) => {
    const sum: Sum = { lives: 0, steps: 0, calls: 0, replayed: 0, simulatedMs: 0, counts: noCounts(), red: [] };
    const progress = openProgress(steps);
    let next = from;
    let open = threads;
    const give = (worker: Worker): void => {
      if (sum.steps < steps) {
        worker.postMessage(next);
        next += 1;
        return;
      }
      open -= 1;
      void worker.terminate();
      if (open === 0) resolve(sum);
    };
    for (let i = 0; i < threads; i += 1) {
      // As in the sweep: the objects of a life become garbage at its end; a large young generation copies few of them.
      const resourceLimits = { maxYoungGenerationSizeMb: 96 };
      const worker = new Worker(new URL("./worker.ts", import.meta.url), {
        workerData: { rule: rule.name, replay },
        resourceLimits,
      });
      worker.on("error", reject);
      worker.on("message", (led: Led | undefined) => {
        if (led !== undefined) {
          add(sum, led);
          if (led.violations.length > 0 && sum.red.length <= 12) tellRed(led);
          progress(sum);
        }
        give(worker);
      });
    }
  });

const per = (count: number, sum: Sum): string => {
  const rate = count === 0 ? "none" : `one in ${Math.round(sum.steps / count)} steps`;
  return `${count} (${rate})`;
};

const tell = ({ name, says }: Rule, sum: Sum): void => {
  const { doubleDrivers, doubledIds, failedThoughRunning, drivers, executors } = sum.counts;
  console.log(`\n${name}: ${says}`);
  console.log(
    `  ${sum.steps} steps (${sum.calls} calls) in ${sum.lives} lives, ${Math.round(sum.simulatedMs / hourMs)} simulated hours, ${drivers} drivers, ${executors} executors`,
  );
  console.log(`  two drivers at once: ${per(doubleDrivers, sum)}`);
  console.log(`  an executor's id given twice: ${per(doubledIds, sum)}`);
  console.log(`  called failed while its driver ran: ${per(failedThoughRunning, sum)}`);
};

const one = async (seed: number, rule: Rule): Promise<void> => {
  const led = await lead({ initialCluster: openInitialCluster(), rule, trace: true }, seed);
  console.log(led.lines.join("\n"));
  for (const violation of led.violations) console.log(`✗ seed ${seed}: ${violation}`);
  console.log(`${led.steps} steps, ${led.calls} calls, ${JSON.stringify(led.counts)}`);
  const failed = led.violations.length > 0 ? 1 : 0;
  conclude({ passed: 1 - failed, failed, skipped: 0 });
};

type Soaking = Omit<Running, "rule"> & { readonly json: string | undefined };

const soak = async ({ steps, from, threads, replay, json }: Soaking): Promise<void> => {
  const began = performance.now();
  const sum = await run({ rule: ours, from, steps, threads, replay });
  const seconds = (performance.now() - began) / 1_000;
  tell(ours, sum);
  console.log(
    `  seeds ${from} to ${from + sum.lives - 1}; ${sum.red.length} red; ${Math.round(sum.steps / seconds)} steps per second`,
  );
  if (replay) console.log(`  ${sum.replayed} decisions were taken again from their recordings`);
  const comparison: Record<string, unknown> = {};
  for (const rule of others) {
    const other = await run({ rule, from, steps: steps * compared, threads, replay: false });
    tell(rule, other);
    comparison[rule.name] = { ...other, red: undefined };
  }
  const seen = Object.values(comparison).length;
  const red = sum.red.map(({ seed, violations }) => ({ seed, violations }));
  const details = { ...sum, red, seconds, comparison, rules: seen };
  conclude(
    { passed: sum.lives - sum.red.length, failed: sum.red.length, skipped: 0 },
    json === undefined ? undefined : { file: json, details },
  );
};

const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      steps: { type: "string" },
      from: { type: "string" },
      seed: { type: "string" },
      rule: { type: "string" },
      threads: { type: "string" },
      replay: { type: "boolean", default: false },
      json: { type: "string" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) return console.log(help);
  if (values.seed !== undefined) return one(Number(values.seed), ruleNamed(values.rule ?? ours.name));
  const threads = Number(values.threads ?? Math.min(4, availableParallelism()));
  const { replay, json } = values;
  await soak({ steps: Number(values.steps ?? 50_000), from: Number(values.from ?? 1), threads, replay, json });
};

await main();
