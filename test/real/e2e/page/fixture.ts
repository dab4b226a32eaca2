/**
 * The fixture of this lane: a simulated cluster behind HTTP that counts its requests, the built host on it with callers,
 * and the built `rekindle page` on a second cluster of 10,000 applications.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { serveSimulator } from "../../../../shared/simulator/http/serve.ts";
import type { DriverScript } from "../../../../shared/simulator/nodes/script.ts";
import { openSimulator, type Simulator } from "../../../../shared/simulator/open.ts";
import { crds } from "../../../support/crds.ts";
import { client, openIdentityProvider } from "../../../support/identity-provider.ts";
import { freePort } from "../../../support/port.ts";
import { cli, startHost } from "../installed.ts";
import { flow, gang, narrow, patient, templates } from "./volcano.ts";

/** The callers of the host; `stranger` may send triggers and read nothing. */
export const tokens = {
  operator: "a-token-of-an-operator-of-all",
  actor: "a-token-of-one-who-acts-everywhere",
  team: "a-token-of-team-a-and-no-other",
  stranger: "a-token-of-one-who-only-triggers",
} as const;

const callers = JSON.stringify([
  { name: "operator", tokens: [tokens.operator], may: ["read"] },
  { name: "actor", tokens: [tokens.actor], may: ["read", "act", "trigger"] },
  { name: "team-a", tokens: [tokens.team], may: ["read", "act"], namespaces: ["team-a"] },
  { name: "stranger", tokens: [tokens.stranger], may: ["trigger"] },
]);

export const namespaces = ["team-a", "team-b"] as const;

/** The text that the driver of the watched application writes: a line of a megabyte, markup, and codes of terminals. */
const hostileLog = `${"y".repeat(1_000_000)}\nbefore <img src=x onerror="document.title='owned'"> \u001b[31mred\u001b[0m\n`;

/** Jobs never end by themselves. `team-b/broken` fails at once; the pods of `team-b/stuck` find no image. */
const scripts: Readonly<Record<string, readonly DriverScript[]>> = {
  broken: [{ startMs: 300, runMs: 300, exitCode: 1 }],
  stuck: [{ pull: "fails" }],
  retried: [
    { startMs: 300, runMs: 300, exitCode: 1, log: "the first attempt\n" },
    { startMs: 300, hangs: true },
  ],
  watched: [{ startMs: 300, bootMs: 200, hangs: true, log: hostileLog, executors: { "*": { startMs: 600 } } }],
  "*": [{ startMs: 300, bootMs: 200, hangs: true, executors: { "*": { startMs: 600 } } }],
};

/** `hostile`: a text for a label's value would be refused; an argument takes any text. */
export const hostile =
  "<img src=x onerror=\"document.title='owned'\"> javascript:alert(1) \u001b[31mred\u001b[0m \u202eltr";

export const sparkApplication = (namespace: string, name: string, instances: number, argument = "1000") => ({
  apiVersion: "sparkoperator.k8s.io/v1beta2",
  kind: "SparkApplication",
  metadata: { name, namespace },
  spec: {
    ...{ type: "Scala", mode: "cluster", sparkVersion: "4.1.1", image: "apache/spark:4.1.1" },
    mainClass: "org.apache.spark.examples.SparkPi",
    mainApplicationFile: "local:///opt/spark/examples/jars/spark-examples.jar",
    arguments: [argument],
    restartPolicy: { type: "Never" },
    driver: { cores: 1, memory: "512m", serviceAccount: "spark" },
    executor: { instances, cores: 1, memory: "512m" },
  },
});

const applicationsIn = (namespace: string): string =>
  `/apis/sparkoperator.k8s.io/v1beta2/namespaces/${namespace}/sparkapplications`;

const post = (simulator: Simulator, path: string, object: object): void => {
  const headers = { "content-type": "application/json" };
  const { status, body } = simulator.handle({ method: "POST", path, headers, body: JSON.stringify(object) });
  if (status >= 300) throw new Error(`POST ${path}: ${status} ${body}`);
};

const furnish = (simulator: Simulator): void => {
  for (const name of [...namespaces, "rekindle"])
    post(simulator, "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  for (const namespace of namespaces)
    post(simulator, `/api/v1/namespaces/${namespace}/serviceaccounts`, {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: "spark", namespace },
    });
};

const plurals: Readonly<Record<string, string>> = { Job: "jobs", JobFlow: "jobflows", JobTemplate: "jobtemplates" };

const placeOf = ({ apiVersion, kind, metadata }: typeof gang | typeof flow | (typeof templates)[number]): string =>
  `/apis/${apiVersion}/namespaces/${metadata.namespace}/${plurals[kind]}`;

export type PageCluster = {
  readonly simulator: Simulator;
  readonly kubeconfig: string;
  /** Address of the API server. */
  readonly server: string;
  /** `METHOD PATH` of every request so far. */
  readonly requests: readonly string[];
  /** Creates a job of Volcano, and a flow. */
  addVolcano(): void;
  submit(application: ReturnType<typeof sparkApplication>): void;
  /** Changes the spec of an application by a merge patch. */
  change(namespace: string, name: string, spec: object): void;
  /** Deletes an application. */
  remove(namespace: string, name: string): void;
  close(): Promise<void>;
};

/** Opens a cluster with these applications from the beginning, and serves it on 127.0.0.1. */
export const openPageCluster = async (kubeconfig: string): Promise<PageCluster> => {
  const simulator = openSimulator({ start: Date.now(), crds, events: true, scripts });
  furnish(simulator);
  const requests: string[] = [];
  const { handle, watch } = simulator.door;
  const door = {
    handle: (ask: Parameters<typeof handle>[0]) => {
      requests.push(`${ask.method} ${ask.path}`);
      return handle(ask);
    },
    watch: (...given: Parameters<typeof watch>) => {
      requests.push(`WATCH ${given[0].path}`);
      return watch(...given);
    },
  };
  const served = await serveSimulator({ ...simulator, door, handle: door.handle });
  await writeFile(kubeconfig, served.kubeconfig);
  return {
    ...{ simulator, kubeconfig, requests },
    server: served.url,
    addVolcano: () => {
      post(simulator, "/apis/scheduling.volcano.sh/v1beta1/queues", narrow);
      for (const object of [...templates, gang, flow, ...patient]) post(simulator, placeOf(object), object);
    },
    submit: (application) => post(simulator, applicationsIn(application.metadata.namespace), application),
    change: (namespace, name, spec) => {
      const headers = { "content-type": "application/merge-patch+json" };
      const path = `${applicationsIn(namespace)}/${name}`;
      const { status } = simulator.handle({ method: "PATCH", path, headers, body: JSON.stringify({ spec }) });
      if (status >= 300) throw new Error(`PATCH ${path}: ${status}`);
    },
    remove: (namespace, name) => {
      simulator.handle({ method: "DELETE", path: `${applicationsIn(namespace)}/${name}`, headers: {} });
    },
    close: served.close,
  };
};

const answers = async (url: string): Promise<void> => {
  for (const until = performance.now() + 30_000; performance.now() < until; await sleep(50)) {
    const isUp = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) return;
  }
  throw new Error(`${url} does not answer within 30 s`);
};

export type PageHost = {
  readonly url: string;
  /** The identity provider at which its users sign in. */
  readonly provider: string;
  /** Sends SIGKILL. */
  kill(): Promise<void>;
  /** Starts it again at the same address. */
  revive(): Promise<void>;
  stop(): Promise<void>;
};

/** Starts the built host on a cluster, with the callers of this lane. */
export const openPageHost = async (cluster: PageCluster, dir: string): Promise<PageHost> => {
  const secret = join(dir, "callers.json");
  await writeFile(secret, callers, { mode: 0o600 });
  const address = `127.0.0.1:${await freePort()}`;
  const url = `http://${address}/page`;
  const provider = await openIdentityProvider(url, { alice: ["data"], nobody: [] });
  const clientSecret = join(dir, "client-secret");
  await writeFile(clientSecret, client.secret, { mode: 0o600 });
  const groups = JSON.stringify({ data: { may: ["read", "act"], namespaces: ["team-a"] } });
  const begin = () =>
    startHost(cluster.kubeconfig, join(dir, "host.log"), [
      ...["--page-url", url, "--oidc-issuer", provider.issuer, "--oidc-client-id", client.id],
      ...["--oidc-client-secret-file", clientSecret, "--oidc-groups", groups],
      ...["--listen", address, "--trigger-secret-file", secret],
      ...["--prices", JSON.stringify({ currency: "US$", core: 0.04, gib: 0.005 }), "--keep-driver-logs", "1h"],
    ]);
  let host = begin();
  await answers(`http://${address}/readyz`);
  return {
    ...{ url, provider: provider.issuer },
    kill: () => host.kill(),
    revive: async () => {
      host = begin();
      await answers(`http://${address}/readyz`);
    },
    stop: async () => {
      await host.stop();
      await provider.close();
    },
  };
};

/** Starts the built api function as a process on a cluster, with the callers of this lane. Its queue is not reached. */
export const openPageFunction = async ({ server }: PageCluster): Promise<Pick<PageHost, "url" | "stop">> => {
  const address = `127.0.0.1:${await freePort()}`;
  const env = {
    ...{ PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "", REKINDLE_LISTEN: address },
    ...{ REKINDLE_CLUSTER_RECORD: JSON.stringify({ server }), REKINDLE_TRIGGER_SECRET: callers },
    REKINDLE_FIFO_URL: "https://127.0.0.1:9/keys.fifo",
  };
  const child = spawn(process.execPath, [join(dirname(cli), "api.mjs")], { env, stdio: "ignore" });
  const exited = once(child, "exit");
  await answers(`http://${address}/healthz`);
  return {
    url: `http://${address}/page`,
    stop: async () => {
      child.kill("SIGTERM");
      await exited;
    },
  };
};

export type Command = {
  /** Resolves with the first match in the output so far. */
  said(pattern: RegExp): Promise<string>;
  readonly output: () => string;
  stop(): Promise<void>;
};

/** Runs the built command line, until `stop` interrupts it. */
export const openCommand = (args: readonly string[]): Command => {
  const env = { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "", NO_COLOR: "1", BROWSER: "true" };
  const child: ChildProcess = spawn(process.execPath, [cli, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
  const exited = once(child, "exit");
  return {
    output: () => output,
    said: async (pattern) => {
      for (const until = performance.now() + 60_000; performance.now() < until; await sleep(50)) {
        const [found] = pattern.exec(output) ?? [];
        if (found !== undefined) return found;
      }
      throw new Error(`rekindle ${args.join(" ")} did not say ${pattern}:\n${output.slice(-2_000)}`);
    },
    stop: async () => {
      child.kill("SIGINT");
      await exited;
    },
  };
};

const states = ["COMPLETED", "RUNNING", "FAILED", "SUBMITTED"] as const;

/** Fills a cluster with applications in all states; no host runs them. */
export const fill = ({ simulator }: PageCluster, count: number): void => {
  const at = new Date().toISOString();
  for (let nth = 0; nth < count; nth += 1) {
    const object = sparkApplication(namespaces[nth % 2] ?? "team-a", `app-${String(nth).padStart(5, "0")}`, 4);
    const state = states[nth % states.length] ?? "RUNNING";
    const status = { applicationState: { state }, driverInfo: {}, executionAttempts: 1, lastSubmissionAttemptTime: at };
    const path = applicationsIn(object.metadata.namespace);
    post(simulator, path, object);
    const { status: code, body } = simulator.handle({
      method: "PATCH",
      path: `${path}/${object.metadata.name}/status`,
      headers: { "content-type": "application/merge-patch+json" },
      body: JSON.stringify({ status }),
    });
    if (code >= 300) throw new Error(`status of ${object.metadata.name}: ${code} ${body}`);
  }
};
