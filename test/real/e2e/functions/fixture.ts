/**
 * The fixture of a lane whose functions run on demand: a real cluster with an audit log, the accounts and settings of an
 * overlay, and the functions as processes.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type Audit, openAudit } from "../../cluster/audit.ts";
import { type Cluster, startCluster } from "../../cluster/cluster.ts";
import { install as applied } from "../../infra/accepted.ts";
import { accountsIn, type Overlaid, overlayOf } from "../../infra/overlays.ts";
import { recordOf } from "../../lambda/cloud.ts";
import { install } from "../installed.ts";
import { collection, observeAll, type Witness } from "../lambda/witness.ts";
import type { Daemon, Storm } from "./storm.ts";

/** The processes of a function, which run while there is work. */
export type OnDemand = {
  /** The moment of each kill. */
  readonly kills: readonly string[];
  /** Started processes, and those that were stopped because no work came. */
  readonly counts: () => { readonly started: number; readonly stopped: number; readonly running: number };
  /** The calls or deliveries that the function took, for the report. */
  readonly taken: () => Promise<string>;
};

/** Calls or messages that the function reconcile has taken so far, and those of them that failed. */
export type Work = { readonly taken: number; readonly failed: number };

export type Fixture = {
  readonly cluster: Cluster;
  readonly audit: Audit;
  readonly witness: Witness;
  readonly functions: Readonly<Record<"reconcile" | "deliver", OnDemand>>;
  /** Processes of Rekindle that are always up. */
  readonly daemons: readonly Daemon[];
  /** The folder of the processes' logs, where a case reads them. */
  readonly logs?: string;
  /** The server of the queue, where it is a process of its own. Its kills are not those of functions. */
  readonly broker?: Daemon;
  /** `http://…` or `https://…` of the API that takes triggers. */
  readonly door: string;
  /** The authority of the door's certificate, where it has one; PEM. */
  readonly authority?: string;
  readonly work: () => Promise<Work>;
  readonly storm: Storm;
  readonly stop: () => Promise<void>;
};

/** A resync finds what a message that was given up has left; the overlays' is 5 minutes. */
export const resyncMs = 30_000;

/** An overlay of `infra/kubernetes` on a cluster. */
export type Installed = {
  readonly overlay: Overlaid;
  /** The folder of the processes' logs. */
  readonly logs: string;
  /** Returns the record of the cluster for the account of a function. */
  readonly recordFor: (name: string) => Promise<string>;
};

export type Surroundings = Pick<Fixture, "cluster" | "audit" | "witness"> &
  Installed & { readonly close: () => Promise<void> };

/** Applies the accounts of an overlay to a cluster that has the CRDs. */
export const installOverlay = async (cluster: Cluster, dir: string, name: string): Promise<Installed> => {
  const overlay = await overlayOf(cluster, name);
  await applied(cluster, accountsIn(overlay));
  const logs = join(dir, "logs");
  await mkdir(logs, { recursive: true });
  return {
    overlay,
    logs,
    recordFor: async (what) => await recordOf(await cluster.kubeconfigOf("rekindle", `rekindle-${what}`)),
  };
};

/** Starts the cluster with the CRDs, and the accounts of an overlay of `infra/kubernetes`. */
export const openSurroundings = async (dir: string, name: string): Promise<Surroundings> => {
  const audit = await openAudit(dir, "rekindle");
  const cluster = await startCluster({ nodes: 1, dir, extra: audit.flags });
  await install(cluster, undefined);
  const installed = await installOverlay(cluster, dir, name);
  await cluster.api.until(collection, ({ status }) => status === 200, 30_000);
  const witness = observeAll(cluster.api);
  return {
    cluster,
    audit,
    witness,
    ...installed,
    close: async () => {
      await witness.stop();
      await cluster.stop();
    },
  };
};
