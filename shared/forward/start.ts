/**
 * The forwarder: follows every resource that an operator watches, and sends the keys that changes may matter to.
 * It decides nothing and keeps nothing but trimmed objects; two of them at once are normal.
 */
import type { Transport } from "../core/http.ts";
import type { Message } from "../core/key.ts";
import type { Report } from "../engine/ports.ts";
import type { Following } from "./following.ts";
import { type Subject, sendingsOf, subjectsOf, type Watcher } from "./keys.ts";
import { follow } from "./listwatch.ts";
import { type Pause, pause as realPause } from "./pause.ts";
import { openSender, type Sender } from "./sender.ts";

export type ForwarderSettings = {
  readonly transport: Transport;
  readonly operators: readonly Watcher[];
  /** Alias of the cluster in keys. */
  readonly cluster: string;
  /** Empty: all namespaces. */
  readonly namespaces: readonly string[];
  /** Narrows the operators' own objects, not their children. */
  readonly selector: string | undefined;
  readonly send: (message: Message, dedupeId: string) => Promise<void>;
  readonly report: Report;
  readonly now: () => number;
  readonly random: () => number;
  readonly pause?: Pause;
};

export type Forwarder = {
  /** True once every resource has been listed. */
  synced(): boolean;
  /** Stops watching, sends what still waits, and resolves. */
  stop(): Promise<void>;
};

type Loop = { readonly subject: Subject; readonly namespace: string | undefined };

const loopsOf = ({ operators, selector, namespaces }: ForwarderSettings): readonly Loop[] =>
  subjectsOf(operators, selector).flatMap((subject) =>
    (namespaces.length === 0 ? [undefined] : namespaces).map((namespace) => ({ subject, namespace })),
  );

const following = (
  settings: ForwarderSettings,
  loop: Loop,
  sender: Sender,
  signal: AbortSignal,
  listed: (objects: number) => void,
): Following => {
  const { transport, report, now, random, cluster, pause = realPause } = settings;
  const { resource, selector, trim } = loop.subject;
  const what = { resource: resource.plural, namespace: loop.namespace };
  let troubled = false;
  const well = (): void => {
    if (troubled) report("info", "watching again", what);
    troubled = false;
  };
  return {
    ...{ transport, resource, selector, trim, now, random, pause, signal },
    namespace: loop.namespace,
    synced: (objects) => {
      well();
      listed(objects);
    },
    changed: (change) => {
      well();
      for (const sending of sendingsOf(cluster, loop.subject, change)) sender.offer(sending);
    },
    troubled: (cause, waitMs) => {
      troubled = true;
      const error = cause instanceof Error ? cause.message : String(cause);
      report("warn", "cannot watch, trying again", { ...what, error, waitMs: Math.round(waitMs) });
    },
  };
};

/** Starts following; what cannot be reached is tried until it can. */
export const startForwarder = (settings: ForwarderSettings): Forwarder => {
  const { report } = settings;
  const stopping = new AbortController();
  const sender = openSender(settings);
  const loops = loopsOf(settings);
  const listed = new Set<Loop>();
  const running = loops.map((loop) => {
    const synced = (objects: number): void => {
      listed.add(loop);
      report("debug", "listed", { resource: loop.subject.resource.plural, namespace: loop.namespace, objects });
    };
    return follow(following(settings, loop, sender, stopping.signal, synced));
  });
  return {
    synced: () => listed.size === loops.length,
    stop: async () => {
      stopping.abort();
      await Promise.all(running);
      await sender.drain();
    },
  };
};
