/**
 * A reader of the demo's cluster: it watches applications, pods, events and records through the API, as any client may.
 */
import type { Transport } from "../../core/http.ts";
import type { Stored } from "../../core/object.ts";
import type { Change } from "../../forward/keys.ts";
import { follow } from "../../forward/listwatch.ts";
import { pause } from "../../forward/pause.ts";
import { followed, type ObservedCluster } from "./observed-cluster.ts";

export type Reader = {
  /** The current knowledge; always the same object, which changes. */
  readonly scene: ObservedCluster;
  /** Resolves once everything has been listed. */
  readonly listed: Promise<void>;
  /** Resolves true as soon as `isSo` holds, false when the signal is aborted first. */
  until(isSo: (scene: ObservedCluster) => boolean, signal: AbortSignal): Promise<boolean>;
  stop(): Promise<void>;
};

export type ReaderSettings = {
  readonly transport: Transport;
  readonly namespace: string;
  /** Receives every change in the order of the API; the scene contains it already. */
  readonly changed: (change: Change, scene: ObservedCluster) => void;
};

type Waiter = { readonly isSo: (scene: ObservedCluster) => boolean; readonly done: (isSo: boolean) => void };

export const startReader = ({ transport, namespace, changed }: ReaderSettings): Reader => {
  const seen = new Map<string, Stored>();
  const gone = new Set<string>();
  const scene: ObservedCluster = { seen, gone };
  const waiters = new Set<Waiter>();
  const stopping = new AbortController();
  const { signal } = stopping;

  const take = (change: Change): void => {
    const object = change.after ?? change.before;
    if (change.after === undefined) gone.add(object.metadata.uid);
    seen.set(object.metadata.uid, object);
    changed(change, scene);
    for (const waiter of waiters) if (waiter.isSo(scene)) waiter.done(true);
  };

  const lists = followed.map(() => Promise.withResolvers<void>());
  const running = followed.map((resource, at) =>
    follow({
      ...{ transport, resource, namespace, selector: undefined, pause, signal, random: Math.random },
      trim: (object) => object,
      changed: take,
      synced: () => lists[at]?.resolve(),
      troubled: () => {},
      now: () => performance.now(),
    }),
  );
  return {
    scene,
    listed: Promise.all(lists.map(({ promise }) => promise)).then(() => {}),
    until: (isSo, ended) =>
      new Promise((resolve) => {
        const waiter: Waiter = {
          isSo,
          done: (outcome) => {
            waiters.delete(waiter);
            ended.removeEventListener("abort", giveUp);
            resolve(outcome);
          },
        };
        const giveUp = (): void => waiter.done(false);
        if (isSo(scene)) return resolve(true);
        if (ended.aborted) return resolve(false);
        waiters.add(waiter);
        ended.addEventListener("abort", giveUp, { once: true });
      }),
    stop: async () => {
      stopping.abort();
      await Promise.all(running);
    },
  };
};
