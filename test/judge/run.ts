/** `npm run judge`: faults for any controller, from outside, on a real API server. */
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { conclude, proving, type Tally } from "../../infra/tally.ts";
import { startController } from "./controller.ts";
import { type Judged, tableOf } from "./report.ts";
import { type Plan, runSession, type Session } from "./session.ts";
import type { Subject } from "./subject.ts";
import { noisy, planted } from "./subjects/noisy/subject.ts";
import { rekindle } from "./subjects/rekindle/subject.ts";
import { openWorld, type World } from "./world.ts";

const help = `npm run judge -- --of NAME [--case NAME] [--minutes N] [--seed N] [--at-once N] [--json FILE]

  --of NAME      rekindle, or noisy: a toy controller with five planted faults, which must be found, and its sound twin
  --case NAME    repeats a case by its whole name, as it is printed, or runs the cases whose name contains this
  --minutes N    the time for cases, after the runs without fault (5)
  --seed N       the order of the cases (1)
  --at-once N    namespaces at once (8)
  --json FILE    the outcome as data

A proxy stands between the controller's process and a real API server; nodes are reported as a kubelet would. A case is a
scenario, a fault and a point, as in  rekindle/spark-retry/kill-after/POST pods#1/seed 7 . A problem is tried again alone
before it counts, and then reduced.`;

type Options = Omit<Plan, "say">;

const judge = async (world: World, subject: Subject, options: Options): Promise<Judged> => {
  console.log(`\n${subject.name}`);
  const controller = await startController(world, subject);
  try {
    const plan = { ...options, say: console.log };
    const session = await runSession({ world, subject, controller }, plan);
    if (session.findings.length > 0 && subject.name === "rekindle")
      console.log(`\nthe end of its log\n${(await readFile(controller.log, "utf8")).slice(-3_000)}`);
    return { subject: subject.name, version: await subject.version(), session };
  } finally {
    await controller.stop();
  }
};

const tallyOf = ({ cases, unfired, findings, habits }: Session): Tally => ({
  passed: cases - unfired - findings.length,
  failed: findings.length + habits.length,
  skipped: unfired,
});

/** Each planted fault must be found in its row, and nothing in the sound twin under the same cases. */
const judgeNoisy = async (world: World, options: Options): Promise<{ judged: readonly Judged[]; tally: Tally }> => {
  const judged: Judged[] = [];
  let [passed, failed] = [0, 0];
  for (const { fault, row, part } of planted) {
    const one = await judge(world, noisy(fault), { ...options, part });
    const isFound = one.session.findings.some(({ problems }) => problems.some((problem) => problem.row === row));
    if (isFound) passed += 1;
    else failed += 1;
    console.log(`${isFound ? "✔" : "✖"} ${fault} is found as ${row}`);
    judged.push(one);
  }
  const sound = await judge(world, noisy(""), options);
  const quiet = tallyOf(sound.session);
  return {
    judged: [...judged, sound],
    tally: { ...quiet, passed: passed + quiet.passed, failed: failed + quiet.failed },
  };
};

const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      help: { type: "boolean" },
      of: { type: "string", default: "" },
      case: { type: "string", default: "" },
      minutes: { type: "string", default: "5" },
      seed: { type: "string", default: "1" },
      "at-once": { type: "string", default: "8" },
      json: { type: "string" },
    },
  });
  if (values.help || !["rekindle", "noisy"].includes(values.of)) {
    console.log(help);
    process.exitCode = values.help ? 0 : 2;
    return;
  }
  const [minutes, seed, atOnce] = [values.minutes, values.seed, values["at-once"]].map(Number);
  const options = { minutes: minutes ?? 5, seed: seed ?? 1, atOnce: atOnce ?? 8, part: values.case };
  const world = await openWorld();
  try {
    if (values.of === "noisy") {
      const { judged, tally } = await judgeNoisy(world, options);
      console.log(`\n${tableOf(judged)}`);
      return conclude(tally, values.json === undefined ? undefined : { file: values.json, details: { judged } });
    }
    const judged = await judge(world, rekindle, options);
    console.log(`\n${tableOf([judged])}`);
    conclude(
      tallyOf(judged.session),
      values.json === undefined ? undefined : { file: values.json, details: { judged } },
    );
  } finally {
    await world.close();
  }
};

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(1));
await proving(main);
