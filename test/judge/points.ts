/** Counts the points that each namespace passes, and says where an armed fault strikes. */
import type { Fault } from "./faults.ts";

type Place = {
  readonly counts: Map<string, number>;
  fault: Fault | undefined;
  fired: boolean;
  lastWriteMs: number;
  /** The longest time between two points so far. */
  longestGapMs: number;
};

export type Points = {
  readonly arm: (namespace: string, fault: Fault | undefined) => void;
  /** Counts a point; returns the fault that strikes here. */
  readonly pass: (namespace: string, pattern: string) => Fault | undefined;
  readonly placeOf: (namespace: string) => Readonly<Place> | undefined;
  /** The resource version before the last write that any watch of the bench has shown. */
  readonly version: () => string;
  readonly sawVersion: (version: string) => void;
  readonly log: (namespace: string, line: string) => void;
  /** The lines of a namespace, and of what struck all. */
  readonly linesOf: (namespace: string) => readonly string[];
};

type Line = { readonly namespace: string; readonly ms: number; readonly line: string };

const mostLines = 40_000;

export const openPoints = (): Points => {
  const places = new Map<string, Place>();
  const lines: Line[] = [];
  let version = "";
  return {
    version: () => version,
    sawVersion: (seen) => {
      version = seen;
    },
    arm: (namespace, fault) =>
      void places.set(namespace, {
        ...{ counts: new Map(), fault, fired: false },
        ...{ lastWriteMs: performance.now(), longestGapMs: 0 },
      }),
    pass: (namespace, pattern) => {
      const place = places.get(namespace);
      if (place === undefined) return undefined;
      const count = (place.counts.get(pattern) ?? 0) + 1;
      place.counts.set(pattern, count);
      const now = performance.now();
      place.longestGapMs = Math.max(place.longestGapMs, now - place.lastWriteMs);
      place.lastWriteMs = now;
      const { fault } = place;
      if (fault === undefined || place.fired || fault.pattern !== pattern || fault.occurrence !== count)
        return undefined;
      place.fired = true;
      return fault;
    },
    placeOf: (namespace) => places.get(namespace),
    log: (namespace, line) => {
      lines.push({ namespace, ms: performance.now(), line });
      if (lines.length > mostLines) lines.splice(0, mostLines / 2);
    },
    linesOf: (namespace) => {
      const own = lines.filter((line) => line.namespace === namespace);
      const [from = 0, to = 0] = [own[0]?.ms, own.at(-1)?.ms];
      return lines
        .filter((line) => line.namespace === namespace || (line.namespace === "" && line.ms >= from && line.ms <= to))
        .map(({ ms, line }) => `${((ms - from) / 1_000).toFixed(2)} ${line}`);
    },
  };
};
