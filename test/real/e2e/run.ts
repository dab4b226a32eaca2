/** `npm run e2e`: a real control plane, real Spark, the built bundle under the shipped service account, killed at random. */
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { conclude, proving, tallyOf } from "../../../infra/tally.ts";
import { dataDir } from "../../support/data.ts";
import { openAudit, withFlags } from "../cluster/audit.ts";
import { startCluster } from "../cluster/cluster.ts";
import { enterNamespace, isInside } from "../cluster/netns.ts";
import { randomFrom } from "../lambda/random.ts";
import { ensure } from "../setup/ensure.ts";
import { onBell } from "./bell/lane.ts";
import { cloudLane } from "./cloud/lane.ts";
import { dispatched, dispatchedBell } from "./dispatch/lane.ts";
import { families, familyNames } from "./families.ts";
import type { Family, Which } from "./family.ts";
import { type Lane, runLane } from "./functions/lane.ts";
import { build, install } from "./installed.ts";
import { lambdaLane } from "./lambda/lane.ts";
import { apacheMigrateLane } from "./migrate/apache-lane.ts";
import { migrateLane } from "./migrate/lane.ts";
import { volcanoMigrateLane } from "./migrate/volcano-lane.ts";
import { onNats } from "./nats/lane.ts";
import { pageLane } from "./page/lane.ts";
import { leaveRights } from "./rights.ts";
import type { Case, Scene } from "./scene.ts";

const help = `npm run e2e [-- [--family NAME | --lambda | --dispatch [--bell] | --nats | --bell | --cloud | --migrate | --triggers | --gang | --page [--picture FILE]] [--crds ours|upstream] [--case TEXT] [--kills N] [--short] [--seed N] [--json FILE]]

  --family NAME ${Object.entries(families)
    .map(([name, { about }]) => `${name}: ${about}`)
    .join(`\n${" ".repeat(16)}`)}
  --lambda      functions behind a queue instead of a host: the built bundles in environments of the real runtime
                client, killed, frozen, their messages doubled and delayed
  --dispatch    functions that a dispatcher calls over HTTP: processes that are started with the first call, stopped
                when idle, and killed, and so is the dispatcher; with --bell the API server's webhook rings at it, and no
                watch is open
  --nats        functions whose queue is on NATS, under its overlay's settings: workers are started while messages wait,
                stopped when idle, and killed, and so are the forwarder, the API, and NATS' server (10 times, 3 below 200 kills)
  --bell        the same without a forwarder: the API server's webhook rings at the built bell, which is killed, and hangs
                (for two minutes, 15 s below 200 kills); in the storm annotations ring, and no trigger comes
  --cloud       infra/aws/template.yaml as it is deployed: its functions, queues, table, mappings, schedules, routes and
                rights; records moved in mid-run, the cluster lost and restored into another one
  --migrate     kubeflow's operator, and then Volcano's controllers, are left, what they ran adopted, and given back;
                with their CRDs and webhooks; --family spark, volcano or apache is one of them
  --triggers    the family of this name
  --gang        the family of this name, and those whose names begin with gang-
  --page        the page in a real Chromium, on simulated clusters; needs neither root nor a control plane
  --picture F   with --page: writes the README's picture of the demo's application into F, and runs no case
  --crds WHICH  only with these CRDs installed; without it the main family runs once with each, others with ours
  --case TEXT   only cases whose name contains it
  --kills N     at least so many SIGKILLs of the host (20), of environments (200, in --cloud 40), of
                functions and what sends to them (200)
  --short       the main family runs only upstream's examples with upstream's CRDs; --family spark leaves out the
                examples that the main family runs
  --seed N      moments of the kills; printed, so that a run can be repeated
  --json FILE   the outcome as data

Starts a real Kubernetes control plane and a node that runs pods as processes, in a network namespace of its own (root).`;

const sparkOperator: NonNullable<Family["upstream"]> = { folder: "spark-operator", group: "sparkoperator.k8s.io" };

/** The CRDs of a round: a folder of upstream's, which replace Rekindle's of the group. */
const crdsOf = ({ upstream = sparkOperator }: Family, which: Which) => ({
  folder: which === "ours" || dataDir === undefined ? undefined : join(dataDir, upstream.folder, "crds"),
  group: upstream.group,
});

type Result = {
  readonly name: string;
  readonly ok: boolean;
  /** Set if the case could not be run here. */
  readonly missing?: true;
  readonly seconds: number;
  readonly lines: readonly string[];
};

const attempt = async (one: Case, scene: Scene, label: string): Promise<Result> => {
  const began = performance.now();
  console.log(`▶ ${label}`);
  const ended = (ok: boolean, lines: readonly string[], missing = false): Result => {
    const seconds = Math.round((performance.now() - began) / 100) / 10;
    for (const line of lines) console.log(`    ${line}`);
    console.log(`${missing ? "– missing:" : ok ? "✔" : "✖"} ${label} (${seconds} s)`);
    return { name: label, ok, seconds, lines, ...(missing ? { missing } : {}) };
  };
  try {
    const outcome = await one.run(scene);
    return "missing" in outcome ? ended(true, [outcome.missing], true) : ended(true, outcome);
  } catch (error) {
    return ended(false, [error instanceof Error ? error.message : String(error), `host log: ${scene.hostLog}`]);
  }
};

type Chosen = Omit<ReturnType<Family["cases"]>, "skipped">;

/** Runs the cases one after the other, or in parallel inside `around`. */
const played = async ({ cases, around }: Chosen, scene: Scene, which: Which): Promise<readonly Result[]> => {
  const tried = (one: Case): Promise<Result> => attempt(one, scene, `${one.name} (${which} CRDs)`);
  if (around !== undefined) return await around(scene, () => Promise.all(cases.map(tried)));
  for (const one of cases) one.begin?.(scene);
  const results: Result[] = [];
  for (const one of cases) results.push(await tried(one));
  return results;
};

/** Runs the cases on a new cluster with the CRDs of `which`. */
const round = async (
  family: Family,
  which: Which,
  chosen: Chosen,
  { seed, only }: Pick<Wanted, "seed" | "only">,
): Promise<readonly Result[]> => {
  const dir = await mkdtemp(join(tmpdir(), `rekindle-e2e-${which}-`));
  const audit = await openAudit(join(dir, "audit"), "rekindle");
  const extra = withFlags(family.cluster?.extra, audit.flags);
  const cluster = await startCluster({ nodes: 1, ...family.cluster, extra, dir });
  try {
    const { folder, group } = crdsOf(family, which);
    const kubeconfig = await install(cluster, folder, group, family.kinds);
    const say = (line: string): void => console.log(`    ${line}`);
    const scene = { cluster, kubeconfig, hostLog: join(dir, "host.log"), say, random: randomFrom(seed) };
    const results = await played(chosen, scene, which);
    await leaveRights({ lane: `${nameOf(family)}-${which}`, only }, audit);
    return results;
  } finally {
    await cluster.stop();
  }
};

const nameOf = (family: Family): string => familyNames.find((name) => families[name] === family) ?? "";

type Outcome = { readonly results: readonly Result[]; readonly skipped: number };

type Wanted = {
  readonly seed: number;
  readonly kills: number;
  readonly only: string | undefined;
  readonly crds: string | undefined;
  readonly isShort: boolean;
};

const lacksPart = async ({ costly }: Family): Promise<boolean> => costly !== undefined && !(await costly.isReady());

/** Runs the cases of a family, once with each of its CRDs. */
const hostLane = async (family: Family, wanted: Wanted): Promise<Outcome> => {
  const { seed, kills, only, crds, isShort } = wanted;
  const recorded = dataDir === undefined ? undefined : join(dataDir, "spark-operator");
  const volcano = dataDir === undefined ? undefined : join(dataDir, "volcano");
  const apache = dataDir === undefined ? undefined : join(dataDir, "spark-kubernetes-operator");
  const rounds = family.crds.filter((which) => which === "ours" || recorded !== undefined);
  const results: Result[] = [];
  let left = family.crds.length - rounds.length;
  let unplayed = 0;
  for (const which of rounds) {
    const { skipped, ...all } = family.cases({ recorded, volcano, apache, kills, which, isShort });
    if (which === "ours") left += skipped;
    const chosen = { ...all, cases: all.cases.filter((one) => only === undefined || one.name.includes(only)) };
    if (chosen.cases.length === 0 || (crds !== undefined && crds !== which)) continue;
    if (await lacksPart(family)) unplayed += chosen.cases.length;
    else results.push(...(await round(family, which, chosen, { seed, only })));
  }
  if (left > 0) console.log("skipped: recorded data is not beside the project, so upstream's examples and CRDs");
  const part = family.costly?.name;
  if (unplayed > 0)
    console.log(`skipped: ${unplayed} cases of ${nameOf(family)}: run \`npm run setup -- ${part}\` first`);
  return { results, skipped: left + unplayed };
};

const lambdaOutcome = async (_: Family, wanted: Wanted): Promise<Outcome> => ({
  results: await lambdaLane(wanted),
  skipped: 0,
});

const onDemand =
  (lane: Lane) =>
  async (_: Family, wanted: Wanted): Promise<Outcome> => ({ results: await runLane(lane, wanted), skipped: 0 });

const cloudOutcome = async (_: Family, wanted: Wanted): Promise<Outcome> => ({
  results: await cloudLane(wanted),
  skipped: 0,
});

/** Runs each migration on its own cluster; `--family spark`, `volcano` or `apache` selects one. */
const migrateOutcome = async (family: Family): Promise<Outcome> => {
  if (dataDir === undefined) {
    console.log("skipped: recorded data is not beside the project, so upstream's CRDs and roles");
    return { results: [], skipped: 2 };
  }
  const isWanted = (name: string): boolean =>
    family === families[name] || !["spark", "volcano", "apache"].some((one) => family === families[one]);
  const ofSpark = isWanted("spark") ? await migrateLane(join(dataDir, "spark-operator")) : [];
  const ofVolcano = isWanted("volcano") ? await volcanoMigrateLane(join(dataDir, "volcano")) : [];
  const ofApache = isWanted("apache") ? await apacheMigrateLane() : [];
  return { results: [...ofSpark, ...ofVolcano, ...ofApache], skipped: 0 };
};

type Lanes = {
  readonly lambda: boolean;
  readonly dispatch: boolean;
  readonly nats: boolean;
  readonly bell: boolean;
  readonly cloud: boolean;
  readonly migrate: boolean;
};

const needsOf = ({ lambda, dispatch, nats, bell, cloud }: Lanes): readonly string[] => [
  ...(lambda || cloud ? ["lambda", "queue"] : []),
  ...(cloud ? ["store"] : []),
  ...(nats || (bell && !dispatch) ? ["nats"] : []),
];

const killsOf = ({ lambda, dispatch, nats, bell, cloud }: Lanes): number =>
  lambda || dispatch || nats || bell ? 200 : cloud ? 40 : 20;

const laneOf = ({ lambda, dispatch, nats, bell, cloud, migrate }: Lanes) => {
  if (lambda) return lambdaOutcome;
  if (dispatch) return onDemand(bell ? dispatchedBell : dispatched);
  if (nats) return onDemand(onNats);
  if (bell) return onDemand(onBell);
  if (cloud) return cloudOutcome;
  return migrate ? migrateOutcome : hostLane;
};

type PageWanted = {
  readonly case?: string | undefined;
  readonly json?: string | undefined;
  readonly picture?: string | undefined;
};

/** The page's lane has a cluster of its own kind. */
const concludePage = async ({ case: only, json, picture }: PageWanted): Promise<void> => {
  await ensure(["browser"]);
  await build();
  const results = await pageLane({ only, picture });
  conclude(tallyOf(results), json === undefined ? undefined : { file: json, details: { results } });
};

/** Families that a flag selects as well. */
const familiesByFlag = {
  triggers: ["triggers"],
  gang: ["gang", "gang-native", "gang-without-scheduler", "gang-without-controllers"],
} as const;

/** Returns the families that are wanted. */
const familiesOf = (values: { readonly triggers: boolean; readonly gang: boolean; readonly family: string }) => {
  const flagged = (["triggers", "gang"] as const).find((flag) => values[flag]);
  const names = flagged === undefined ? [values.family] : familiesByFlag[flagged];
  return names.map((name) => {
    const family = families[name];
    if (family === undefined) throw new Error(`--family ${name}: one of ${familyNames.join(", ")}`);
    return family;
  });
};

const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      help: { type: "boolean", short: "h" },
      family: { type: "string", default: "main" },
      lambda: { type: "boolean", default: false },
      dispatch: { type: "boolean", default: false },
      nats: { type: "boolean", default: false },
      bell: { type: "boolean", default: false },
      cloud: { type: "boolean", default: false },
      migrate: { type: "boolean", default: false },
      triggers: { type: "boolean", default: false },
      gang: { type: "boolean", default: false },
      page: { type: "boolean", default: false },
      picture: { type: "string" },
      crds: { type: "string" },
      case: { type: "string" },
      kills: { type: "string" },
      short: { type: "boolean", default: false },
      seed: { type: "string" },
      json: { type: "string" },
    },
  });
  if (values.help === true) return console.log(help);
  const wanted = familiesOf(values);
  if (values.page) return await concludePage(values);
  if (!isInside()) {
    await ensure(["system", "go", "spark", "examples", ...wanted.flatMap(({ needs }) => needs), ...needsOf(values)]);
    await build();
  }
  await enterNamespace();
  const seed = Number(values.seed ?? Date.now() % 1_000_000);
  console.log(`seed ${seed}`);
  const options = { seed, kills: Number(values.kills ?? killsOf(values)), only: values.case };
  const lane = laneOf(values);
  const outcomes: Outcome[] = [];
  for (const family of wanted)
    outcomes.push(await lane(family, { ...options, crds: values.crds, isShort: values.short }));
  const results = outcomes.flatMap((outcome) => outcome.results);
  const skipped = outcomes.reduce((sum, outcome) => sum + outcome.skipped, 0);
  const failed = results.filter((result) => !result.ok).length;
  const missing = results.filter((result) => result.missing);
  for (const { name, lines } of missing) console.log(`missing: ${name}: ${lines.join("; ")}`);
  const tally = { passed: results.length - failed - missing.length, failed, skipped: skipped + missing.length };
  conclude(tally, values.json === undefined ? undefined : { file: values.json, details: { seed, results } });
};

await proving(main);
