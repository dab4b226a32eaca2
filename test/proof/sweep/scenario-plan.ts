/**
 * The plan of a scenario: its cases as plain data. The thread that has run the baseline sends it to the main thread, which
 * draws the cases to run and cuts them into pieces.
 */
import { type CaseOutline, isSeries, type Kind, type Sized, siteOf } from "./case.ts";
import type { Drawing } from "./drawing.ts";
import type { Call } from "./fault.ts";
import { callTroubles, deafness, deaths, outages, pauses, troubles } from "./faults.ts";
import { type Outcome, type PreparedScenario, scenarioNamed, type Unit } from "./units.ts";

/** A batch without snapshots and faults; of a series there are no outlines. */
export type BatchOutline = {
  readonly kind: Kind;
  readonly expands: boolean;
  readonly cases: readonly CaseOutline[] | undefined;
};

/** A call site of the baseline, and the faults that apply there. */
export type Reach = { readonly site: string; readonly faults: readonly string[] };

export type Planned = {
  readonly scenario: string;
  /** The run without a fault. */
  readonly none: Outcome;
  readonly reach: readonly Reach[];
  readonly batches: readonly BatchOutline[];
};

const reaching = [
  ...deaths,
  ...troubles,
  ...deafness,
  ...callTroubles,
  ...pauses,
  ...outages.map(({ name, hits }) => ({ name, applies: hits })),
];

const siteFor = (call: Call): string => siteOf({ call }) ?? "";

const reachOf = (calls: readonly Call[], without: readonly string[]): readonly Reach[] => {
  const faults = reaching.filter(({ name }) => !without.includes(name));
  return [...Map.groupBy(calls, siteFor)].map(([site, those]) => ({
    site,
    faults: faults.filter(({ applies }) => those.some(applies)).map(({ name }) => name),
  }));
};

const outlineOf = ({ kind, batch, expands = false }: Sized): BatchOutline => ({
  kind,
  expands,
  cases: isSeries(batch)
    ? undefined
    : batch.map(({ id, family, call }): CaseOutline => ({ id, family, site: siteOf({ call }) })),
});

export const planOf = ({ fixture: { scenario }, baseline, batches }: PreparedScenario): Planned => {
  const { calls, violations } = baseline;
  const { name, without = [] } = scenario;
  const none: Outcome = {
    ...{ id: `${name}/none`, kind: "singles", family: "none", site: undefined },
    ...{ violations, invocations: calls.at(-1)?.invocation ?? 0, allowed: [], lines: [], last: false },
  };
  return { scenario: name, none, reach: reachOf(calls, without), batches: batches.map(outlineOf) };
};

/** The most cases of a piece. */
const stretch = 48;

/** The pieces of a scenario, in an order that never changes. */
export const unitsOf = ({ scenario, batches }: Planned, drawing: Drawing): readonly Unit[] =>
  batches.flatMap((outline, batch): readonly Unit[] => {
    if (outline.cases === undefined) return [{ scenario, batch, at: [] }];
    const all = drawing(scenarioNamed(scenario), outline.kind, outline.cases);
    const many = outline.expands ? 1 : stretch;
    const starts = Array.from({ length: Math.ceil(all.length / many) }, (_, nth) => nth * many);
    return starts.map((from) => ({ scenario, batch, at: all.slice(from, from + many) }));
  });
