/** Turns every recorded row of Volcano into a case, by the subject of its file. */
import type { Case } from "../cases.ts";
import type { Difference, Json } from "../compare.ts";
import { judgedOutcome } from "../outcome.ts";
import { volcanoReason } from "./intended.ts";
import { changed, created, groupJudged, queueJudged, queueMutated } from "./judged.ts";
import { podChanged, podMade, resourcesNeeded } from "./made.ts";
import { enumerated, requested, stepped } from "./moved.ts";
import { expiring, replayed } from "./replayed.ts";
import { recordedIn } from "./rows.ts";
import { timed } from "./timed.ts";
import { traced } from "./traced.ts";

type Compare = (row: Json) => readonly Difference[];

/** Comparisons by the name of the file; other files have none. */
const comparisons: readonly (readonly [file: RegExp, compare: Compare])[] = [
  [/^matrix-apply-policies/, enumerated],
  [/^ut-apply-policies/, requested],
  [/^matrix-states/, stepped],
  [/^ut-job-validate-create/, created],
  [/^ut-job-validate-update/, changed],
  [/^ut-create-job-pod/, podMade],
  [/^ut-plugin-on-pod-create/, podChanged],
  [/^ut-pg-min-resources/, resourcesNeeded],
  [/^traces/, traced],
  [/^restart-scenarios/, replayed],
  [/^ut-gc-time-left/, expiring],
  [/^ut-cronjob-most-recent/, timed],
  [/^ut-queue-validate/, queueJudged],
  [/^ut-queue-mutate/, queueMutated],
  [/^ut-podgroup-validate/, groupJudged],
];

/** The cases of one file of rows; none if its rows have no comparison yet. */
export type Group = { readonly name: string; readonly cases: readonly Case[] };

export const volcanoGroups = (data: string): readonly Group[] =>
  recordedIn(data).map(({ file, rows }) => {
    const compare = comparisons.find(([pattern]) => pattern.test(file))?.[1];
    const name = `volcano/${file}`;
    if (compare === undefined) return { name, cases: [] };
    const cases = rows.map((row, at): Case => {
      const called = `${name}:${at + 1}`;
      return {
        name: called,
        run: () => judgedOutcome(called, compare(row), (difference) => volcanoReason(called, difference)),
      };
    });
    return { name, cases };
  });
