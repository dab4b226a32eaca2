/**
 * Detects other controllers for all functions of a deployment, by Deployments, Ready pods and fresh writes, and stores
 * the result in one record.
 */
import type { Transport } from "../../core/http.ts";
import type { Key } from "../../core/key.ts";
import type { Cluster, Report } from "../../engine/ports.ts";
import { findWorkers } from "../../forward/controller-detection.ts";
import { type Cursors, cursorKey } from "../../forward/cursors.ts";
import { openSightings, type Sighting, type Sightings } from "../../forward/sightings.ts";
import type { Writers } from "../../forward/writers.ts";
import { type Upstream, upstreams } from "../../kube/upstream-controllers.ts";
import { oursOf } from "./controller-detection.ts";
import type { Chosen } from "./namespaces.ts";
import { once } from "./once.ts";

/** The interval of a forwarder's looks, ms. */
const lookMs = 30_000;
/** The delay of a forwarder's first look, ms: by then its watches have shown recent writers. */
const firstLookMs = 1_000;

/** Returns the key of the record for a deployment that watches these namespaces. */
export const sightingKey = (cluster: string, watched: readonly string[]): Key =>
  cursorKey(cluster, watched[0], "controllers");

export type Sighter = {
  readonly sightings: Sightings;
  /** Looks at everything, the objects themselves included, and saves the result. */
  look(): Promise<Sighting>;
};

type Parts = Chosen & {
  readonly cluster: Cluster;
  /** The record: see `sightingKey`. */
  readonly key: Key;
  readonly transport: Transport;
  readonly selector: string | undefined;
  readonly cursors: Cursors;
  /** API groups of the kinds that the deployment runs. */
  readonly groups: readonly string[];
  readonly report: Report;
};

const runHere = (groups: readonly string[]): readonly Upstream[] =>
  upstreams.filter((upstream) => upstream.groups.some((group) => groups.includes(group)));

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));

const openTelling = (report: Report) => {
  const reported = new Set<string>();
  return (line: string): void => {
    if (!reported.has(line)) report("warn", line);
    reported.add(line);
  };
};

const blindLine = (line: string): string => `cannot see whether another controller is alive: ${line}`;

export const openSighter = (parts: Parts): Sighter => {
  const { cluster, key, transport, cursors, groups, report, ...scope } = parts;
  const sightings = openSightings(cursors, key);
  const tell = openTelling(report);
  return {
    sightings,
    look: async () => {
      const signs: Record<string, string[]> = {};
      const written: Record<string, string[]> = {};
      let at = 0;
      for (const family of runHere(groups)) {
        const found = await findWorkers(cluster, [family], oursOf(transport, scope, [family]));
        for (const line of found.blind) tell(blindLine(line));
        signs[family.name] = [...found.signs];
        written[family.name] = [...found.written];
        at = found.date;
      }
      const seen = { at, signs, written };
      await sightings.save(seen).catch((cause: unknown) => {
        tell(
          `what was seen of other controllers cannot be kept, and every function looks for itself: ${messageOf(cause)}`,
        );
      });
      return seen;
    },
  };
};

type Watching = Pick<Parts, "cluster" | "groups" | "report"> & {
  readonly sightings: Sightings;
  readonly writers: Pick<Writers, "signs" | "knowsAll">;
};

/**
 * Returns the forwarder's sighting: workloads by a look, writes by its watches. Writes before its watches began come
 * from the stored record. Undefined where a look is incomplete, so that functions look for themselves.
 */
const forwardersLook = async (watching: Watching): Promise<Sighting | undefined> => {
  const { cluster, groups, writers, report, sightings } = watching;
  const kept = once(() => sightings.load());
  const signs: Record<string, string[]> = {};
  const written: Record<string, string[]> = {};
  let at = 0;
  for (const family of runHere(groups)) {
    const found = await findWorkers(cluster, [family]);
    if (found.blind.length > 0) {
      report("debug", blindLine(found.blind.join("; ")));
      return undefined;
    }
    signs[family.name] = [...found.signs];
    const seen = writers.signs(family.groups, found.date);
    const before = writers.knowsAll(found.date) || seen.length > 0 ? undefined : await kept();
    written[family.name] = [...seen, ...(before?.written[family.name] ?? [])];
    at = found.date;
  }
  return { at, signs, written };
};

/** Looks once for a forwarder, and saves the sighting if it has changed. A failed look changes nothing. */
export const sightOnce = async (watching: Watching): Promise<void> => {
  try {
    const seen = await forwardersLook(watching);
    if (seen !== undefined) await watching.sightings.save(seen);
  } catch (cause) {
    watching.report("debug", "cannot look for other controllers", { error: messageOf(cause) });
  }
};

/** Looks at an interval until the returned function is called. */
export const startSighting = (watching: Watching): (() => Promise<void>) => {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let running = Promise.resolve();
  const go = (): void => {
    running = sightOnce(watching).then(() => {
      if (!stopped) timer = setTimeout(go, lookMs);
    });
  };
  timer = setTimeout(go, firstLookMs);
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await running;
  };
};
