/**
 * The built dispatcher and the functions that it calls, under attack: the overlay's accounts and settings, each function a
 * process that starts with its first call.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Cluster } from "../../real/cluster/cluster.ts";
import { openPlatform } from "../../real/e2e/dispatch/platform.ts";
import { installOverlay } from "../../real/e2e/functions/fixture.ts";
import { childOf, startFunction } from "../../real/e2e/installed.ts";
import { dataIn } from "../../real/infra/overlays.ts";
import { freePort } from "../../support/port.ts";
import { confine, heapEnvironment } from "./confinement.ts";
import { type HostUnderAttack, textOf, underAttack } from "./host.ts";

const idleMs = 30_000;
const readyMs = 60_000;

type Dispatcher = {
  readonly overlay: string;
  /** They replace those of the overlay. */
  readonly settings: Readonly<Record<string, string>>;
};

/** Starts the dispatcher and waits until it is ready. `dir`: the folder of the logs. */
export const openDispatcher = async (
  cluster: Cluster,
  dir: string,
  { overlay: name, settings }: Dispatcher,
): Promise<HostUnderAttack> => {
  await mkdir(dir, { recursive: true });
  const { overlay, logs, recordFor } = await installOverlay(cluster, dir, name);
  const [door, reconcile, deliver] = [await freePort(), await freePort(), await freePort()];
  const common = {
    ...dataIn(overlay),
    REKINDLE_CALL_URLS: `reconcile=http://127.0.0.1:${reconcile}/,deliver=http://127.0.0.1:${deliver}/`,
    REKINDLE_CALL_SECRET: "a secret that signs the calls of this stage",
    REKINDLE_RESYNC: "30s",
    ...settings,
  };
  const functionOf = async (name: "reconcile" | "deliver", port: number) => {
    const record = await recordFor(name);
    return await openPlatform({
      ...{ name, port, idleMs, log: join(logs, `${name}.log`), fate: () => undefined },
      envOf: (listen) => ({ ...common, REKINDLE_CLUSTER_RECORD: record, REKINDLE_LISTEN: listen }),
    });
  };
  const functions = [await functionOf("reconcile", reconcile), await functionOf("deliver", deliver)];
  const env = {
    ...common,
    REKINDLE_CLUSTER_RECORD: await recordFor("dispatch"),
    REKINDLE_LISTEN: `127.0.0.1:${door}`,
    ...heapEnvironment(),
  };
  const files = ["dispatch", "reconcile", "deliver"].map((name) => join(logs, `${name}.log`));
  const started = childOf(startFunction("dispatch", env, join(logs, "dispatch.log")));
  const stopped = async <T>(end: () => Promise<T>): Promise<T> => {
    const result = await end();
    await Promise.all(functions.map((one) => one.stop()));
    return result;
  };
  const url = `http://127.0.0.1:${door}`;
  const process = {
    ...started,
    ...{ url, log: () => files.map(textOf).join("\n") },
    kill: () => stopped(started.kill),
    stop: () => stopped(started.stop),
  };
  const attacked = underAttack(process, confine(started.pid));
  for (const end = performance.now() + readyMs; performance.now() < end && !started.exited(); await sleep(100)) {
    const status = await fetch(`${url}/readyz`).then(
      (answer) => answer.status,
      () => 0,
    );
    if (status === 200) return attacked;
  }
  await attacked.kill();
  throw new Error(`the dispatcher did not become ready: ${process.log().slice(-2_000)}`);
};
