/** The demo's cluster for kubectl: a port on loopback and a kubeconfig in a folder of its own. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Simulator } from "../../simulator/open.ts";
import { serveSimulator } from "../../simulator/serve.ts";

export type Served = {
  readonly url: string;
  /** Path of the kubeconfig; it goes when the port is closed. */
  readonly kubeconfig: string;
  close(): Promise<void>;
};

export const serve = async (simulator: Simulator, port: number): Promise<Served> => {
  const { url, kubeconfig: text, close } = await serveSimulator(simulator, { port });
  const folder = await mkdtemp(join(tmpdir(), "rekindle-demo-"));
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, text, { mode: 0o600 });
  return {
    url,
    kubeconfig,
    close: async () => {
      await Promise.all([close(), rm(folder, { recursive: true, force: true })]);
    },
  };
};
