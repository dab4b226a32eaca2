/** Looks at an application one after another, for the tests of its states. */
import {
  type Observed,
  type Policy,
  type Progress,
  progress,
} from "../../../../../shared/spark/apache/status/progress.ts";
import type { ApplicationRecord } from "../../../../../shared/spark/apache/status/record.ts";
import type { Summary } from "../../../../../shared/spark/apache/status/summary.ts";
import { namesOf, pending, ready, seen, started, t0 } from "../fixtures.ts";

/** A look: what is observed, and the seconds since the application's creation. */
export type Look = readonly [atS: number, fields?: Partial<Observed>];

const look = (record: ApplicationRecord | undefined, policy: Policy, [atS, fields = {}]: Look): Progress =>
  progress(record, policy, seen({ now: t0 + atS * 1_000, ...fields }));

/** Looks one after another, each at the record that the one before left. */
export const walk = (policy: Policy, looks: readonly Look[], from?: ApplicationRecord): readonly Progress[] => {
  const done: Progress[] = [];
  for (const one of looks) done.push(look(done.at(-1)?.record ?? from, policy, one));
  return done;
};

export const historyOf = (done: readonly Progress[]): readonly Summary[] => {
  const record = done.at(-1)?.record;
  return record === undefined ? [] : [...namesOf({ history: record.history })];
};

export const actsOf = (done: readonly Progress[]): readonly string[] => done.map(({ act }) => act);

export const inSeconds = (at: number | undefined): number | undefined =>
  at === undefined ? undefined : (at - t0) / 1_000;

export const running: readonly Look[] = [
  [0],
  [1, { created: true, driver: pending }],
  [2, { created: true, driver: started }],
  [3, { created: true, driver: ready }],
];

export const gone = { created: true, released: true, driver: "gone" } as const;

export const begun: readonly Summary[] = [
  "Submitted",
  "DriverRequested",
  "DriverStarted",
  "DriverReady",
  "RunningHealthy",
];
