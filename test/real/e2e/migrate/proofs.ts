/** What both families' stories prove in the same way: an account without writes, and a return that leaves all as it was. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Audit, isWrite, tableOf } from "../../cluster/audit.ts";
import type { Cluster } from "../../cluster/cluster.ts";
import { kubectl, must } from "../scene.ts";
import { until } from "./stage.ts";
import { pictureOf } from "./upstream.ts";

/** Fails where the host wrote at or after `from`, in ms since the epoch. */
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
  /** Its configuration before anything was done. */
  readonly before: string;
  leads(): boolean;
  /** Versions of the objects that the way back does not touch. */
  versions(): Promise<string>;
};

/** Upstream's configuration as before, upstream leads, its objects untouched since `versions`, no record and no write of ours. */
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
