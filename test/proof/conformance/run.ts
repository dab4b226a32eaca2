/** Runs every scenario against the simulator and a real API server, and reports the differences. */
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { conclude } from "../../../infra/tally.ts";
import { startCluster } from "../../real/cluster/cluster.ts";
import { ensure } from "../../real/setup/ensure.ts";
import { clusterApi, simulatorApi } from "./apis.ts";
import { compare, holds, textOf, type Verdict } from "./compare.ts";
import { type Certificate, type Hooks, serveHooks } from "./hooks.ts";
import { kubectlBoth } from "./kubectl.ts";
import { linesOf, readRecord, writeRecord } from "./record.ts";
import { type Api, type Line, type Scenario, transcript } from "./scenario.ts";
import { scenarios } from "./scenarios.ts";
import { openServer, plugins } from "./server.ts";
import { type Watched, watchBoth } from "./watching.ts";

const fewest = 150;
const share = 0.98;

/** Factor of the waiting time for the real server's caches (rights, webhooks, quotas) when a scenario runs again. */
const slowerTimes = 4;

const usage = `npm run conformance [-- [--kubeconfig FILE] [--only WORD] [--record] [--json FILE]]

  --kubeconfig FILE  the real API server, with its keys in pki/ beside the file; without it the control plane of
                     test/real/cluster is started
  --only WORD        scenarios whose name contains it; "kubectl": the commands alone; "forwarder": the
                     guarantees of watching alone
  --record           keep the real answers in real.jsonl, for the tests that have no real server; without it they
                     are compared with those that are kept
  --json FILE        the outcome as data

Fails where the two answer differently without a reason in differences.ts, where the real server answers otherwise than
recorded (both of a scenario played again with more patience: the real server's caches lag), where the forwarder misses or doubles a change while connections are cut, and where less than ${fewest} behaviours are compared or less than ${share * 100} % are the same.`;

const { values } = parseArgs({
  options: {
    kubeconfig: { type: "string" },
    only: { type: "string", default: "" },
    record: { type: "boolean", default: false },
    json: { type: "string" },
    help: { type: "boolean", short: "h" },
  },
});

const extra = { "kube-apiserver": [`--enable-admission-plugins=${plugins.join(",")}`] };

/** Returns the kubelet certificate of the control plane: it is valid on loopback, and the API server trusts its CA. */
const certificateBeside = (kubeconfig: string): Certificate => {
  const keys = join(dirname(kubeconfig), "pki");
  return { cert: join(keys, "kubelet.crt"), key: join(keys, "kubelet.key"), ca: join(keys, "ca.crt") };
};

type Played = {
  readonly verdicts: readonly Verdict[];
  readonly changed: readonly string[];
  /** Results of the forwarder's guarantees. */
  readonly watched: readonly Watched[];
};

/** Lists answers of the real server that differ from the recorded ones. */
const changesIn = (scenario: string, recorded: readonly Line[], now: readonly Line[]): readonly string[] => {
  const extras =
    recorded.length === now.length ? [] : [`${scenario}: ${now.length} answers, ${recorded.length} recorded`];
  const different = compare(scenario, recorded, now).filter(({ differences }) => differences.length > 0);
  return [...extras, ...different.map((verdict) => textOf({ ...verdict, reason: undefined }))];
};

type Round = {
  readonly theirs: readonly Line[];
  readonly verdicts: readonly Verdict[];
  readonly changed: readonly string[];
};

/** Runs one scenario on both servers, in a namespace of its own. */
const playOne = async (real: Api, scenario: Scenario, ns: string, recorded: readonly Line[]): Promise<Round> => {
  const ours = await transcript(simulatorApi(openServer()), scenario, ns);
  const theirs = await transcript(real, scenario, ns);
  await real.call("DELETE", `/api/v1/namespaces/${ns}`);
  const verdicts = compare(scenario.name, ours, theirs);
  return { theirs, verdicts, changed: values.record ? [] : changesIn(scenario.name, recorded, theirs) };
};

const textsOf = ({ verdicts, changed }: Round): readonly string[] => [
  ...verdicts.filter((verdict) => !holds(verdict)).map(textOf),
  ...changed.map((text) => `the real server's answer is not the recorded one:\n${text}`),
];

const even = ({ verdicts, changed }: Round): boolean => changed.length === 0 && verdicts.every(holds);

const play = async (kubeconfig: string, hooks: Hooks): Promise<Played> => {
  const real = clusterApi(kubeconfig, hooks);
  const patient = clusterApi(kubeconfig, hooks, slowerTimes);
  const run = Date.now().toString(36);
  const record = readRecord();
  const answers: (Line & { readonly scenario: string })[] = [];
  const verdicts: Verdict[] = [];
  const changed: string[] = [];
  for (const [i, scenario] of scenarios.entries()) {
    const { name } = scenario;
    if (!name.includes(values.only)) continue;
    const recorded = linesOf(record, name);
    let round = await playOne(real, scenario, `b-${run}-${i}`, recorded);
    if (!even(round)) {
      for (const text of textsOf(round)) console.log(text);
      console.log(`${name}: once more, giving the real server's caches ${slowerTimes} times the time`);
      round = await playOne(patient, scenario, `b-${run}-${i}-again`, recorded);
    }
    answers.push(...round.theirs.map((line) => ({ scenario: name, ...line })));
    verdicts.push(...round.verdicts);
    changed.push(...round.changed);
    const same = round.verdicts.filter((each) => each.differences.length === 0).length;
    console.log(`${name}: ${same} of ${round.verdicts.length} the same`);
  }
  if ("kubectl".includes(values.only)) verdicts.push(...(await kubectlBoth(kubeconfig)));
  if (values.record) {
    const others = record.filter(({ scenario }) => !scenario.includes(values.only));
    writeRecord([...others, ...answers]);
  }
  const watched = "forwarder".includes(values.only) ? await watchBoth(kubeconfig) : [];
  return { verdicts, changed, watched };
};

const judge = ({ verdicts, changed, watched }: Played): void => {
  for (const verdict of verdicts) if (verdict.differences.length > 0) console.log(textOf(verdict));
  for (const change of changed) console.log(`the real server's answer is not the recorded one:\n${change}`);
  const equal = verdicts.filter(({ differences }) => differences.length === 0).length;
  console.log(
    `${verdicts.length} behaviours, ${equal} the same (${((100 * equal) / Math.max(1, verdicts.length)).toFixed(1)} %)`,
  );
  const claims = [
    values.only !== "" || verdicts.length >= fewest,
    values.only !== "" || equal >= share * verdicts.length,
    ...changed.map(() => false),
    ...watched.map(({ broken }) => broken.length === 0),
  ];
  const passed = verdicts.filter(holds).length + claims.filter(Boolean).length;
  const tally = { passed, failed: verdicts.length + claims.length - passed, skipped: 0 };
  conclude(
    tally,
    values.json === undefined ? undefined : { file: values.json, details: { equal, changed, watched, verdicts } },
  );
};

const main = async (): Promise<void> => {
  if (values.help) return console.log(usage);
  await ensure(["go"]);
  const cluster = values.kubeconfig === undefined ? await startCluster({ nodes: 0, extra }) : undefined;
  try {
    const kubeconfig = values.kubeconfig ?? cluster?.adminKubeconfig ?? "";
    const hooks = await serveHooks(certificateBeside(kubeconfig));
    judge(await play(kubeconfig, hooks).finally(() => hooks.close()));
  } finally {
    await cluster?.stop();
  }
};

await main();
