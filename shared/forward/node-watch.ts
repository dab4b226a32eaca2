/**
 * Watches nodes, so that executors on one that is deleted without notice are replaced at once: Kubernetes deletes their
 * pods about a minute later. A deleted node is passed on, and its notice is written from the queue, as every notice is:
 * see node-notice.ts. What a process does not see, it does not tell; the deletion of the pods follows in any case.
 */
import { ApiError, type Transport } from "../core/http.ts";
import type { Stored } from "../core/object.ts";
import type { Report } from "../engine/ports.ts";
import { nodes } from "../kube/resources.ts";
import { type FollowContext, follow, openWatchState, type WatchState } from "./listwatch.ts";
import { type Pause, pause as realPause } from "./pause.ts";

type NodeWatch = {
  readonly transport: Transport;
  readonly report: Report;
  /** Receives the name and UID of each node that was deleted. */
  readonly deleted: (name: string, uid: string) => Promise<void>;
  /** A monotonic time, ms. */
  readonly now: () => number;
  readonly random: () => number;
  readonly pause?: Pause;
  /** The nodes known from an earlier watch, which continues; absent: none. */
  readonly state?: WatchState;
};

/** A missing right is asked for again after this time, ms. */
const forbiddenMs = 600_000;

/** Nodes are large, and only their names are needed. */
const named = ({ apiVersion, kind, metadata: { name, uid, resourceVersion } }: Stored): Stored => ({
  apiVersion,
  kind,
  metadata: { name, uid, resourceVersion },
});

const isForbidden = (cause: unknown): boolean => cause instanceof ApiError && cause.status === 403;

/** The state of a watch of nodes that has not begun. */
export const openNodes = (): WatchState => openWatchState(named);

/** Starts the watch, and returns the function that ends it. */
export const startNodeWatch = ({ transport, report, deleted, now, random, ...rest }: NodeWatch) => {
  const { pause = realPause, state = openNodes() } = rest;
  const ending = new AbortController();
  let lacks = false;
  const following: FollowContext = {
    ...{ transport, resource: nodes, namespace: undefined, selector: undefined, trim: named, now, random },
    signal: ending.signal,
    pause: (ms, signal) => pause(lacks ? forbiddenMs : ms, signal),
    synced: () => {
      lacks = false;
    },
    changed: ({ before, after }) => {
      if (before === undefined || after !== undefined) return;
      const { name, uid } = before.metadata;
      deleted(name, uid).catch((cause: unknown) =>
        report("warn", `node ${name} was deleted, and its pods could not be marked: ${String(cause)}`),
      );
    },
    troubled: (cause) => {
      const before = lacks;
      lacks = isForbidden(cause);
      if (lacks && !before)
        report("warn", "nodes are not watched: grant list and watch of nodes (rekindle manifests --nodes)");
      if (!lacks) report("debug", "the watch of nodes broke", { error: String(cause) });
    },
  };
  const running = follow(following, state);
  return async (): Promise<void> => {
    ending.abort();
    await running;
  };
};
