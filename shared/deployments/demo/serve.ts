/**
 * Serves the demo's cluster for kubectl: a port on loopback, and a kubeconfig at the requested path or in a temporary
 * folder.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { serveSimulator } from "../../simulator/http/serve.ts";
import type { Simulator } from "../../simulator/open.ts";

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
const placeFor = async (asked: string | undefined): Promise<{ file: string; clear: () => Promise<void> }> => {
  if (asked !== undefined) {
    const file = resolve(asked);
    if (!(await isOurs(file))) throw new Occupied(`--kubeconfig ${asked} is there already; name a file that is not`);
    return { file, clear: () => rm(file, { force: true }) };
  }
  const folder = await mkdtemp(join(tmpdir(), "rekindle-demo-"));
  return { file: join(folder, "kubeconfig"), clear: () => rm(folder, { recursive: true, force: true }) };
};

/** The kubeconfig cannot be written at the requested path. */
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
