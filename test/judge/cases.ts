/** The cases of a subject: their names, their order by seed, and the lanes in which they may run beside each other. */
import { type Fault, faultName, faultsAt, isOfAnswer, isOfProcess, readFault } from "./faults.ts";

export type Case = { readonly scenario: string; readonly fault: Fault; readonly seed: number };

export const caseName = (subject: string, { scenario, fault, seed }: Case): string =>
  `${subject}/${scenario}/${faultName(fault)}/seed ${seed}`;

/** Reads a whole name; undefined for a part of one. */
export const readCase = (name: string): Case | undefined => {
  const [, scenario, fault = "", point = "", seed] = /^[^/]+\/([^/]+)\/([^/]+)\/(.+)\/seed (\d+)$/.exec(name) ?? [];
  const read = readFault(fault, point);
  return scenario === undefined || read === undefined ? undefined : { scenario, fault: read, seed: Number(seed) };
};

/** Small seeded generator (mulberry32). */
const randomOf = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

/** The order of a seed. */
export const shuffled = <T>(all: readonly T[], seed: number): readonly T[] => {
  const random = randomOf(seed);
  return all
    .map((one) => ({ one, key: random() }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ one }) => one);
};

/** Of each pattern, this many occurrences are tried. */
const mostOccurrences = 3;

/** All cases of the scenarios, in the order of the seed. */
export const casesOf = (points: ReadonlyMap<string, ReadonlyMap<string, number>>, seed: number): readonly Case[] =>
  shuffled(
    [...points].flatMap(([scenario, counts]) =>
      faultsAt(counts, mostOccurrences).map((fault) => ({ scenario, fault, seed })),
    ),
    seed,
  );

/** Faults of answers in a batch, for each place of those that run at once. */
const turns = 2;

/**
 * Batches: faults of answers strike one namespace, so a batch has several for each place. Those of watches strike all that
 * run beside, and those of the process stop all, so a batch has few. Batches of the three take turns.
 */
export const batchesOf = (cases: readonly Case[], atOnce: number): readonly (readonly Case[])[] => {
  const split = (all: readonly Case[], size: number): Case[][] =>
    Array.from({ length: Math.ceil(all.length / size) }, (_, nth) => all.slice(nth * size, (nth + 1) * size));
  const share = (part: number): number => Math.max(1, Math.floor(atOnce / part));
  const lanes = [
    split(
      cases.filter(({ fault }) => isOfAnswer(fault)),
      atOnce * turns,
    ),
    split(
      cases.filter(({ fault }) => !isOfAnswer(fault) && !isOfProcess(fault)),
      share(2),
    ),
    split(
      cases.filter(({ fault }) => isOfProcess(fault)),
      share(4),
    ),
  ];
  const longest = Math.max(...lanes.map(({ length }) => length));
  return Array.from({ length: longest }, (_, nth) => lanes.map((lane) => lane[nth] ?? []))
    .flat()
    .filter((batch) => batch.length > 0);
};

/** The batches without the first cases of their order. */
export const batchesFrom = (batches: readonly (readonly Case[])[], from: number): readonly (readonly Case[])[] => {
  let left = from;
  return batches
    .map((batch) => {
      const rest = batch.slice(left);
      left = Math.max(0, left - batch.length);
      return rest;
    })
    .filter((batch) => batch.length > 0);
};
