/** `npm run cluster`: a real cluster to look at, or to run one command in. */
import { spawn } from "node:child_process";
import { parseArgs } from "node:util";
import { ensure } from "../setup/ensure.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import { enterNamespace, isInside } from "./netns.ts";

const usage = `npm run cluster [-- [--nodes N] [--no-node] [--dir DIR] [-- COMMAND …]]

  --nodes N   node agents that run pods as local processes (1); needs root, and lives in a network namespace of its own
  --no-node   the API server alone, on a free port of 127.0.0.1; needs no root
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

/** Resolves with the exit code when the command ends, or when this process is told to stop. */
const untilDone = (cluster: Cluster, words: readonly string[], told: Promise<number>): Promise<number> => {
  const [program, ...args] = words;
  if (program === undefined) return told;
  const env = {
    ...process.env,
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

const main = async (): Promise<number> => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      help: { type: "boolean" },
      nodes: { type: "string", default: "1" },
      "no-node": { type: "boolean", default: false },
      dir: { type: "string" },
    },
  });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const nodes = values["no-node"] ? 0 : Number(values.nodes);
  if (!isInside()) await ensure(nodes === 0 ? ["go"] : ["system", "go", "spark", "examples"]);
  if (nodes > 0) await enterNamespace();
  const told = new Promise<number>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => resolve(0));
  });
  const began = performance.now();
  const cluster = await startCluster({ nodes, ...(values.dir === undefined ? {} : { dir: values.dir }) });
  if (positionals.length === 0) tell(cluster, ((performance.now() - began) / 1000).toFixed(1));
  try {
    return await untilDone(cluster, positionals, told);
  } finally {
    await cluster.stop();
  }
};

process.exitCode = await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  return 1;
});
