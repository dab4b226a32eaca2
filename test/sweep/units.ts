/** The work of a sweep cut into pieces that any worker can take, and the one case that an id names. */
import { type Batch, batchesOf, type Case, type Series } from "./cases.ts";
import { play, type Rehearsal, rehearse, type Verdict } from "./player.ts";
import type { Scenario } from "./plot.ts";
import { scenarios } from "./scenarios.ts";
import { openTheatre, type Theatre } from "./theatre.ts";

/** Cases of one piece: a stretch of a list, or a series. */
export type Unit = { readonly scenario: string; readonly batch: number; readonly from: number; readonly size: number };

const stretch = 48;

/** Families that are wanted; all, if it says nothing. */
export type Choice = { readonly families?: RegExp | undefined };

const isSeries = (batch: Batch): batch is Series => !Array.isArray(batch);

/** A scenario with its rehearsal, opened once per worker. */
export type Played = {
  readonly theatre: Theatre;
  readonly rehearsal: Rehearsal;
  readonly batches: readonly Batch[];
};

const chosen = (batches: readonly Batch[], { families }: Choice): readonly Batch[] =>
  families === undefined
    ? batches
    : batches.flatMap((batch): readonly Batch[] => {
        if (isSeries(batch)) return families.test(batch.at(1).family) ? [batch] : [];
        return [batch.filter(({ family }) => families.test(family))];
      });

export const scenarioNamed = (name: string): Scenario => {
  const found = scenarios.find((scenario) => scenario.name === name);
  if (found !== undefined) return found;
  throw new Error(`no scenario ${name}; there are ${scenarios.map((scenario) => scenario.name).join(", ")}`);
};

export const prepare = async (name: string, choice: Choice = {}): Promise<Played> => {
  const scenario = scenarioNamed(name);
  const theatre = openTheatre(scenario);
  const rehearsal = await rehearse(theatre);
  return { theatre, rehearsal, batches: chosen(batchesOf(rehearsal, scenario), choice) };
};

/** The pieces of a scenario, in an order that never changes. */
export const unitsOf = (scenario: string, { batches }: Played): readonly Unit[] =>
  batches.flatMap((batch, index): readonly Unit[] => {
    if (isSeries(batch)) return [{ scenario, batch: index, from: 0, size: 0 }];
    const starts = Array.from({ length: Math.ceil(batch.length / stretch) }, (_, nth) => nth * stretch);
    return starts.map((from) => ({ scenario, batch: index, from, size: Math.min(stretch, batch.length - from) }));
  });

/** What became of a case, and where it struck. */
export type Outcome = Verdict & { readonly family: string; readonly site: string | undefined };

/** A place in the code that calls, as far as a test can tell: who, what, and in which phase. */
export const siteOf = ({ call }: Pick<Case, "call">): string | undefined =>
  call === undefined ? undefined : `${call.by}: ${call.what} in ${call.phase === "" ? "no phase" : call.phase}`;

const outcome = async ({ theatre, rehearsal }: Played, one: Case): Promise<Outcome> => ({
  ...(await play(theatre, rehearsal, one)),
  family: one.family,
  site: siteOf(one),
});

const inSeries = async (played: Played, series: Series): Promise<readonly Outcome[]> => {
  const outcomes: Outcome[] = [];
  for (const k of series.ks) {
    const found = await outcome(played, series.at(k));
    outcomes.push(found);
    if (found.last) break;
  }
  return outcomes;
};

/** Plays the cases of a piece. */
export const playUnit = async (played: Played, unit: Unit): Promise<readonly Outcome[]> => {
  const batch = played.batches[unit.batch] ?? [];
  if (isSeries(batch)) return inSeries(played, batch);
  const outcomes: Outcome[] = [];
  for (const one of batch.slice(unit.from, unit.from + unit.size)) outcomes.push(await outcome(played, one));
  return outcomes;
};

/** The case of an id. */
export const caseOf = ({ batches }: Played, id: string): Case | undefined => {
  const k = Number(id.split("/")[3] ?? 0);
  for (const batch of batches) {
    const found = isSeries(batch) ? [batch.at(Math.max(1, k))] : batch;
    const one = found.find((each) => each.id === id);
    if (one !== undefined) return one;
  }
  return undefined;
};
