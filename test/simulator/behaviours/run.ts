/** Runs every scenario against the simulator and against a real API server, and says where they differ. */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { conclude } from "../../../infra/tally.ts";
import { startCluster } from "../../cluster/cluster.ts";
import { ensure } from "../../setup/ensure.ts";
import { clusterApi, simulatorApi } from "./apis.ts";
import { compare, holds, textOf, type Verdict } from "./compare.ts";
import { transcript } from "./scenario.ts";
import { scenarios } from "./scenarios.ts";
import { openStage, plugins } from "./stage.ts";

const usage = `node infra/door.mjs test/simulator/behaviours/run.ts [--kubeconfig FILE] [--only WORD] [--record] [--json FILE]

  --kubeconfig FILE  the real API server; without it the control plane of test/cluster is started
  --only WORD        scenarios whose name contains it
  --record           keep the real answers in real.jsonl, for the tests that have no real server
  --json FILE        the outcome as data`;

const recording = new URL("real.jsonl", import.meta.url);

const { values } = parseArgs({
  options: {
    kubeconfig: { type: "string" },
    only: { type: "string", default: "" },
    record: { type: "boolean", default: false },
    json: { type: "string" },
    help: { type: "boolean" },
  },
});

const extra = { "kube-apiserver": [`--enable-admission-plugins=${plugins.join(",")}`] };

const play = async (kubeconfig: string): Promise<readonly Verdict[]> => {
  const real = clusterApi(kubeconfig);
  const run = Date.now().toString(36);
  const recorded: string[] = [];
  const verdicts: Verdict[] = [];
  for (const [i, scenario] of scenarios.entries()) {
    if (!scenario.name.includes(values.only)) continue;
    const ns = `b-${run}-${i}`;
    const ours = await transcript(simulatorApi(openStage()), scenario, ns);
    const theirs = await transcript(real, scenario, ns);
    await real.call("DELETE", `/api/v1/namespaces/${ns}`);
    const own = compare(scenario.name, ours, theirs);
    recorded.push(...theirs.map((line) => JSON.stringify({ scenario: scenario.name, ...line })));
    verdicts.push(...own);
    console.log(
      `${scenario.name}: ${own.filter((each) => each.differences.length === 0).length} of ${own.length} the same`,
    );
  }
  if (values.record) writeFileSync(recording, `${recorded.join("\n")}\n`);
  return verdicts;
};

const main = async (): Promise<void> => {
  if (values.help) return console.log(usage);
  if (values.kubeconfig === undefined) await ensure(["go"]);
  const cluster = values.kubeconfig === undefined ? await startCluster({ nodes: 0, extra }) : undefined;
  try {
    const verdicts = await play(values.kubeconfig ?? cluster?.adminKubeconfig ?? "");
    for (const verdict of verdicts) if (verdict.differences.length > 0) console.log(textOf(verdict));
    const passed = verdicts.filter(holds).length;
    const tally = { passed, failed: verdicts.length - passed, skipped: 0 };
    conclude(tally, values.json === undefined ? undefined : { file: values.json, details: { verdicts } });
  } finally {
    await cluster?.stop();
  }
};

await main();
