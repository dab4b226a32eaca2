/**
 * The sources of keys of a process that lasts, a host or a dispatcher: the watches of its kinds and of nodes, the resyncs,
 * and the looks for other controllers and for namespaces that join its scope.
 */
import { type Forwarder, type ForwarderSettings, startForwarder } from "../../forward/forwarder.ts";
import type { UnheardBoard } from "../../forward/unheard.ts";
import type { NamespaceScope } from "../common/namespaces.ts";
import { watchNodes } from "../common/node-watch.ts";
import { restingIn } from "./rest-check.ts";
import { type ResyncScope, resyncAfterGaps, resyncsOf, startSweeping } from "./sweep.ts";

type Watches = Pick<ForwarderSettings, "see" | "gone" | "cacheBytes" | "patientMs"> & {
  /** Each listed object leads to a step, also one whose record rests. */
  readonly all?: boolean;
};

export type SourcesProfile = {
  readonly scope: ResyncScope & Pick<ForwarderSettings, "operators" | "selector">;
  readonly namespaceScope: NamespaceScope;
  readonly report: ForwarderSettings["report"];
  readonly unheard: UnheardBoard;
  readonly resyncMs: number;
  readonly watchNodes: boolean | undefined;
  /** Absent: a bell sends the keys, and nothing is watched. */
  readonly watches: Watches | undefined;
  /** Begins to look for other controllers, and returns what ends that. `anew` begins a resync. */
  readonly standby: (anew: () => void) => Promise<() => Promise<void>>;
  /** Called after each resync. */
  readonly resynced?: (() => void) | undefined;
};

export type Sources = {
  /** True once every watch has listed its objects and a resync has succeeded. */
  ready(): boolean;
  /** Returns watched objects, if some watch has them. */
  readonly known: Forwarder["known"];
  stop(): Promise<void>;
};

/** The interval of looks for newly selected namespaces, ms; their applications are looked at then. */
const surveyMs = 10_000;

type Watching = Pick<Forwarder, "known" | "synced"> & { stop(): Promise<unknown> };

/** Nothing is watched: a bell sends the keys. */
const unwatched: Watching = { known: () => undefined, synced: () => true, stop: async () => {} };

const startWatches = ({ all = false, ...own }: Watches, profile: SourcesProfile, anew: () => void): Watching => {
  const { scope, report, watchNodes: isWatched } = profile;
  const { transport, queue, cluster } = scope;
  const gaps = resyncAfterGaps(anew);
  const { known, synced, stop } = startForwarder({
    ...{ ...scope, ...own, report, gap: gaps.gap, now: Date.now, random: Math.random },
    ...{ resting: all ? undefined : restingIn({ ...scope, report, now: Date.now }), send: queue.send },
  });
  const endNodeWatch = watchNodes(isWatched, { transport, queue, report, cluster });
  return {
    known,
    synced,
    stop: async () => {
      await Promise.all([stop(), endNodeWatch()]);
      // A resync that is still to come is left to the next process, which begins with one.
      gaps.end();
    },
  };
};

/** Starts all sources, other controllers first: before they are known no key may be sent. */
export const startSources = async (profile: SourcesProfile): Promise<Sources> => {
  const { scope, report, unheard, watches, resynced } = profile;
  const { again, anew } = resyncsOf(scope, report, unheard);
  const endStandby = await profile.standby(anew);
  const endSurvey = profile.namespaceScope.survey(surveyMs, anew);
  const watching = watches === undefined ? unwatched : startWatches(watches, profile, anew);
  const sweeping = startSweeping(() => again().finally(() => resynced?.()), profile.resyncMs, report);
  return {
    ready: () => watching.synced() && sweeping.swept(),
    known: watching.known,
    stop: async () => void (await Promise.all([endSurvey(), endStandby(), sweeping.stop(), watching.stop()])),
  };
};
