/**
 * The real controller of Kueue on a test cluster: a process as admin with its integration of SparkApplications, whose
 * webhooks the API server calls by URL.
 */
import { spawn } from "node:child_process";
import { copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseAllDocuments, stringify } from "yaml";
import { fieldsOf, recordsIn } from "../../../../shared/core/json.ts";
import { freePort } from "../../../support/port.ts";
import type { Cluster } from "../../cluster/cluster.ts";
import { type KueueFiles, kueueFiles } from "../../setup/kueue.ts";
import { appendTo, childOf, type HostProcess } from "../installed.ts";
import { kubectl, must } from "../scene.ts";

export const missing = { missing: "Kueue's controller: npm run setup -- kueue" } as const;

type Ports = { readonly webhook: number; readonly health: number };

/** Integrations that Kueue runs, beside that of SparkApplications. */
type Integration = "pod";

const configuration = (certDir: string, { webhook, health }: Ports, more: readonly Integration[]): object => ({
  ...{ apiVersion: "config.kueue.x-k8s.io/v1beta2", kind: "Configuration" },
  health: { healthProbeBindAddress: `127.0.0.1:${health}` },
  metrics: { bindAddress: "0" },
  webhook: { host: "127.0.0.1", port: webhook, certDir },
  leaderElection: { leaderElect: false },
  internalCertManagement: { enable: false },
  clientConnection: { qps: 300, burst: 500 },
  featureGates: { SparkApplicationIntegration: true, VisibilityOnDemand: false, MultiKueue: false },
  integrations: { frameworks: ["sparkoperator.k8s.io/sparkapplication", ...more] },
});

/** The groups of which Kueue's webhooks are registered: those of integrations that are off have none. */
const registered = (more: readonly Integration[]): ReadonlySet<unknown> =>
  new Set(["kueue.x-k8s.io", "sparkoperator.k8s.io", ...(more.includes("pod") ? [""] : [])]);

const byUrl = (one: Readonly<Record<string, unknown>>, port: number, caBundle: string): object => {
  const { service } = fieldsOf(one["clientConfig"]);
  return { ...one, clientConfig: { url: `https://127.0.0.1:${port}${fieldsOf(service)["path"]}`, caBundle } };
};

const registerWebhooks = async (
  cluster: Cluster,
  file: string,
  port: number,
  groups: ReadonlySet<unknown>,
): Promise<void> => {
  const isRegistered = ({ rules }: Readonly<Record<string, unknown>>): boolean =>
    recordsIn(rules).every(({ apiGroups }) => Array.isArray(apiGroups) && apiGroups.every((one) => groups.has(one)));
  const caBundle = (await readFile(join(cluster.dir, "pki", "ca.crt"))).toString("base64");
  for (const document of parseAllDocuments(await readFile(file, "utf8"))) {
    const one = fieldsOf(document.toJS());
    const webhooks = recordsIn(one["webhooks"])
      .filter(isRegistered)
      .map((webhook) => byUrl(webhook, port, caBundle));
    const input = JSON.stringify({ ...one, webhooks });
    const { code, stderr } = await cluster.kubectl(["apply", "--server-side", "-f", "-"], { input });
    must(code === 0, `kubectl apply of Kueue's webhooks: ${stderr}`);
  }
};

/** Kueue reads the certificate of its metrics below /etc: it gets a /etc of its own, with the kubelet's certificate. */
const certificatesIn = async ({ dir, kubelet }: Cluster): Promise<{ readonly etc: string; readonly certs: string }> => {
  const etc = join(dir, "kueue-etc");
  const certs = join(etc, "kueue", "metrics", "certs");
  await mkdir(certs, { recursive: true });
  await copyFile(kubelet.cert, join(certs, "tls.crt"));
  await copyFile(kubelet.key, join(certs, "tls.key"));
  return { etc, certs };
};

const isReady = async (port: number): Promise<boolean> =>
  await fetch(`http://127.0.0.1:${port}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );

const readyMs = 90_000;

type Running = { readonly ports: Ports; readonly more: readonly Integration[] };

const started = async (cluster: Cluster, { binary }: KueueFiles, { ports, more }: Running): Promise<HostProcess> => {
  const { etc, certs } = await certificatesIn(cluster);
  const config = join(cluster.dir, "kueue.yaml");
  await writeFile(config, stringify(configuration(certs, ports, more)));
  const log = join(cluster.dir, "kueue.log");
  const flags = [`--config=${config}`, `--kubeconfig=${cluster.adminKubeconfig}`, "--zap-log-level=info"];
  const inEtc = ["--mount", "sh", "-c", 'mount --bind "$0" /etc && exec "$@"', etc, binary, ...flags];
  const child = spawn("unshare", inEtc, { stdio: ["ignore", "pipe", "pipe"] });
  appendTo(child, log);
  const process = childOf(child);
  for (const until = performance.now() + readyMs; !(await isReady(ports.health)); await sleep(200))
    must(!process.exited() && performance.now() < until, `Kueue is not ready: ${log}`);
  return process;
};

/** Installs Kueue and runs its controller; undefined where it was not built. */
export const startKueue = async (
  cluster: Cluster,
  more: readonly Integration[] = [],
): Promise<HostProcess | undefined> => {
  const files = kueueFiles();
  if (files === undefined) return undefined;
  for (const file of await readdir(files.definitions))
    await kubectl(cluster, ["apply", "--server-side", "-f", join(files.definitions, file)]);
  await kubectl(cluster, ["wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"]);
  const ports = { webhook: await freePort(), health: await freePort() };
  const process = await started(cluster, files, { ports, more });
  await registerWebhooks(cluster, files.webhooks, ports.webhook, registered(more));
  return process;
};
