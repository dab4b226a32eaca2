/**
 * `npm run bench -- submit --burst N`: N SparkApplications at once on the simulator, behind HTTP, with the built host
 * as a separate process. Measures the host's memory during the burst, and how many applications are overtaken by later
 * ones.
 */
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { serveSimulator } from "../../shared/simulator/http/serve.ts";
import { openSimulator, type Simulator } from "../../shared/simulator/open.ts";
import type { Change } from "../../shared/simulator/storage/store.ts";
import { build, type HostProcess, startHost } from "../real/e2e/installed.ts";
import { crds } from "../support/crds.ts";
import type { Figure } from "./figures.ts";
import { account, application, applications } from "./submit.ts";

const nameOf = (index: number): string => `bench-${index + 1}`;

/** Returns the labels of a driver pod that has just been created. */
const driverLabels = ({ type, table, object }: Change): Readonly<Record<string, string>> | undefined => {
  if (type !== "ADDED" || table !== "pods") return undefined;
  const { labels } = object.metadata;
  return labels?.["spark-role"] === "driver" ? labels : undefined;
};

/**
 * Lists applications in the order in which their drivers were created, and those with a second driver, which is a
 * failure.
 */
const openArrivals = (
  simulator: Simulator,
): { readonly order: readonly string[]; readonly twice: readonly string[] } => {
  const order: string[] = [];
  const twice: string[] = [];
  const seen = new Set<string>();
  simulator.subscribe((change: Change) => {
    const labels = driverLabels(change);
    const name = labels?.["sparkoperator.k8s.io/app-name"];
    if (name === undefined) return;
    (seen.has(name) ? twice : order).push(name);
    seen.add(name);
  });
  return { order, twice };
};

const post = ({ handle }: Simulator, path: string, object: object): void => {
  const headers = { "content-type": "application/json" };
  const { status, body } = handle({ method: "POST", path, headers, body: JSON.stringify(object) });
  if (status !== 201) throw new Error(`POST ${path}: ${body}`);
};

/** Pauses between batches, because the simulator serves the host in the same process. */
const createAll = async (simulator: Simulator, count: number): Promise<void> => {
  for (let index = 0; index < count; index++) {
    post(simulator, applications, application(nameOf(index)));
    if (index % 20 === 19) await sleep(1);
  }
};

/** Returns the current resident size, in MiB. */
const resident = async ({ pid }: HostProcess): Promise<number> => {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024;
};

type Sample = { readonly drivers: number; readonly mebibytes: number };

const longestMs = 1_200_000;

const until = async (host: HostProcess, count: number, drivers: () => number): Promise<readonly Sample[]> => {
  const samples: Sample[] = [];
  const began = performance.now();
  while (drivers() < count) {
    await sleep(1_000);
    if (host.exited()) throw new Error("the host ended");
    if (performance.now() - began > longestMs) throw new Error(`${drivers()} of ${count} drivers after 20 minutes`);
    samples.push({ drivers: drivers(), mebibytes: await resident(host) });
  }
  return samples;
};

/** Returns the largest number of places by which a later application overtook others with its driver. */
const overtaken = (order: readonly string[]): number => {
  const created = order.map((name) => Number(name.replace("bench-", "")) - 1);
  return Math.max(0, ...created.map((index, at) => at - index));
};

/** Returns the highest sample between these numbers of drivers. */
const highest = (samples: readonly Sample[], from: number, to: number): number =>
  Math.max(0, ...samples.flatMap(({ drivers, mebibytes }) => (drivers >= from && drivers <= to ? [mebibytes] : [])));

/** Throws when an application has no driver, or two. */
export const benchBurst = async (count: number): Promise<readonly Figure[]> => {
  await build();
  const dir = await mkdtemp(join(tmpdir(), "rekindle-burst-"));
  const simulator = openSimulator({ start: Date.now(), crds, nodes: [] });
  post(simulator, "/api/v1/namespaces/default/serviceaccounts", {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name: "spark", namespace: "default" },
  });
  const served = await serveSimulator(simulator);
  try {
    const kubeconfig = join(dir, "kubeconfig");
    await writeFile(kubeconfig, served.kubeconfig);
    const arrivals = openArrivals(simulator);
    const host = startHost(kubeconfig, join(dir, "host.log"), ["--log-level", "warn", "--max-submissions", "8"]);
    await sleep(3_000);
    const began = performance.now();
    const creating = createAll(simulator, count);
    const samples = await until(host, count, () => arrivals.order.length);
    const seconds = (performance.now() - began) / 1_000;
    await creating;
    const { peak } = await account(host);
    const code = await host.stop();
    if (code !== 0) throw new Error(`the host ended with ${code}; its log is in ${dir}`);
    if (arrivals.twice.length > 0) throw new Error(`two drivers: ${arrivals.twice.join(", ")}`);
    const growth = highest(samples, count / 2, count) - highest(samples, 0, count / 2);
    return [
      { name: `burst.${count}.until-all-drivers`, value: seconds, unit: "s", aim: count / 20 },
      { name: "burst.host-peak-rss", value: peak, unit: "MiB", aim: 250 },
      { name: "burst.second-half-grows-by", value: growth, unit: "MiB", aim: 25 },
      { name: "burst.most-overtaken", value: overtaken(arrivals.order), unit: "applications", aim: count / 10 },
    ];
  } finally {
    await served.close();
  }
};
