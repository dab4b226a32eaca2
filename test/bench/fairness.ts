/**
 * `npm run bench -- fairness`: one tenant's many new objects beside another's ten, and a host that starts among many
 * objects. The simulator behind HTTP and the built host run in separate processes. A block of the host's event loop is
 * the wait of its liveness probe, less the time for which the kernel gave it no processor.
 */
import { type ChildProcess, fork } from "node:child_process";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { type HostUnderAttack, openHost } from "../proof/attack/host.ts";
import { build } from "../real/e2e/installed.ts";
import { sparkPi } from "../support/pi.ts";
import type { Figure } from "./figures.ts";

const few = 10;
const longestMs = 600_000;
const applications = (namespace: string): string =>
  `/apis/sparkoperator.k8s.io/v1beta2/namespaces/${namespace}/sparkapplications`;

type Server = { readonly url: string; readonly kubeconfig: string; readonly child: ChildProcess };

const told = z.object({ url: z.string(), kubeconfig: z.string() });

/** Starts the simulator in a separate process, to use another processor if there is one. */
const startServer = (): Promise<Server> =>
  new Promise((resolve, reject) => {
    const child = fork(join(import.meta.dirname, "server.ts"), [], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
    child.once("error", reject);
    child.once("message", (message) => resolve({ ...told.parse(message), child }));
  });

const post = async ({ url }: Server, namespace: string, name: string, spec: object): Promise<void> => {
  const { metadata, ...rest } = sparkPi(name, { executor: { instances: 1, cores: 1, memory: "512m" }, ...spec });
  const body = JSON.stringify({ ...rest, metadata: { ...metadata, namespace } });
  const answer = await fetch(`${url}${applications(namespace)}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  if (answer.status !== 201) throw new Error(`create ${namespace}/${name}: ${await answer.text()}`);
  await answer.arrayBuffer();
};

/** Posts `count` applications of a tenant, eight at a time. */
const postAll = async (
  server: Server,
  namespace: string,
  word: string,
  count: number,
  spec: object = {},
): Promise<void> => {
  const indices = Array.from({ length: count }, (_, at) => at).values();
  const worker = async (): Promise<void> => {
    for (const at of indices) await post(server, namespace, `${word}-${at}`, spec);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
};

const isThere = async ({ url }: Server, namespace: string, pod: string): Promise<boolean> => {
  const answer = await fetch(`${url}/api/v1/namespaces/${namespace}/pods/${pod}`);
  await answer.arrayBuffer();
  return answer.status === 200;
};

/**
 * Seconds until ten applications of a tenant have their drivers, and the median duration of a read meanwhile, in ms.
 */
type Ten = { readonly seconds: number; readonly readMs: number };

const tenOf = async (server: Server, namespace: string, word: string): Promise<Ten> => {
  const began = performance.now();
  const reads: number[] = [];
  await postAll(server, namespace, word, few);
  for (let at = 0; at < few; ) {
    const asked = performance.now();
    const there = await isThere(server, namespace, `${word}-${at}-driver`);
    reads.push(performance.now() - asked);
    if (there) at += 1;
    else await sleep(20);
    if (performance.now() - began > longestMs) throw new Error(`${at} of ${few} drivers after ten minutes`);
  }
  const readMs = reads.sort((one, other) => one - other)[Math.floor(reads.length / 2)] ?? 0;
  return { seconds: (performance.now() - began) / 1_000, readMs };
};

/** `profile`: a folder for CPU profiles, one per host. */
type Place = { readonly dir: string; readonly profile: string | undefined };

const opened = ({ dir, profile }: Place, name: string): Promise<HostUnderAttack> => {
  const flags =
    profile === undefined ? [] : ["--cpu-prof", "--cpu-prof-dir", profile, "--cpu-prof-name", `${name}.cpuprofile`];
  return openHost(join(dir, "kubeconfig"), join(dir, `${name}.log`), ["--log-level", "warn"], flags);
};

/** Runs a measurement with its own host, which stops with it in any case. */
const beside = async <T>(place: Place, name: string, measure: (host: HostUnderAttack) => Promise<T>): Promise<T> => {
  const host = await opened(place, name);
  try {
    const measured = await measure(host);
    if ((await host.stop()) !== 0) throw new Error("the host did not end well");
    return measured;
  } finally {
    await host.kill();
  }
};

/** Measures the blocks of the event loop of a host that starts among `count` objects. */
const startAmong = async (place: Place, count: number): Promise<readonly Figure[]> => {
  const since = Date.now();
  return await beside(place, "start", async (host) => {
    await sleep(15_000);
    return [
      {
        name: `fairness.start-among-${count}.longest-block`,
        value: host.probe.longestSince(since),
        unit: "ms",
        aim: 100,
      },
      { name: `fairness.start-among-${count}.peak-rss`, value: host.resident(), unit: "MiB", aim: 450 },
    ];
  });
};

/** Measures ten applications alone, ten during a crowd's creation, and ten after it. */
const amongCrowd = (server: Server, place: Place, count: number): Promise<readonly Figure[]> =>
  beside(place, "crowd", async (host) => {
    await tenOf(server, "small", "warm");
    const alone = await tenOf(server, "small", "alone");
    const aim = Math.round(200 * alone.seconds) / 100;
    const since = Date.now();
    const crowd = postAll(server, "large", "crowd", count);
    // The creation of the crowd is well under way when the others are created.
    const [among] = await Promise.all([sleep(2_000).then(() => tenOf(server, "small", "beside")), crowd]);
    const late = await tenOf(server, "small", "late");
    const block = host.probe.longestSince(since);
    return [
      { name: "fairness.ten-alone", value: alone.seconds, unit: "s" },
      { name: `fairness.ten-while-${count}-are-created`, value: among.seconds, unit: "s", aim },
      { name: `fairness.ten-behind-${count}`, value: late.seconds, unit: "s", aim },
      { name: "fairness.read-of-the-server-alone", value: alone.readMs, unit: "ms" },
      { name: `fairness.read-of-the-server-while-${count}-are-created`, value: among.readMs, unit: "ms" },
      { name: `fairness.longest-block-beside-${count}`, value: block, unit: "ms", aim: 100 },
    ];
  });

/** Throws when work was wrong or missing; slowness is only reported. */
export const benchFairness = async (count: number, profile: string | undefined): Promise<readonly Figure[]> => {
  await build();
  const dir = await mkdtemp(join(tmpdir(), "rekindle-fairness-"));
  const place = { dir, profile };
  const server = await startServer();
  try {
    await writeFile(join(dir, "kubeconfig"), server.kubeconfig);
    return [...(await amongCrowd(server, place, count)), ...(await startAmong(place, count))];
  } finally {
    server.child.kill();
  }
};
