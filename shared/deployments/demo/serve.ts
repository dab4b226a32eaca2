/** The demo's cluster for kubectl: a port on loopback and a kubeconfig, where it is asked for or in a folder of its own. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Simulator } from "../../simulator/open.ts";
import { serveSimulator } from "../../simulator/serve.ts";

export type Served = {
  readonly url: string;
  /** Path of the kubeconfig; it goes when the port is closed. */
  readonly kubeconfig: string;
  close(): Promise<void>;
};

/** A file of ours may be written again; anybody else's holds ways to other clusters. */
const isOurs = async (file: string): Promise<boolean> => {
  const text = await readFile(file, "utf8").catch(() => undefined);
  return text === undefined || /"server": "http:\/\/127\.0\.0\.1:\d+"/.test(text);
};

/** The file that is asked for, or one in a folder of its own; `clear` takes away what was made. */
const placeFor = async (asked: string | undefined): Promise<{ file: string; clear: () => Promise<void> }> => {
  if (asked !== undefined) {
    const file = resolve(asked);
    if (!(await isOurs(file))) throw new Occupied(`--kubeconfig ${asked} is there already; name a file that is not`);
    return { file, clear: () => rm(file, { force: true }) };
  }
  const folder = await mkdtemp(join(tmpdir(), "rekindle-demo-"));
  return { file: join(folder, "kubeconfig"), clear: () => rm(folder, { recursive: true, force: true }) };
};

/** The kubeconfig cannot be written where it is asked for. */
export class Occupied extends Error {
  override readonly name = "Occupied";
}

export const serve = async (simulator: Simulator, port: number, asked: string | undefined): Promise<Served> => {
  const { file: kubeconfig, clear } = await placeFor(asked);
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
