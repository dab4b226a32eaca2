/**
 * Proofs that both families' stories share: an audit log without writes, and a rollback that leaves everything as
 * before.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Audit, isWrite, tableOf } from "../../cluster/audit.ts";
import type { Cluster } from "../../cluster/cluster.ts";
import { kubectl, must } from "../scene.ts";
import { until } from "./fixture.ts";
import { pictureOf } from "./upstream.ts";

/** Throws if the host wrote at or after `from`, in ms since the epoch. */
export const noWritesSince = async (audit: Audit, from: number): Promise<void> => {
  const late = (await audit.read()).filter((request) => isWrite(request) && request.at >= from);
  must(
    late.length === 0,
    `the host wrote: ${tableOf(late)
      .map(([what, count]) => `${count} ${what}`)
      .join(", ")}`,
  );
};

export type Return = {
  readonly cluster: Cluster;
  readonly audit: Audit;
  /** Upstream's namespace. */
  readonly home: string;
  /** Upstream's configuration before the first act. */
  readonly before: string;
  leads(): boolean;
  /** Returns the versions of the objects that a rollback does not touch. */
  versions(): Promise<string>;
};

/**
 * Checks upstream's configuration, that upstream leads, that its objects are untouched since `versions`, and that no
 * record and no write of Rekindle follows.
 */
export const provesReturn = async (back: Return, versions: string): Promise<void> => {
  const { cluster, home, before } = back;
  must((await pictureOf(cluster, home)) === before, `not as it was: ${await pictureOf(cluster, home)}`);
  await until("upstream leads", async () => back.leads(), 30_000);
  const from = Date.now();
  await sleep(6_000);
  must((await back.versions()) === versions, "the way back touched what upstream follows");
  const records = await kubectl(cluster, ["get", "checkpoints.rekindle.dev", "-A", "-o", "name"]);
  must(records.trim() === "", `checkpoints are left: ${records}`);
  await noWritesSince(back.audit, from);
};
