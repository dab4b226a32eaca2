/**
 * `node test/real/cluster/node/prove/run.ts`: proves on a separate cluster that the node agent behaves as a kubelet.
 */
import { parseArgs } from "node:util";
import { conclude } from "../../../../../infra/tally.ts";
import { ensure } from "../../../setup/ensure.ts";
import { startCluster } from "../../cluster.ts";
import { enterNamespace, isInside } from "../../netns.ts";
import { prove } from "../../prove.ts";
import { endChecks } from "./ends.ts";
import { faultChecks } from "./faults.ts";
import { insideChecks } from "./inside.ts";
import { mountChecks } from "./mounts.ts";
import { nodeChecks, sparkChecks } from "./nodes.ts";
import { watchedChecks } from "./watched.ts";

const usage = `node test/real/cluster/node/prove/run.ts [--only WORD] [--dir DIR] [--json FILE]

  --only WORD   the checks whose name contains it
  --dir DIR     keep the cluster's files here
  --json FILE   the outcome as data`;

/** Shorter than the defaults, so that a crash loop, a heartbeat and an eviction take only seconds. */
const nodeFlags = ["--backoff", "1", "--heartbeat", "1"];
const extra = { "kube-controller-manager": ["--node-monitor-grace-period=6s", "--node-monitor-period=1s"] };

const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      help: { type: "boolean" },
      only: { type: "string", default: "" },
      dir: { type: "string" },
      json: { type: "string" },
    },
  });
  if (values.help) return console.log(usage);
  if (!isInside()) await ensure(["system", "go", "spark", "examples"]);
  await enterNamespace();
  const all = [
    ...endChecks,
    ...mountChecks,
    ...insideChecks,
    ...watchedChecks,
    ...nodeChecks,
    ...faultChecks,
    ...sparkChecks,
  ];
  const checks = all.filter(({ name }) => name.includes(values.only));
  const cluster = await startCluster({
    nodes: 1,
    nodeFlags,
    extra,
    ...(values.dir === undefined ? {} : { dir: values.dir }),
  });
  try {
    const verdicts = await prove(cluster, checks);
    const count = (outcome: string): number => verdicts.filter((verdict) => verdict.outcome === outcome).length;
    const tally = { passed: count("passed"), failed: count("failed"), skipped: count("skipped") };
    conclude(tally, values.json === undefined ? undefined : { file: values.json, details: { verdicts } });
  } finally {
    await cluster.stop();
  }
};

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
