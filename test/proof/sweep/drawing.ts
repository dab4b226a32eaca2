/**
 * Which single faults a sweep of all plays outside of the scenarios that are played whole. A fault at a place (who calls
 * what, in which phase) is played in the first scenario that has it, so that each is met somewhere, and in some of the
 * others as a seed draws them. A death after a call is played at each place of every scenario.
 */
import { type Case, isSeries, type Sized } from "./case.ts";
import { isWhole } from "./cases.ts";
import { openChance } from "./chance.ts";
import type { Scenario } from "./plot.ts";
import { siteOf } from "./units.ts";

/** Goes through the scenarios in their order: which cases of a batch are played, by their places in it. */
export type Drawing = (scenario: Scenario, sized: Sized) => readonly number[];

/** Each fault at each place is played in so many scenarios at least. */
const atLeast = 1;
/** Of all further ones so many are played. */
const share = 0.05;
const everywhere = "crash-after";

const every = (batch: readonly Case[]): readonly number[] => [...batch.keys()];

/** Without a seed everything is played. */
export const openDrawing = (seed: number | undefined): Drawing => {
  const times = new Map<string, number>();
  const isPlayed = (one: Case): boolean => {
    const site = siteOf(one);
    if (site === undefined || one.family === everywhere) return true;
    const what = `${site} × ${one.family}`;
    const before = times.get(what) ?? 0;
    const isWanted = before < atLeast || openChance(`${seed} again ${one.id}`).is(share);
    if (isWanted) times.set(what, before + 1);
    return isWanted;
  };
  return (scenario, { kind, batch }) => {
    if (isSeries(batch)) return [];
    if (kind === "pairs" || seed === undefined) return every(batch);
    const played = batch.map(isPlayed);
    return every(batch).filter((at) => played[at] === true || isWhole(scenario));
  };
};
