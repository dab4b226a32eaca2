/**
 * The demo's cluster: the simulator in real time with transports that count requests, the CRDs and the example as they
 * are shipped, and a port on loopback with a kubeconfig for kubectl.
 */

import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Transport } from "../../core/http.ts";
import { serveSimulator } from "../../simulator/http/serve.ts";
import type { Scripts } from "../../simulator/nodes/script.ts";
import { openSimulator, type Simulator } from "../../simulator/open.ts";
import { drive } from "../../simulator/storage/clock.ts";

export type DemoCluster = {
  readonly simulator: Simulator;
  /** Opens a transport; `counted` is called for each request. */
  openTransport(counted?: () => void): Transport;
  stop(): void;
};

/** Opens the cluster at the present time. `scripts` set the durations of simulated Spark. */
export const openDemoCluster = (scripts: Scripts): DemoCluster => {
  const start = Date.now();
  const simulator = openSimulator({ start, seed: String(start), events: true, commands: true, scripts });
  const { catchUp, stop } = drive(simulator.clock);
  return {
    simulator,
    openTransport: (counted = () => {}) => {
      const enter = (): void => {
        counted();
        catchUp();
      };
      return {
        send: async (request) => {
          enter();
          return simulator.transport.send(request);
        },
        stream: async (request) => {
          enter();
          return simulator.transport.stream(request);
        },
      };
    },
    stop,
  };
};

/** The texts of the manifests. */
export type Manifests = {
  readonly crds: readonly string[];
  /** The service account of the example, and the namespace for records of cluster-scoped objects. */
  readonly beside: readonly string[];
  readonly example: string;
};

/** Path of the example, from the package's root. */
export const exampleFile = "infra/examples/spark-pi.yaml";

/** Paths of examples of other kinds, for a cluster that stays up. */
export const moreExamples: readonly string[] = [
  "volcano-job",
  "volcano-jobflow",
  "volcano-cronjob",
  "spark-pi-scheduled",
].map((name) => `infra/examples/${name}.yaml`);

const home = `apiVersion: v1
kind: Namespace
metadata: { name: rekindle }
`;

const account = `apiVersion: v1
kind: ServiceAccount
metadata: { name: spark, namespace: default }
`;

export const readManifests = async (root: URL): Promise<Manifests> => {
  const folder = new URL("infra/crds/", root);
  const files = (await readdir(folder)).filter((file) => file.endsWith(".yaml")).sort();
  const crds = await Promise.all(files.map((file) => readFile(new URL(file, folder), "utf8")));
  return { crds, beside: [home, account], example: await readFile(new URL(exampleFile, root), "utf8") };
};

export type Served = {
  readonly url: string;
  /** Path of the kubeconfig, which `close` deletes. */
  readonly kubeconfig: string;
  close(): Promise<void>;
};

/**
 * Returns whether the file may be written: it does not exist, or is a kubeconfig of an earlier demo. Any other
 * kubeconfig may hold access to other clusters.
 */
const isOurs = async (file: string): Promise<boolean> => {
  const text = await readFile(file, "utf8").catch(() => undefined);
  return text === undefined || /"server": "http:\/\/127\.0\.0\.1:\d+"/.test(text);
};

/** Returns the requested file, or one in a temporary folder; `clear` deletes it. */
const placeFor = async (path: string | undefined): Promise<{ file: string; clear: () => Promise<void> }> => {
  if (path !== undefined) {
    const file = resolve(path);
    if (!(await isOurs(file))) throw new Occupied(`--kubeconfig ${path} is there already; name a file that is not`);
    return { file, clear: () => rm(file, { force: true }) };
  }
  const folder = await mkdtemp(join(tmpdir(), "rekindle-demo-"));
  return { file: join(folder, "kubeconfig"), clear: () => rm(folder, { recursive: true, force: true }) };
};

/** The kubeconfig cannot be written at the requested path. */
export class Occupied extends Error {
  override readonly name = "Occupied";
}

export const serve = async (simulator: Simulator, port: number, path: string | undefined): Promise<Served> => {
  const { file: kubeconfig, clear } = await placeFor(path);
  const { url, kubeconfig: text, close } = await serveSimulator(simulator, { port });
  try {
    await writeFile(kubeconfig, text, { mode: 0o600 });
  } catch (cause) {
    await close();
    throw new Occupied(`--kubeconfig ${kubeconfig} cannot be written`, { cause });
  }
  return {
    url,
    kubeconfig,
    close: async () => {
      await Promise.all([close(), clear()]);
    },
  };
};
