/** `npm run e2e`: a real control plane, real Spark, the built bundle under the shipped service account, killed at random. */
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { conclude } from "../../infra/tally.ts";
import { startCluster } from "../cluster/cluster.ts";
import { enterNamespace, isInside } from "../cluster/netns.ts";
import { randomFrom } from "../lambda/random.ts";
import { ensure } from "../setup/ensure.ts";
import { dataDir } from "../support/data.ts";
import { type Case, deletedUnseen, killedHost, killedRetries, type Scene, upstreamExamples } from "./cases.ts";
import { build, install } from "./installed.ts";
import { lambdaLane } from "./lambda/lane.ts";

const help = `npm run e2e [-- [--lambda] [--crds ours|upstream] [--case TEXT] [--kills N] [--seed N] [--json FILE]]

  --lambda      functions behind a queue instead of a host: the built bundles in environments of the real runtime
                client, killed, frozen, their messages doubled and delayed
  --crds WHICH  only with these CRDs installed; without it all cases run once with each (not with --lambda)
  --case TEXT   only cases whose name contains it
  --kills N     at least so many SIGKILLs of the host (20), of environments (200)
  --seed N      moments of the kills; printed, so that a run can be repeated
  --json FILE   the outcome as data

Starts a real Kubernetes control plane and a node that runs pods as processes, in a network namespace of its own (root).`;

type Result = {
  readonly name: string;
  readonly ok: boolean;
  readonly seconds: number;
  readonly lines: readonly string[];
};

const attempt = async (one: Case, scene: Scene, label: string): Promise<Result> => {
  const began = performance.now();
  console.log(`▶ ${label}`);
  const ended = (ok: boolean, lines: readonly string[]): Result => {
    const seconds = Math.round((performance.now() - began) / 100) / 10;
    for (const line of lines) console.log(`    ${line}`);
    console.log(`${ok ? "✔" : "✖"} ${label} (${seconds} s)`);
    return { name: label, ok, seconds, lines };
  };
  try {
    return ended(true, await one.run(scene));
  } catch (error) {
    return ended(false, [error instanceof Error ? error.message : String(error), `host log: ${scene.hostLog}`]);
  }
};

/** Every case on a cluster of its own with the CRDs of `which`. */
const round = async (
  which: string,
  crds: string | undefined,
  cases: readonly Case[],
  seed: number,
): Promise<Result[]> => {
  const dir = await mkdtemp(join(tmpdir(), `rekindle-e2e-${which}-`));
  const cluster = await startCluster({ nodes: 1, dir });
  const results: Result[] = [];
  try {
    const kubeconfig = await install(cluster, crds);
    const say = (line: string): void => console.log(`    ${line}`);
    const scene = { cluster, kubeconfig, hostLog: join(dir, "host.log"), say, random: randomFrom(seed) };
    for (const one of cases) results.push(await attempt(one, scene, `${one.name} (${which} CRDs)`));
  } finally {
    await cluster.stop();
  }
  return results;
};

type Outcome = { readonly results: readonly Result[]; readonly skipped: number };

/** All cases, once with our CRDs and once with upstream's. */
const hostLane = async (options: {
  readonly seed: number;
  readonly kills: number;
  readonly only: string | undefined;
  readonly crds: string | undefined;
}): Promise<Outcome> => {
  const { seed, kills, only, crds } = options;
  const examples = dataDir === undefined ? undefined : join(dataDir, "spark-operator");
  const all = [
    ...(examples === undefined ? [] : [upstreamExamples(join(examples, "examples"))]),
    killedHost(kills),
    killedRetries,
    deletedUnseen,
  ];
  const cases = all.filter((one) => only === undefined || one.name.includes(only));
  const rounds = [
    ["ours", undefined],
    ...(examples === undefined ? [] : [["upstream", join(examples, "crds")] as const]),
  ] as const;
  const results: Result[] = [];
  for (const [which, folder] of rounds) {
    if (crds === undefined || crds === which) results.push(...(await round(which, folder, cases, seed)));
  }
  if (examples === undefined)
    console.log("skipped: recorded data is not beside the project, so upstream's examples and CRDs");
  return { results, skipped: examples === undefined ? 2 : 0 };
};

const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      help: { type: "boolean", short: "h" },
      lambda: { type: "boolean", default: false },
      crds: { type: "string" },
      case: { type: "string" },
      kills: { type: "string" },
      seed: { type: "string" },
      json: { type: "string" },
    },
  });
  if (values.help === true) return console.log(help);
  if (!isInside()) {
    await ensure(["system", "go", "spark", "examples", ...(values.lambda ? ["lambda", "queue"] : [])]);
    await build();
  }
  await enterNamespace();
  const seed = Number(values.seed ?? Date.now() % 1_000_000);
  console.log(`seed ${seed}`);
  const options = { seed, kills: Number(values.kills ?? (values.lambda ? 200 : 20)), only: values.case };
  const { results, skipped } = values.lambda
    ? { results: await lambdaLane(options), skipped: 0 }
    : await hostLane({ ...options, crds: values.crds });
  const failed = results.filter((result) => !result.ok).length;
  const tally = { passed: results.length - failed, failed, skipped };
  conclude(tally, values.json === undefined ? undefined : { file: values.json, details: { seed, results } });
};

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  console.log("0 passed, 1 failed");
  process.exitCode = 1;
});
