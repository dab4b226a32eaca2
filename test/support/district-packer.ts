/**
 * An oracle for groups that must be inside sets of machines: it tries each set for the group and for each squad of a crew,
 * and packs each choice exactly. It imports nothing of the planner.
 */
import { type Assignment, type Crew, canPack, faultsIn, type Machine } from "./gang-packer.ts";

/** A set of machines. */
export type District = { readonly name: string; readonly tier: number; readonly machines: ReadonlySet<string> };

/** The highest tier of a district that serves; `isStrict`: the pods are in one, or nowhere. */
export type Rule = { readonly tier: number; readonly isStrict: boolean };

/** A crew whose pods come in squads of this size, each with this rule. */
export type SquadCrew = Crew & { readonly squad?: { readonly size: number; readonly rule: Rule } };

export type Band = { readonly crews: readonly SquadCrew[]; readonly rule?: Rule };

const serving = ({ tier, isStrict }: Rule, districts: readonly District[]): readonly District[] =>
  isStrict ? districts.filter((district) => district.tier <= tier) : districts;

/** The squads of a crew as crews of their own, named as their places are in a plan; the last may be smaller. */
const squadsOf = (crew: SquadCrew): readonly SquadCrew[] => {
  const { squad, ...plain } = crew;
  if (squad === undefined) return [plain];
  return Array.from({ length: Math.ceil(crew.count / squad.size) }, (_, at) => ({
    ...crew,
    task: `${crew.task}/${at}`,
    count: Math.min(squad.size, crew.count - at * squad.size),
  }));
};

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

/** True if the machines have too little together: no choice needs to be tried. */
const isHopeless = (machines: readonly Machine[], squads: readonly SquadCrew[]): boolean =>
  ["cpu", "pods"].some(
    (name) =>
      sum(squads.map(({ needs, count }) => (needs[name] ?? 0) * count)) >
      sum(machines.map(({ free }) => free[name] ?? 0)),
  );

/** True if the squads can be packed, each inside a district that serves. */
const packsSquads = (
  machines: readonly Machine[],
  squads: readonly SquadCrew[],
  districts: readonly District[],
  at = 0,
): boolean => {
  const one = squads[at];
  if (at === 0 && isHopeless(machines, squads)) return false;
  if (one === undefined) return canPack(machines, squads);
  const { squad } = one;
  if (squad === undefined || !squad.rule.isStrict) return packsSquads(machines, squads, districts, at + 1);
  return serving(squad.rule, districts).some(
    (district) =>
      canPack(
        machines.filter(({ name }) => district.machines.has(name)),
        [one],
      ) && packsSquads(machines, squads.with(at, { ...one, only: district.machines }), districts, at + 1),
  );
};

/** The lowest tier of a district in which the whole band can be packed; undefined if there is none. */
export const lowestTier = (
  machines: readonly Machine[],
  { crews, rule }: Band,
  districts: readonly District[],
): number | undefined => {
  const tiers = (rule === undefined ? [] : serving(rule, districts)).flatMap((district) => {
    const there = machines.filter(({ name }) => district.machines.has(name));
    return packsSquads(there, crews.flatMap(squadsOf), districts) ? [district.tier] : [];
  });
  return tiers.length === 0 ? undefined : Math.min(...tiers);
};

/** True if some plan of the band keeps all rules. */
export const canPackBand = (machines: readonly Machine[], band: Band, districts: readonly District[]): boolean =>
  band.rule?.isStrict === true
    ? lowestTier(machines, band, districts) !== undefined
    : packsSquads(machines, band.crews.flatMap(squadsOf), districts);

const isInside = (nodes: readonly string[], rule: Rule, districts: readonly District[]): boolean =>
  serving(rule, districts).some(({ machines }) => nodes.every((node) => machines.has(node)));

/** Returns what is wrong with a plan. */
export const bandFaults = (
  machines: readonly Machine[],
  { crews, rule }: Band,
  districts: readonly District[],
  plan: readonly Assignment[],
): readonly string[] => {
  const squads = crews.flatMap(squadsOf);
  const nodes = plan.map(({ node }) => node);
  const apart = squads.filter(({ task, squad }) => {
    const own = plan.filter((place) => place.task === task).map(({ node }) => node);
    return squad?.rule.isStrict === true && !isInside(own, squad.rule, districts);
  });
  return [
    ...faultsIn(machines, squads, plan),
    ...(rule?.isStrict === true && !isInside(nodes, rule, districts) ? ["the band is not inside one district"] : []),
    ...apart.map(({ task }) => `${task} is not inside one district`),
  ];
};

/** The lowest tier of a district that has all of a plan; undefined if none has. */
export const tierOf = (districts: readonly District[], plan: readonly Assignment[]): number | undefined => {
  const tiers = districts
    .filter(({ machines }) => plan.every(({ node }) => machines.has(node)))
    .map(({ tier }) => tier);
  return tiers.length === 0 ? undefined : Math.min(...tiers);
};
