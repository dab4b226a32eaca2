/**
 * Draws the single faults of a sweep of all, outside of the scenarios that are run whole. A fault at a place
 * (caller, call, phase) is run in the first scenario that has it, and in some of the others as a seed draws them. A
 * death after a call is run at each place of every scenario. The short form runs each fault at each place in the first
 * scenario that has it, and nowhere else.
 */
import type { CaseOutline, Kind } from "./case.ts";
import { isWhole } from "./cases.ts";
import { openChance } from "./chance.ts";
import { isRingFault } from "./faults.ts";
import type { Scenario } from "./scenario.ts";

/** Returns the chosen cases of a batch, by their indexes in it. Called for the scenarios in their order. */
export type Drawing = (scenario: Scenario, kind: Kind, batch: readonly CaseOutline[]) => readonly number[];

/** The least number of scenarios in which each fault at each place is run. */
const atLeast = 1;
/** Share of the faults of rings that are run in the short form. */
const ringShare = 0.1;
/** Share of the further ones that are run. */
const share = 0.05;
const everywhere = "crash-after";

const every = (batch: readonly CaseOutline[]): readonly number[] => [...batch.keys()];

/** Without a seed all cases are run. */
export const openDrawing = (seed: number | undefined, isShort: boolean): Drawing => {
  const times = new Map<string, number>();
  const isChosen = ({ id, family, site }: CaseOutline): boolean => {
    if (isShort && isRingFault(family)) return openChance(`${seed} ${id}`).is(ringShare);
    if (site === undefined || (family === everywhere && !isShort)) return true;
    const what = `${site} × ${family}`;
    const before = times.get(what) ?? 0;
    const isWanted = before < atLeast || (!isShort && openChance(`${seed} again ${id}`).is(share));
    if (isWanted) times.set(what, before + 1);
    return isWanted;
  };
  return (scenario, kind, batch) => {
    if (kind === "pairs" || seed === undefined) return every(batch);
    const chosen = batch.map(isChosen);
    return every(batch).filter((at) => chosen[at] === true || (isWhole(scenario) && !isShort));
  };
};
