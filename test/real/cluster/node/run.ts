/** The node agent's entry: parses flags and runs a node of the cluster until SIGTERM or its parent's end. */
import { mkdir, rm } from "node:fs/promises";
import { availableParallelism, totalmem } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { agentOf } from "./agent.ts";
import { openApi } from "./api.ts";
import { openGroups } from "./cgroup.ts";
import { eventsOf } from "./events.ts";
import { claimNodeAddress, openNetworks } from "./network.ts";
import { joinCluster } from "./node.ts";
import { serve } from "./server.ts";
import { readStandIns } from "./standins.ts";

const usage = `run.ts --kubeconfig FILE --name NODE --dir DIR --cache DIR --tls-cert FILE --tls-key FILE [--client-ca FILE]

  --kubeconfig FILE       how to reach the API, with the agent's identity
  --name NODE             name of the node; its last digits are its number N (1 to 16): node address 10.244.0.N, pods 10.244.N.x
  --dir DIR               pods' files, pids and logs
  --cache DIR             where spark/VERSION/ lie
  --tls-cert, --tls-key   serving certificate of the kubelet endpoint
  --client-ca FILE        who signs the certificates of those who may ask it
  --port N                its port (10250)
  --label KEY=VALUE       of the node; may be repeated
  --capacity NAME=AMOUNT  of the node; may be repeated (cpu=32, pods=110, this machine's memory)
  --heartbeat SECONDS     how often the node says that it lives (10)
  --backoff SECONDS       first pause of CrashLoopBackOff and ImagePullBackOff, doubled up to 30 times this (10)
  --stand-ins FILE        what runs for images that this machine lacks: start, duration, exit code by image, command, pod
  --refresh SECONDS       how often files of config maps, secrets and tokens are read again (60)`;

const options = {
  help: { type: "boolean" },
  kubeconfig: { type: "string" },
  name: { type: "string" },
  dir: { type: "string" },
  cache: { type: "string" },
  "tls-cert": { type: "string" },
  "tls-key": { type: "string" },
  "client-ca": { type: "string" },
  port: { type: "string", default: "10250" },
  label: { type: "string", multiple: true },
  capacity: { type: "string", multiple: true },
  heartbeat: { type: "string", default: "10" },
  backoff: { type: "string", default: "10" },
  refresh: { type: "string", default: "60" },
  "stand-ins": { type: "string" },
} as const;

const pairs = (texts: readonly string[] = []): Record<string, string> =>
  Object.fromEntries(texts.map((text) => [text.slice(0, text.indexOf("=")), text.slice(text.indexOf("=") + 1)]));

const needed = (value: string | undefined, flag: string): string => {
  if (value === undefined) throw new Error(`--${flag} is needed; --help tells more`);
  return value;
};

const log = (line: string): void => console.log(`${new Date().toISOString()} ${line}`);

const numberOf = (name: string): number => {
  const number = Number(/(\d+)$/.exec(name)?.[1] ?? 1);
  if (number < 1 || number > 16) throw new Error(`the number at the end of ${name} must be 1 to 16`);
  return number;
};

const main = async (): Promise<void> => {
  const { values } = parseArgs({ options });
  if (values.help) return console.log(usage);
  const name = needed(values.name, "name");
  const dir = resolve(needed(values.dir, "dir"));
  const number = numberOf(name);
  await mkdir(dir, { recursive: true });
  for (const old of ["pods", "pids"]) await rm(join(dir, old), { recursive: true, force: true });
  const api = await openApi(needed(values.kubeconfig, "kubeconfig"));
  const ip = await claimNodeAddress(number);
  const groups = openGroups(log);
  const memory = `${Math.floor(totalmem() / 1024)}Ki`;
  const usual = {
    cpu: String(Math.max(32, availableParallelism())),
    memory,
    pods: "110",
    "ephemeral-storage": "100Gi",
  };
  const capacity = { ...usual, ...pairs(values.capacity) };
  const agent = agentOf({
    api,
    name,
    ip,
    dir,
    cache: resolve(needed(values.cache, "cache")),
    allocatable: capacity,
    networks: openNetworks(number, dir),
    groups,
    tell: eventsOf(api, name),
    standIns: values["stand-ins"] === undefined ? [] : readStandIns(values["stand-ins"]),
    settings: { backoffMs: Number(values.backoff) * 1000, refreshMs: Number(values.refresh) * 1000 },
    log,
  });
  stopOnSignal(agent.halt);
  const port = Number(values.port);
  await serve({
    host: ip,
    port,
    cert: needed(values["tls-cert"], "tls-cert"),
    key: needed(values["tls-key"], "tls-key"),
    clientCa: values["client-ca"],
    dir,
    workers: agent.workers,
  });
  agent.start();
  await joinCluster(
    api,
    { name, ip, port, labels: pairs(values.label), capacity, beatMs: Number(values.heartbeat) * 1000 },
    log,
  );
  log(`${name} at ${ip}:${port}`);
};

/** Processes that do not end in time are killed with this one. */
const stopOnSignal = (halt: () => Promise<void>): void => {
  const stop = (): void => {
    setTimeout(() => process.exit(0), 1000);
    void halt().finally(() => process.exit(0));
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, stop);
};

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
