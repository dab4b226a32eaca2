/**
 * `npm run attack`: attacks of tenants, strangers, listeners and drivers on the built host, at no cost to a neighbour.
 */
import { parseArgs } from "node:util";
import { conclude, proving } from "../../../infra/tally.ts";
import { enterNamespace, isInside } from "../../real/cluster/netns.ts";
import { build } from "../../real/e2e/installed.ts";
import { ensure } from "../../real/setup/ensure.ts";
import { all } from "./all.ts";
import { type Attack, classes, longestSilenceMs, mostResident, type StageName, stages } from "./attack.ts";
import { openClusterStages } from "./cluster-stage.ts";
import { judged, type Verdict } from "./judge.ts";
import { openSimulatedStage } from "./simulated-stage.ts";
import { atRest, type Stand } from "./stand.ts";

const help = `npm run attack [-- [--short] [--only TEXT] [--list] [--json FILE]]

  --short      the cases of the short form: some two minutes
  --only TEXT  only the cases of this class, or whose name contains this; may be repeated
  --list       name them, and stop
  --json FILE  the outcome as data: of each case its seconds, the neighbour's, the longest silence, memory

Classes: ${classes.join(", ")}.
Each case runs against the built host with the heap that it has in its container, on a real control plane under the shipped service account or
on an API server that the attack owns; those named "dispatcher" against the built dispatcher and its functions. A tenant
forges signs and records under an account of its own namespaces. Beside each case a second tenant applies an application,
whose driver must be there as soon as alone (× 2; 3 s are noise). The host must never be silent for more than
${longestSilenceMs} ms, stay below ${mostResident} MiB, and live. Needs root: all lives in a network namespace of its own.`;

type Opened = Stand & { readonly close: () => Promise<void> };

const aloneTimes = 5;

/** The longest time of a neighbour without an attack that a busy machine explains, ms; the host causes a longer one. */
const slowestAloneMs = 15_000;

/**
 * Judges an attack. If only the neighbour was slow, the machine may have been busy, or the API server with what attacks
 * have left behind: measures the neighbour again when it is at rest, and repeats the attack.
 */
const fairly = async (attack: Attack, stand: Stand, alone: number[]): Promise<Verdict> => {
  const first = await judged(attack, { stand, alone });
  if (first.outcome !== "failed" || !first.onlySlow) return first;
  const again = await atRest(stand);
  if (again > slowestAloneMs) return first;
  return await judged(attack, { stand, alone: [again] });
};

/** Runs attacks on one stage, and opens it again after an attack that broke its host: the next attack starts clean. */
const onStage = async (attacks: readonly Attack[], open: () => Promise<Opened>): Promise<readonly Verdict[]> => {
  const verdicts: Verdict[] = [];
  let stand = await open();
  try {
    const alone: number[] = [];
    for (let nth = 0; nth < aloneTimes; nth += 1) alone.push(await stand.neighbour());
    console.log(`    alone: ${alone.map((ms) => Math.round(ms)).join(", ")} ms`);
    for (const attack of attacks) {
      const verdict = await fairly(attack, stand, alone);
      verdicts.push(verdict);
      tell(verdict);
      if (stand.host.exited() || stand.host.resident() > mostResident || verdict.silenceMs > 5_000) {
        await stand.host.kill();
        await stand.close();
        stand = await open();
      }
    }
  } finally {
    await stand.close();
  }
  return verdicts;
};

const signs = { passed: "✔", failed: "✖", skipped: "–" } as const;

const tell = ({ outcome, class: of, name, ms, neighbourMs, silenceMs, residentMiB, problems }: Verdict): void => {
  const figures = `${ms} ms, neighbour ${neighbourMs}, silence ${silenceMs}, ${residentMiB} MiB`;
  console.log(`${signs[outcome]} ${of}: ${name} (${figures})`);
  for (const problem of problems) console.log(`    ${problem}`);
};

const isChosen = ({ class: of, name, short }: Attack, only: readonly string[], isShort: boolean): boolean =>
  (only.length === 0 || only.some((text) => of === text || name.includes(text))) && (!isShort || short === true);

const onCluster = async (chosen: (stage: StageName) => readonly Attack[]): Promise<readonly Verdict[]> => {
  const wanted = stages.filter((stage) => stage !== "simulated").filter((stage) => chosen(stage).length > 0);
  if (wanted.length === 0) return [];
  const plane = await openClusterStages();
  const verdicts: Verdict[] = [];
  try {
    for (const stage of wanted) verdicts.push(...(await onStage(chosen(stage), () => plane.open(stage))));
  } finally {
    await plane.stop();
  }
  return verdicts;
};

const onSimulator = async (attacks: readonly Attack[]): Promise<readonly Verdict[]> =>
  attacks.length === 0 ? [] : await onStage(attacks, openSimulatedStage);

/**
 * Runs the attacks of all stages. The short form attacks both API servers at once: each host must withstand its own
 * attacks beside those on the other.
 */
const onStages = async (
  chosen: (stage: StageName) => readonly Attack[],
  isShort: boolean,
): Promise<readonly Verdict[]> => {
  if (!isShort) return [...(await onCluster(chosen)), ...(await onSimulator(chosen("simulated")))];
  return (await Promise.all([onCluster(chosen), onSimulator(chosen("simulated"))])).flat();
};

const tellClasses = (verdicts: readonly Verdict[]): void => {
  for (const of of classes) {
    const those = verdicts.filter((one) => one.class === of);
    const bad = those.filter(({ outcome }) => outcome === "failed").length;
    if (those.length > 0) console.log(`${of.padEnd(10)} ${those.length - bad} of ${those.length}`);
  }
  const most = (pick: (one: Verdict) => number): number => Math.max(0, ...verdicts.map(pick));
  console.log(
    `longest silence ${most((one) => one.silenceMs)} ms, most memory ${most((one) => one.residentMiB)} MiB, slowest neighbour ${most((one) => one.neighbourMs)} ms`,
  );
};

const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      help: { type: "boolean", short: "h" },
      list: { type: "boolean", default: false },
      short: { type: "boolean", default: false },
      only: { type: "string", multiple: true, default: [] },
      json: { type: "string" },
    },
  });
  if (values.help === true) return console.log(help);
  const attacks = all.filter((one) => isChosen(one, values.only, values.short));
  if (values.list) return console.log(attacks.map(({ class: of, name }) => `${of}: ${name}`).join("\n"));
  if (!isInside()) {
    await ensure(attacks.some(({ stage }) => stage !== "simulated") ? ["system", "go"] : ["system"]);
    await build();
  }
  await enterNamespace();
  const chosen = (stage: StageName): readonly Attack[] => attacks.filter((one) => one.stage === stage);
  const verdicts = await onStages(chosen, values.short);
  tellClasses(verdicts);
  const count = (outcome: Verdict["outcome"]): number => verdicts.filter((one) => one.outcome === outcome).length;
  const tally = { passed: count("passed"), failed: count("failed"), skipped: count("skipped") };
  conclude(tally, values.json === undefined ? undefined : { file: values.json, details: { verdicts } });
};

await proving(main);
