/** `npm run judge`: faults for any controller, from outside, on a real API server. */
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { conclude, proving, type Tally, tallyOf as tallyOfResults } from "../../infra/tally.ts";
import { readCase } from "./cases.ts";
import { startController } from "./controller.ts";
import { type Judged, tableOf } from "./report.ts";
import { type Plan, runSession, type Session } from "./session.ts";
import type { Subject } from "./subject.ts";
import { jobset } from "./subjects/jobset/subject.ts";
import { kubernetes } from "./subjects/kubernetes/subject.ts";
import { noisy, planted } from "./subjects/noisy/subject.ts";
import { modes } from "./subjects/rekindle/subject.ts";
import { sparkOperator } from "./subjects/spark-operator/subject.ts";
import { volcano } from "./subjects/volcano/subject.ts";
import { openWorld, type World } from "./world.ts";

const help = `npm run judge -- --of NAME [--mode MODE] [--case NAME] [--scenarios N] [--minutes N] [--seed N]
                     [--from N] [--at-once N] [--json FILE]

  --of NAME      rekindle; kubernetes: its controllers of Jobs; volcano; spark-operator: kubeflow's; jobset; or
                 noisy: a toy controller with five planted faults, which must be found, and its sound twin
  --mode MODE    of rekindle: ${Object.keys(modes).join(", ")}; without it all of them at once, each on a control plane of its own
  --case NAME    repeats a case by its whole name, as it is printed, or runs the cases whose name contains this
  --scenarios N  as many scenarios, drawn by the seed; without it all
  --minutes N    the time for cases of a controller, after its runs without fault (5)
  --seed N       the order of the cases (1)
  --from N       leaves out the first N cases of that order, which an earlier run has tried
  --at-once N    namespaces at once (24); a half of them where a fault strikes all watches, a quarter where it stops the process
  --json FILE    the outcome as data

A proxy stands between the controller's process and a real API server; nodes are reported as a kubelet would. A case is a
scenario, a fault and a point, as in  rekindle/spark-retry/kill-after/POST pods#1/seed 7 . A problem is tried again alone
before it counts, and then reduced.`;

const judge = async (world: World, subject: Subject, plan: Plan): Promise<Judged> => {
  plan.say(`\n${subject.name}`);
  const controller = await startController(world, subject);
  try {
    const session = await runSession({ world, subject, controller }, plan);
    if (session.findings.length > 0 && subject.name.startsWith("rekindle"))
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

const sumOf = (tallies: readonly Tally[]): Tally => ({
  passed: tallies.reduce((sum, { passed }) => sum + passed, 0),
  failed: tallies.reduce((sum, { failed }) => sum + failed, 0),
  skipped: tallies.reduce((sum, { skipped = 0 }) => sum + skipped, 0),
});

/** Controllers of other projects. */
const others: readonly Subject[] = [kubernetes, volcano, sparkOperator, jobset];

/** The whole name of a case selects its subject. */
const subjectsOf = (of: string, mode: string, part: string): readonly Subject[] => {
  const all =
    of === "rekindle"
      ? Object.entries(modes)
      : others.filter(({ name }) => name === of).map((one) => ["", one] as const);
  return all
    .filter(([word, { name }]) => (mode === "" || mode === word) && (!readCase(part) || part.startsWith(`${name}/`)))
    .map(([, subject]) => subject);
};

/** Runs a subject on a control plane of its own. */
const judgeAlone = async (subject: Subject, plan: Plan): Promise<Judged> => {
  const world = await openWorld(subject.planeFlags);
  try {
    return await judge(world, subject, plan);
  } finally {
    await world.close();
  }
};

/** Faults of the process strike all namespaces of a world, so subjects that run at once have a world each. */
const judgeApart = (subjects: readonly Subject[], plan: Plan): Promise<readonly Judged[]> =>
  Promise.all(
    subjects.map((subject) =>
      judgeAlone(
        subject,
        subjects.length === 1 ? plan : { ...plan, say: (line) => plan.say(`${subject.name}: ${line}`) },
      ),
    ),
  );

/** Runs a subject beside others, and prints its lines when it has ended. */
const judgeBeside = async (world: World, subject: Subject, plan: Plan): Promise<Judged> => {
  const lines: string[] = [];
  const judged = await judge(world, subject, { ...plan, say: (line) => void lines.push(line) });
  console.log(lines.join("\n"));
  return judged;
};

type Outcome = { readonly judged: readonly Judged[]; readonly tally: Tally };

/**
 * Each planted fault must be found in its row, and nothing in the sound twin under the same cases. Each toy looks after
 * the namespaces with its own name, so that all run at once in one world.
 */
const judgeToys = async (world: World, plan: Plan): Promise<Outcome> => {
  const [sound, ...judged] = await Promise.all([
    judgeBeside(world, noisy(""), plan),
    ...planted.map(({ fault, part }) => judgeBeside(world, noisy(fault), { ...plan, part })),
  ]);
  const found = planted.map(({ fault, row }, nth) => {
    const ok = judged[nth]?.session.findings.some(({ problems }) => problems.some((one) => one.row === row)) === true;
    console.log(`${ok ? "✔" : "✖"} ${fault} is found as ${row}`);
    return { ok };
  });
  return { judged: [...judged, sound], tally: sumOf([tallyOfResults(found), tallyOf(sound.session)]) };
};

const judgeNoisy = async (plan: Plan): Promise<Outcome> => {
  const world = await openWorld();
  try {
    return await judgeToys(world, plan);
  } finally {
    await world.close();
  }
};

const judgeSubjects = async (subjects: readonly Subject[], plan: Plan): Promise<Outcome> => {
  const judged = await judgeApart(subjects, plan);
  return { judged, tally: sumOf(judged.map(({ session }) => tallyOf(session))) };
};

const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      help: { type: "boolean" },
      of: { type: "string", default: "" },
      mode: { type: "string", default: "" },
      case: { type: "string", default: "" },
      scenarios: { type: "string", default: "0" },
      minutes: { type: "string", default: "5" },
      seed: { type: "string", default: "1" },
      from: { type: "string", default: "0" },
      "at-once": { type: "string", default: "24" },
      json: { type: "string" },
    },
  });
  const subjects = subjectsOf(values.of, values.mode, values.case);
  if (values.help || (values.of !== "noisy" && subjects.length === 0)) {
    console.log(help);
    process.exitCode = values.help ? 0 : 2;
    return;
  }
  const plan: Plan = {
    say: console.log,
    ...{ minutes: Number(values.minutes), seed: Number(values.seed), scenarios: Number(values.scenarios) },
    ...{ atOnce: Number(values["at-once"]), from: Number(values.from), part: values.case },
  };
  const { judged, tally } = await (values.of === "noisy" ? judgeNoisy(plan) : judgeSubjects(subjects, plan));
  console.log(`\n${tableOf(judged)}`);
  conclude(tally, values.json === undefined ? undefined : { file: values.json, details: { judged } });
};

// A signal that comes twice, from a terminal's group and from npm, must not cut the cleaning up of the first.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => process.exit(1));
await proving(main);
