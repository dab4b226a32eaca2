/**
 * `npm run infra:check`: the template is valid, builds what `npm run build` builds, and grants what the functions send;
 * a real API server accepts the objects of `infra/kubernetes`.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import type { Metafile } from "esbuild";
import { differencesIn } from "../../../infra/aws/agreement.ts";
import { handlerParts } from "../../../infra/aws/rights.ts";
import { functionsIn, readTemplate } from "../../../infra/aws/template.ts";
import { functionNames, loadedBy } from "../../../infra/bundle.ts";
import { conclude, proving, tallyOf } from "../../../infra/tally.ts";
import { type Cluster, startCluster } from "../cluster/cluster.ts";
import { awsTools } from "../setup/aws.ts";
import { ensure } from "../setup/ensure.ts";
import { command } from "../setup/part.ts";
import type { Check } from "./accepted.ts";
import { kubernetesChecks } from "./checks.ts";
import { functionChecks } from "./functions.ts";
import { imageChecks } from "./image.ts";
import { rightsChecks } from "./rights.ts";

const help = `npm run infra:check [-- [--part aws|kubernetes|functions|image|rights] [--json FILE]]

  --part NAME  only the template of AWS, what is applied to Kubernetes, functions under their own accounts, the steps
               of the image, or what the lanes of npm run e2e left behind of rights: asked for alone, none of these lanes may be missing
  --json FILE  the outcome as data

Judges infra/aws/template.yaml with cfn-lint and the SAM command line, builds it, and compares; starts an API server and has
it take what infra/kubernetes is applied from. Nothing is deployed, and no network is needed once the tools are there.`;

const file = "infra/aws/template.yaml";
const region = "us-east-1";

/** SAM without telemetry and without metadata requests. */
const quiet = { SAM_CLI_TELEMETRY: "0", AWS_DEFAULT_REGION: region, AWS_EC2_METADATA_DISABLED: "true" };

/** The Python line that starts each tool. */
const starts = {
  "cfn-lint": "from cfnlint.runner import main",
  sam: "from samcli.cli.main import cli as main",
} as const;

const tool = async (name: keyof typeof starts, ...args: readonly string[]): Promise<readonly string[]> => {
  const start = `import sys; sys.argv[0] = "${name}"; ${starts[name]}; sys.exit(main())`;
  try {
    await command("python3", ["-c", start, ...args], { env: { ...quiet, PYTHONPATH: await awsTools() } });
    return [];
  } catch (cause) {
    return [cause instanceof Error ? cause.message : String(cause)];
  }
};

const filesIn = (dir: string): readonly string[] =>
  readdirSync(dir, { recursive: true, encoding: "utf8" }).filter((name) => statSync(join(dir, name)).isFile());

/** Lists files of the same name with different bytes, and files that only one side has. */
const unlike = (name: string, built: string, expected: readonly string[]): readonly string[] => {
  const found = filesIn(built);
  const wanted = expected.map((path) => relative("dist", path));
  return [
    ...found.filter((one) => !wanted.includes(one)).map((one) => `${name}: ${one} is not loaded by it`),
    ...wanted.filter((one) => !found.includes(one)).map((one) => `${name}: ${one} is missing`),
    ...wanted
      .filter((one) => found.includes(one))
      .filter((one) => !readFileSync(join(built, one)).equals(readFileSync(join("dist", one))))
      .map((one) => `${name}: ${one} is another one than npm run build makes`),
  ];
};

/** Loads each bundle as Lambda does: the file that the handler names, alone in its folder. */
const opened = async (id: string, built: string): Promise<readonly string[]> => {
  const entry = JSON.stringify(join(process.cwd(), built, `${id.toLowerCase()}.mjs`));
  const code = `import(${entry}).then(({ handler }) => process.exit(typeof handler === "function" ? 0 : 1))`;
  return await command(process.execPath, ["-e", code], { cwd: "/" }).then(
    () => [],
    (cause: unknown) => [`${id}: ${cause}`],
  );
};

const built = async (dir: string): Promise<readonly string[]> => {
  await command(process.execPath, ["infra/door.mjs", "infra/build.ts"]);
  const meta: Metafile = JSON.parse(readFileSync("dist/meta.json", "utf8"));
  const args = ["build", "--build-in-source", "-t", file, "--build-dir", dir, "--no-cached", "--parallel"];
  const wrong = await tool("sam", ...args);
  if (wrong.length > 0) return wrong;
  const ids = [...functionsIn(readTemplate(readFileSync(file, "utf8"))).keys()];
  const all = ids.map(async (id) => {
    const place = join(dir, id);
    const { files } = loadedBy(meta, id.toLowerCase()).ever;
    return [...unlike(id, place, files), ...(await opened(id, relative(process.cwd(), place)))];
  });
  return (await Promise.all(all)).flat();
};

const templateChecks = (dir: string): readonly Check[] => [
  { name: "cfn-lint takes the template", run: () => tool("cfn-lint", file) },
  {
    name: "sam validate --lint takes the template",
    run: () => tool("sam", "validate", "--lint", "--region", region, "-t", file),
  },
  { name: "sam build makes the bundles of npm run build, and each opens", run: () => built(dir) },
  {
    name: "rights granted are requests sent, every variable is one that is read",
    run: async () => differencesIn(readTemplate(readFileSync(file, "utf8")), await handlerParts(functionNames())),
  },
];

type Result = { readonly name: string; readonly ok: boolean; readonly wrong: readonly string[] };

/** Runs the checks in order and reports each when it ends; a check that throws has failed. */
const judged = async (checks: readonly Check[]): Promise<readonly Result[]> => {
  const results: Result[] = [];
  for (const { name, run } of checks) {
    const began = performance.now();
    const wrong = await run().catch((cause: unknown) => [cause instanceof Error ? cause.message : String(cause)]);
    const ok = wrong.length === 0;
    console.log(
      `${ok ? "✓" : "✗"} ${name.padEnd(72)} ${((performance.now() - began) / 1_000).toFixed(1).padStart(5)} s`,
    );
    for (const line of wrong) console.log(line);
    results.push({ name, ok, wrong });
  }
  return results;
};

const ofTemplate = async (): Promise<readonly Result[]> => {
  await ensure(["aws"]);
  const dir = await mkdtemp(join(tmpdir(), "rekindle-aws-"));
  try {
    return await judged(templateChecks(dir));
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
};

/** Runs the checks on an API server without nodes. */
const onCluster = (needs: readonly string[], checks: (cluster: Cluster) => readonly Check[]) => async () => {
  await ensure(needs);
  const cluster = await startCluster({ nodes: 0 });
  try {
    return await judged(checks(cluster));
  } finally {
    await cluster.stop();
  }
};

const parts: Readonly<Record<string, () => Promise<readonly Result[]>>> = {
  aws: ofTemplate,
  kubernetes: onCluster(["go", "helm", "knative", "keda"], kubernetesChecks),
  functions: async () => judged(await functionChecks()),
  image: onCluster(["go"], imageChecks),
  rights: () => judged(rightsChecks(process.argv.includes("rights"))),
};

const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: { help: { type: "boolean", short: "h" }, part: { type: "string" }, json: { type: "string" } },
  });
  if (values.help === true) return console.log(help);
  const wanted = Object.keys(parts).filter((name) => values.part === undefined || name === values.part);
  if (wanted.length === 0) throw new Error(`--part ${values.part}: one of ${Object.keys(parts).join(", ")}`);
  const results: Result[] = [];
  for (const name of wanted) results.push(...((await parts[name]?.()) ?? []));
  conclude(tallyOf(results), values.json === undefined ? undefined : { file: values.json, details: { results } });
};

process.chdir(new URL("../../..", import.meta.url).pathname);
await proving(main);
