/** The watch of nodes of a deployment: each deleted node is put into its queue as a notice whose time has come. */
import type { Transport } from "../../core/http.ts";
import { dedupe, noticeKey } from "../../core/key.ts";
import { keyKindOf } from "../../core/object.ts";
import type { Queue, Report } from "../../engine/ports.ts";
import type { WatchState } from "../../forward/listwatch.ts";
import { startNodeWatch } from "../../forward/node-watch.ts";
import { sparkApplications } from "../../spark/schema/resource.ts";

type Parts = {
  readonly transport: Transport;
  readonly report: Report;
  readonly cluster: string;
  readonly queue: Pick<Queue, "send">;
  readonly state?: WatchState;
};

/** Starts the watch where it is wanted, and returns the function that ends it. */
export const watchNodes = (isWanted = false, { cluster, queue, ...parts }: Parts): (() => Promise<void>) => {
  if (!isWanted) return async () => {};
  return startNodeWatch({
    ...parts,
    ...{ now: () => performance.now(), random: Math.random },
    deleted: async (node, uid) => {
      const key = noticeKey(cluster, keyKindOf(sparkApplications), node);
      await queue.send({ ...key, reason: "notice", until: Date.now() }, dedupe.trigger(key, uid));
    },
  });
};
