/** Plans inside HyperNodes: random mixes against a checker and an exact packer of its own. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import { type Fit, type Limit, type Part, partOf } from "../../../../shared/volcano/gang/fit.ts";
import { fitNear } from "../../../../shared/volcano/gang/nearness.ts";
import { emptyRooms, type Room } from "../../../../shared/volcano/gang/rooms.ts";
import { domainsOf } from "../../../../shared/volcano/gang/topology/domains.ts";
import { type Chance, openChance } from "../../../proof/sweep/chance.ts";
import { isExhaustive } from "../../../support/cases.ts";
import {
  type Band,
  bandFaults,
  canPackBand,
  type District,
  lowestTier,
  type Rule,
  type SquadCrew,
  tierOf,
} from "../../../support/district-packer.ts";
import type { Machine } from "../../../support/gang-packer.ts";

type Fields = Readonly<Record<string, unknown>>;

const stored = (kind: string, name: string, more: Fields, labels: Readonly<Record<string, string>> = {}): Stored => ({
  ...{ apiVersion: "v1", kind },
  metadata: { name, uid: name, resourceVersion: "1", labels },
  ...more,
});

const nodeOf = ({ name, free, zone }: Machine): Stored =>
  stored(
    "Node",
    name,
    { status: { allocatable: Object.fromEntries(Object.entries(free).map(([what, many]) => [what, `${many}`])) } },
    { zone, name },
  );

/** Ways to name these machines as members. */
const ways: readonly ((names: readonly string[]) => readonly Fields[])[] = [
  (names) => names.map((name) => ({ type: "Node", selector: { exactMatch: { name } } })),
  (names) => [{ type: "Node", selector: { regexMatch: { pattern: `^(${names.join("|")})$` } } }],
  (names) => [
    {
      type: "Node",
      selector: { labelMatch: { matchExpressions: [{ key: "name", operator: "In", values: [...names] }] } },
    },
  ],
];

/** HyperNodes that have faults; none of them may change anything. */
const faulty: readonly Stored[] = [
  stored("HyperNode", "circle-1", {
    spec: { tier: 1, members: [{ type: "HyperNode", selector: { exactMatch: { name: "circle-2" } } }] },
  }),
  stored("HyperNode", "circle-2", {
    spec: {
      tier: 1,
      members: [
        { type: "HyperNode", selector: { exactMatch: { name: "circle-1" } } },
        { type: "Node", selector: { regexMatch: { pattern: "." } } },
      ],
    },
  }),
  stored("HyperNode", "wrong", {
    spec: {
      tier: 1,
      members: [
        { type: "Node", selector: { regexMatch: { pattern: "(" } } },
        { type: "Node", selector: { exactMatch: { name: "nobody" } } },
        { type: "HyperNode", selector: { exactMatch: { name: "nothing" } } },
        { type: "HyperNode", selector: { regexMatch: { pattern: "." } } },
        { type: "Node", selector: { labelMatch: {} } },
      ],
    },
  }),
];

type World = { readonly districts: readonly District[]; readonly hyperNodes: readonly Stored[] };

/** Racks of two or three machines, some of them in halls of two racks. A machine may be in no rack. */
const worldOf = (chance: Chance, machines: readonly Machine[]): World => {
  const names = machines.map(({ name }) => name).filter(() => !chance.is(0.05));
  const districts: District[] = [];
  const hyperNodes: Stored[] = chance.is(0.3) ? [...faulty] : [];
  for (let at = 0; at < names.length; ) {
    const own = names.slice(at, at + 2 + chance.below(2));
    at += own.length;
    districts.push({ name: `rack-${districts.length}`, tier: 1, machines: new Set(own) });
  }
  for (const { name, machines: own } of districts)
    hyperNodes.push(stored("HyperNode", name, { spec: { tier: 1, members: chance.pick(ways)([...own]) } }));
  for (const [nth, below] of [districts.slice(0, 2), districts.slice(2, 4)].entries()) {
    if (below.length < 2 || chance.is(0.2)) continue;
    const own = new Set(below.flatMap((district) => [...district.machines]));
    const members = below.map(({ name }) => ({ type: "HyperNode", selector: { exactMatch: { name } } }));
    districts.push({ name: `hall-${nth}`, tier: 2, machines: own });
    hyperNodes.push(stored("HyperNode", `hall-${nth}`, { spec: { tier: 2, tierName: "hall", members } }));
  }
  return { districts, hyperNodes };
};

const ruleOf = (chance: Chance): Rule => ({ tier: 1 + chance.below(2), isStrict: chance.is(0.7) });

const crewOf = (chance: Chance, task: string): SquadCrew => {
  const count = 1 + chance.below(5);
  const size = 1 + chance.below(3);
  const rule = ruleOf(chance);
  return {
    ...{ task, tolerates: [], needs: { pods: 1, cpu: 1 + chance.below(4) } },
    // Squads with a strict rule are whole.
    ...(chance.is(0.5)
      ? { count: rule.isStrict ? Math.ceil(count / size) * size : count, squad: { size, rule } }
      : { count }),
    ...(chance.is(0.2) ? { inmate: { kind: task, avoids: [task] } } : { inmate: { kind: task, avoids: [] } }),
  };
};

const limitOf = ({ tier, isStrict }: Rule, chance: Chance): Limit => {
  if (!isStrict) return { mode: "soft" };
  return tier === 2 && chance.is(0.5) ? { mode: "hard", tierName: "hall" } : { mode: "hard", tier };
};

const apart = (kinds: readonly string[]): Fields => ({
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: kinds.map((kind) => ({
        topologyKey: "kubernetes.io/hostname",
        labelSelector: { matchLabels: { kind } },
      })),
    },
  },
});

const partIn = (chance: Chance, { task, needs, count, squad, inmate }: SquadCrew): Part =>
  partOf(
    task,
    { containers: [{ resources: { requests: { cpu: `${needs["cpu"]}` } } }], ...apart(inmate?.avoids ?? []) },
    count,
    count,
    {
      ...{ namespace: "ns", labels: { kind: inmate?.kind ?? "" } },
      partition: squad === undefined ? undefined : { size: squad.size, limit: limitOf(squad.rule, chance) },
    },
  );

const joined = (machine: Machine, { needs, inmate }: SquadCrew, count: number): Machine => ({
  ...machine,
  free: Object.fromEntries(
    Object.entries(machine.free).map(([name, many]) => [name, many - (needs[name] ?? 0) * count]),
  ),
  inmates: [...(machine.inmates ?? []), ...Array.from({ length: count }, () => inmate ?? { kind: "", avoids: [] })],
});

const taken = (machines: readonly Machine[], crews: readonly SquadCrew[], fit: Extract<Fit, { fits: true }>) =>
  fit.places.reduce((before, { task, node, count }) => {
    const crew = crews.find((one) => one.task === task.split("/")[0]);
    return before.map((machine) => (machine.name === node && crew ? joined(machine, crew, count) : machine));
  }, machines);

type Tally = { plans: number; refused: number; missed: number; missedEmpty: number; higher: number; faults: string[] };

type State = { machines: readonly Machine[]; rooms: readonly Room[] };

const tryBand = (chance: Chance, state: State, { districts, hyperNodes }: World, tally: Tally, isEmpty: boolean) => {
  const crews = Array.from({ length: 1 + chance.below(2) }, (_, at) => crewOf(chance, `t${at}`));
  const band: Band = { crews, ...(chance.is(0.5) ? { rule: ruleOf(chance) } : {}) };
  const { rule } = band;
  const domains = domainsOf(hyperNodes, state.machines.map(nodeOf));
  const limit = rule === undefined ? undefined : limitOf(rule, chance);
  const hasHalls = districts.some(({ tier }) => tier === 2);
  const parts = crews.map((crew) => partIn(chance, crew));
  const isNamed = [limit, ...parts.map(({ partition }) => partition?.limit)].some((one) => one?.tierName !== undefined);
  // The name of a tier that no HyperNode has allows none, which the oracle's numbers do not say.
  if (isNamed && !hasHalls) return;
  const fit = fitNear(state.rooms, { parts, limit }, domains);
  if (fit.fits) {
    tally.plans += 1;
    tally.faults.push(...bandFaults(state.machines, band, districts, fit.places));
    const lowest = lowestTier(state.machines, band, districts);
    if (lowest !== undefined && (tierOf(districts, fit.places) ?? 9) > lowest) tally.higher += 1;
    state.machines = taken(state.machines, crews, fit);
    state.rooms = fit.left;
    return;
  }
  tally.refused += 1;
  if (!canPackBand(state.machines, band, districts)) return;
  tally.missed += 1;
  if (isEmpty) tally.missedEmpty += 1;
  if (fit.certain) tally.faults.push(`a certain refusal of a group that has places: ${fit.why}`);
};

const mixed = (seed: number, tally: Tally): void => {
  const chance = openChance(`near ${seed}`);
  const machines = Array.from(
    { length: 3 + chance.below(6) },
    (_, at): Machine => ({
      ...{ name: `n${at}`, taints: [], zone: "a" },
      free: { cpu: 2 + chance.below(8), pods: 2 + chance.below(5) },
    }),
  );
  const world = worldOf(chance, machines);
  const state: State = { machines, rooms: emptyRooms(machines.map(nodeOf)) };
  const bands = 1 + chance.below(4);
  for (let nth = 0; nth < bands; nth++) tryBand(chance, state, world, tally, nth === 0);
};

const mixes = isExhaustive() ? 1_000 : 250;

test(`in ${mixes} mixes every plan keeps to its HyperNodes, and at most 2 % of the groups with places are missed`, () => {
  const tally: Tally = { plans: 0, refused: 0, missed: 0, missedEmpty: 0, higher: 0, faults: [] };
  for (let seed = 0; seed < mixes; seed++) mixed(seed, tally);
  assert.deepEqual(tally.faults, []);
  assert.ok(tally.plans > 0.8 * mixes && tally.refused > 0.3 * mixes, JSON.stringify({ ...tally, faults: 0 }));
  assert.ok(tally.missed <= 0.02 * (tally.plans + tally.missed), `${tally.missed} missed of ${tally.plans}`);
  assert.ok(tally.higher <= 0.02 * tally.plans, `${tally.higher} of ${tally.plans} in a higher tier than needed`);
  assert.equal(tally.missedEmpty, 0);
});
