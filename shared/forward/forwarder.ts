/**
 * The forwarder: follows every resource that an operator watches, and sends the keys that a change may concern. It
 * makes no decision and keeps only trimmed objects. Two forwarders at once are normal.
 */
import { ApiError, type Transport } from "../core/http.ts";
import type { Message } from "../core/key.ts";
import { keyKindOf, type Resource, type Stored } from "../core/object.ts";
import type { Watcher } from "../core/operator.ts";
import { openShare } from "../core/share.ts";
import { errorText } from "../core/text.ts";
import type { Report } from "../engine/ports.ts";
import {
  isWatched,
  type ObjectCache,
  type Sending,
  type Subject,
  sendingsOf,
  subjectsOf,
  usualCacheBytes,
} from "./keys.ts";
import { type FollowContext, follow, openWatchState, type RestCheck, type WatchState } from "./listwatch.ts";
import { type Pause, pause as realPause } from "./pause.ts";
import { openSender, type Sender } from "./sender.ts";

export type ForwarderSettings = {
  readonly transport: Transport;
  readonly operators: readonly Watcher[];
  /** Alias of the cluster in keys. */
  readonly cluster: string;
  /** Empty: all namespaces. */
  readonly namespaces: readonly string[];
  /** Restricts the operators' own objects, not their children. */
  readonly selector: string | undefined;
  readonly send: (message: Message, dedupeId: string) => Promise<void>;
  readonly report: Report;
  readonly now: () => number;
  readonly random: () => number;
  /** The longest wait of news that decides nothing for other news of its key, ms; absent: it waits no longer than others. */
  readonly patientMs?: number | undefined;
  readonly pause?: Pause;
  /** Called with every object as the server sent it, before it is trimmed. */
  readonly see?: ((object: Stored) => void) | undefined;
  /** Called with every deleted object, trimmed. */
  readonly gone?: ((object: Stored) => void) | undefined;
  /** Returns the state from which a loop continues; undefined: from the beginning. */
  readonly watchStateOf?: (loop: Loop) => WatchState | undefined;
  /** The memory for watched objects, bytes; absent: as in a process with the heap of the manifests. */
  readonly cacheBytes?: number;
  /** Reads the records at rest for a loop's first list; absent: each listed object causes a step. */
  readonly resting?: ((loop: Loop) => Promise<RestCheck>) | undefined;
  /**
   * Called when a watch that had lost its place has listed anew: it has missed objects that came and went meanwhile, which a
   * step may have seen.
   */
  readonly gap?: () => void;
  /** Returns keys of known objects that the first list of a loop did not find: they were deleted earlier. */
  readonly strays?: (loop: Loop, state: WatchState) => Promise<readonly Sending[]>;
};

/**
 * A request for watched objects: those that the operator of `kind` watches of a resource in a namespace; without
 * `kind`, all objects of the resource, if some loop watches all of them.
 */
export type WatchedQuery = { readonly kind?: string; readonly resource: Resource; readonly namespace: string };

/**
 * Watched objects, possibly also of other namespaces. `reached`: the resourceVersion up to which they are known;
 * undefined while that is in doubt.
 */
export type WatchedObjects = Pick<ObjectCache, "get" | "values" | "labelled"> & {
  readonly reached: () => string | undefined;
};

/** A loop: one resource followed in one namespace, or in all. */
export type Loop = { readonly subject: Subject; readonly namespace: string | undefined };

export type Forwarder = {
  /** True if every resource has been listed, or is watched from a stored cursor. */
  synced(): boolean;
  /** True if the server has answered for every resource since it was started. */
  answered(): boolean;
  /** Returns the trimmed objects that are known; undefined unless all of them are, and none is an outline. */
  known(query: WatchedQuery): WatchedObjects | undefined;
  /** True while a key waits to be sent. */
  waits(): boolean;
  /** Returns the cursors of all loops at the time of the call; undefined if not everything up to them could be sent. */
  sent(): Promise<ReadonlyMap<Loop, string> | undefined>;
  /** Stops watching and sends all waiting messages. True if the queue has taken everything. */
  stop(): Promise<boolean>;
};

const shownTo = (see: (object: Stored) => void, subject: Subject): Subject => ({
  ...subject,
  trim: (object, before) => {
    see(object);
    return subject.trim(object, before);
  },
});

export const loopsOf = ({
  operators,
  selector,
  namespaces,
  see,
}: Pick<ForwarderSettings, "operators" | "selector" | "namespaces" | "see">): readonly Loop[] =>
  subjectsOf(
    operators.filter(({ scope }) => scope !== "Cluster" || namespaces.length === 0),
    selector,
  ).flatMap((subject) =>
    (namespaces.length === 0 ? [undefined] : namespaces).map((namespace) => ({
      subject: see === undefined ? subject : shownTo(see, subject),
      namespace,
    })),
  );

/** A running loop. */
type Course = { readonly loop: Loop; readonly state: WatchState; readonly searches: Set<Promise<boolean>> };

/** Finds the objects whose deletion a list could not show; the cursor is not stored before that is done. */
const search = (settings: ForwarderSettings, { loop, state, searches }: Course, sender: Sender): void => {
  const { strays, report } = settings;
  if (strays === undefined) return;
  const done = strays(loop, state).then(
    (sendings) => {
      for (const sending of sendings) sender.offer(sending);
      searches.delete(done);
      return true;
    },
    // The failed search stays in the set: the cursor cannot advance past it.
    (cause: unknown) => {
      report("warn", "cannot list objects to find deleted ones", { error: String(cause) });
      return false;
    },
  );
  searches.add(done);
};

/** The same error is reported as a warning again after this time, ms; in between at level debug. */
const repeatedAfterMs = 1_800_000;

/** Remembers errors; `isNews` is true for an error that was not reported lately. */
const openErrorNews = (now: () => number) => {
  const at = new Map<string, number>();
  return {
    isNews: (error: string): boolean => {
      const last = at.get(error);
      if (last !== undefined && now() - last < repeatedAfterMs) return false;
      at.set(error, now());
      return true;
    },
    forget: (): void => at.clear(),
  };
};

const following = (
  settings: ForwarderSettings,
  course: Course,
  sender: Sender,
  signal: AbortSignal,
  listed: (objects: number) => void,
): FollowContext => {
  const { transport, report, now, random, cluster, pause = realPause } = settings;
  const { loop, state } = course;
  const { resource, selector, field, trim } = loop.subject;
  const what = { resource: resource.plural, namespace: loop.namespace };
  const failures = openErrorNews(now);
  let troubled = false;
  const well = (): void => {
    if (troubled) report("info", "watching again", what);
    troubled = false;
    failures.forget();
  };
  return {
    ...{ transport, resource, selector, field, trim, now, random, pause, signal },
    namespace: loop.namespace,
    synced: (objects, before) => {
      well();
      listed(objects);
      if (before !== "list") search(settings, course, sender);
      if (before !== "nothing") settings.gap?.();
    },
    resting: settings.resting && (async () => (await settings.resting?.(loop)) ?? (() => false)),
    changed: (change, isIdle) => {
      well();
      if (change.after === undefined) settings.gone?.(change.before);
      const unsure = state.base === "cursor";
      for (const sending of sendingsOf(cluster, loop.subject, change, unsure))
        if (isIdle?.(sending.message) !== true) sender.offer(sending);
    },
    troubled: (cause, waitMs) => {
      const spared = loop.subject.optional && cause instanceof ApiError && cause.status === 404;
      const error = errorText(cause);
      const isNews = failures.isNews(error) && !(spared && troubled);
      troubled = true;
      if (spared) {
        listed(0);
        // A cluster may lack this kind. The loop retries, and begins to watch when the CRD is installed. That another
        // controller's kind is absent, such as Kueue's, is no news.
        const { interests, resource } = loop.subject;
        const isOwn = interests.some(({ kind }) => kind === keyKindOf(resource));
        report(
          isNews && isOwn ? "info" : "debug",
          "not served by this cluster: the watch starts when its CRD is installed",
          what,
        );
        return;
      }
      report(isNews ? "warn" : "debug", "cannot watch, trying again", { ...what, error, waitMs: Math.round(waitMs) });
    },
  };
};

/** Starts all loops; a resource that cannot be reached is retried until it can. */
export const startForwarder = (settings: ForwarderSettings): Forwarder => {
  const { report } = settings;
  const stopping = new AbortController();
  const sender = openSender(settings);
  const share = openShare(settings.cacheBytes ?? usualCacheBytes);
  const courses = loopsOf(settings).map((loop): Course => {
    const state = settings.watchStateOf?.(loop) ?? openWatchState(loop.subject.trim, undefined, share);
    return { loop, state, searches: new Set() };
  });
  const listed = new Set<Loop>();
  const running = courses.map((course) => {
    const { loop, state } = course;
    const synced = (objects: number): void => {
      listed.add(loop);
      report("debug", "listed", { resource: loop.subject.resource.plural, namespace: loop.namespace, objects });
    };
    return follow(following(settings, course, sender, stopping.signal, synced), state);
  });
  const searched = async (): Promise<boolean> =>
    (await Promise.all(courses.flatMap(({ searches }) => [...searches]))).every(Boolean);
  const known = ({ kind, resource, namespace }: WatchedQuery): WatchedObjects | undefined => {
    const mine = courses.filter(({ loop: { subject, ...loop } }) => {
      const covers = loop.namespace === undefined || loop.namespace === namespace;
      return covers && isWatched(subject, { kind, resource });
    });
    const [course] = mine;
    if (mine.length !== 1 || course?.state.base !== "list") return undefined;
    const { state } = course;
    if (!state.known.isWhole(namespace)) return undefined;
    const { get, values, labelled } = state.known;
    return { get, values, labelled, reached: () => state.cursor };
  };
  return {
    known,
    waits: sender.waits,
    answered: () => courses.every(({ loop, state }) => listed.has(loop) || state.answered),
    synced: () => courses.every(({ loop, state }) => listed.has(loop) || state.cursor !== undefined),
    sent: async () => {
      const reached = courses.flatMap(({ loop, state: { cursor } }) =>
        cursor === undefined ? [] : [[loop, cursor] as const],
      );
      const complete = await searched();
      return (await sender.flush()) && complete ? new Map(reached) : undefined;
    },
    stop: async () => {
      stopping.abort();
      await Promise.all(running);
      const complete = await searched();
      return (await sender.drain()) && complete;
    },
  };
};
