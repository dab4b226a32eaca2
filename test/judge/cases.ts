/** The cases of a subject: their names, their order by seed, and the lanes in which they may run beside each other. */
import { type Fault, faultName, faultsAt, isOfAnswer, readFault } from "./faults.ts";

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
const turns = 4;

/**
 * Batches: faults of answers strike one namespace, so a batch has several for each place; those of the process and its
 * watches strike all, so a batch has few. Batches of both take turns.
 */
export const batchesOf = (cases: readonly Case[], atOnce: number): readonly (readonly Case[])[] => {
  const split = (all: readonly Case[], size: number): Case[][] =>
    Array.from({ length: Math.ceil(all.length / size) }, (_, nth) => all.slice(nth * size, (nth + 1) * size));
  const answers = split(
    cases.filter(({ fault }) => isOfAnswer(fault)),
    atOnce * turns,
  );
  const others = split(
    cases.filter(({ fault }) => !isOfAnswer(fault)),
    Math.max(1, Math.floor(atOnce / 2)),
  );
  const longest = Math.max(answers.length, others.length);
  return Array.from({ length: longest }, (_, nth) => [answers[nth] ?? [], others[nth] ?? []])
    .flat()
    .filter((batch) => batch.length > 0);
};
