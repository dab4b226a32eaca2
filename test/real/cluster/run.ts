/** `npm run cluster`: a real cluster to explore, or to run one command in. */
import { spawn } from "node:child_process";
import { parseArgs } from "node:util";
import { conclude } from "../../../infra/tally.ts";
import { ensure } from "../setup/ensure.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import { enterNamespace, isInside, unmarked } from "./netns.ts";
import { checksFor, prove } from "./prove.ts";

const usage = `npm run cluster [-- [--nodes N] [--no-node] [--dir DIR] [-- COMMAND …]]

  --nodes N   node agents that run pods as local processes (1); needs root: all lives in a network namespace of its own
  --no-node   the API server alone, on a free port of 127.0.0.1; needs no root
  --prove     run the checks that this cluster stands on (with nodes: real Spark too), say N passed, N failed, and end
  --json FILE with --prove: the outcome as data
  --dir DIR   keep data, keys, logs and cluster.json here; without it they are removed at the end
  COMMAND     run this with KUBECONFIG set and kubectl on the PATH, then stop with its exit code; without one, stay until Ctrl-C`;

const shellQuoted = (words: readonly string[]): string => words.join(" ");

const tell = (cluster: Cluster, seconds: string): void => {
  const enter = isInside() ? ["nsenter", "-t", String(process.pid), "-n", "-m", "--"] : [];
  const kubectl = [...enter, `${cluster.binDir}/kubectl`, "--kubeconfig", cluster.adminKubeconfig];
  console.log(`cluster ready in ${seconds} s, ${cluster.nodes.length} nodes, ${cluster.server}
  kubeconfig  ${cluster.adminKubeconfig}
  kubectl     ${shellQuoted(kubectl)} get nodes${isInside() ? `\n  a shell in  ${shellQuoted([...enter, "env", `KUBECONFIG=${cluster.adminKubeconfig}`, "bash"])}` : ""}
  logs        ${cluster.dir}/logs
Ctrl-C ends it.`);
};

/** Resolves with the exit code when the command ends, or when this process receives a stop signal. */
const untilDone = (cluster: Cluster, words: readonly string[], told: Promise<number>): Promise<number> => {
  const [program, ...args] = words;
  if (program === undefined) return told;
  const env = {
    ...unmarked(process.env),
    KUBECONFIG: cluster.adminKubeconfig,
    PATH: `${cluster.binDir}:${process.env["PATH"] ?? ""}`,
  };
  const child = spawn(program, args, { stdio: "inherit", env });
  const done = new Promise<number>((resolve) => {
    child.on("exit", (code) => resolve(code ?? 1));
    child.on("error", (error) => {
      console.error(error.message);
      resolve(127);
    });
  });
  return Promise.race([done, told]);
};

/** Runs `--prove`; the exit code is 0 if all checks hold. */
const proved = async (cluster: Cluster, json: string | undefined, seconds: string): Promise<void> => {
  console.log(`ready in ${seconds} s`);
  const verdicts = await prove(cluster, checksFor(cluster.nodes.length));
  const count = (outcome: string): number => verdicts.filter((verdict) => verdict.outcome === outcome).length;
  const tally = { passed: count("passed"), failed: count("failed"), skipped: count("skipped") };
  conclude(tally, json === undefined ? undefined : { file: json, details: { verdicts } });
};

const main = async (): Promise<void> => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      help: { type: "boolean" },
      nodes: { type: "string", default: "1" },
      "no-node": { type: "boolean", default: false },
      dir: { type: "string" },
      prove: { type: "boolean", default: false },
      json: { type: "string" },
    },
  });
  if (values.help) {
    console.log(usage);
    return;
  }
  const nodes = values["no-node"] ? 0 : Number(values.nodes);
  if (!isInside()) await ensure(nodes === 0 ? ["go"] : ["system", "go", "spark", "examples"]);
  if (!values["no-node"]) await enterNamespace();
  const told = new Promise<number>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => resolve(0));
  });
  const began = performance.now();
  const cluster = await startCluster({ nodes, ...(values.dir === undefined ? {} : { dir: values.dir }) });
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  try {
    if (values.prove) return await proved(cluster, values.json, seconds);
    if (positionals.length === 0) tell(cluster, seconds);
    process.exitCode = await untilDone(cluster, positionals, told);
  } finally {
    await cluster.stop();
  }
};

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
