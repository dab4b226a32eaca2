/** Watches that feed the page's board in a process that runs no steps. */
import { checkpointResource } from "../../adapters/checkpoints/object.ts";
import { everyKind } from "../../cli/kinds/all.ts";
import type { Transport } from "../../core/http.ts";
import type { Resource } from "../../core/object.ts";
import { follow } from "../../forward/listwatch.ts";
import { pause } from "../../forward/pause.ts";
import { pods } from "../../kube/resources.ts";
import { trim } from "../../kube/trim.ts";
import { queues } from "../../volcano/schema/resource.ts";
import type { Board } from "./board.ts";

export type Watching = {
  /** True once everything has been listed, or is known not to be there. */
  ready(): boolean;
  stop(): Promise<void>;
};

type Followed = { readonly resource: Resource; readonly selector?: string; readonly isClusterWide?: true };

const everything: readonly Followed[] = [
  ...everyKind.map(({ resource }) => ({ resource })),
  { resource: checkpointResource },
  { resource: pods, selector: "spark-role" },
  { resource: pods, selector: "volcano.sh/job-name" },
  { resource: queues, isClusterWide: true },
];

type Settings = {
  readonly transport: Transport;
  /** Empty: all. */
  readonly namespaces: readonly string[];
  readonly board: Board;
};

export const watchAll = ({ transport, namespaces, board }: Settings): Watching => {
  const stopping = new AbortController();
  const { signal } = stopping;
  const waiting = new Set<object>();
  const loops = everything.flatMap((one) =>
    (namespaces.length === 0 || one.isClusterWide === true ? [undefined] : namespaces).map((namespace) => ({
      ...one,
      namespace,
    })),
  );
  const running = loops.map((loop) => {
    const { resource, selector, namespace } = loop;
    waiting.add(loop);
    return follow({
      ...{ transport, resource, namespace, selector, pause, signal, random: Math.random },
      trim: (object) => {
        board.see(object);
        return trim(object);
      },
      changed: ({ before, after }) => {
        if (after === undefined) board.gone(before);
      },
      synced: () => void waiting.delete(loop),
      troubled: () => void waiting.delete(loop),
      now: () => performance.now(),
    });
  });
  return {
    ready: () => waiting.size === 0,
    stop: async () => {
      stopping.abort();
      await Promise.all(running);
    },
  };
};
