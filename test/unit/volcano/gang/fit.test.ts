/** Plans of groups: 1,000 random mixes against a checker and an exact packer, and the words of a group without room. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import { type Fit, fitOf, type Part, partOf } from "../../../../shared/volcano/gang/fit.ts";
import { emptyRooms, type Room, takenByPods } from "../../../../shared/volcano/gang/rooms.ts";
import { type Chance, openChance } from "../../../proof/sweep/chance.ts";
import { type Crew, canPack, faultsIn, type Inmate, type Machine, type Units } from "../../../support/gang-packer.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Units of host ports are named `port N`; each machine has one. */
const isPort = (name: string): boolean => name.startsWith("port ");

const texts = (units: Units): Fields =>
  Object.fromEntries(Object.entries(units).flatMap(([name, many]) => (isPort(name) ? [] : [[name, `${many}`]])));

/** Ways to write the same host ports. */
const portWays: readonly ((spec: Fields, ports: readonly number[]) => Fields)[] = [
  (spec, ports) => ({
    ...spec,
    containers: [...Object(spec)["containers"], { ports: ports.map((hostPort) => ({ containerPort: 9, hostPort })) }],
  }),
  (spec, ports) => ({
    ...spec,
    hostNetwork: true,
    containers: [...Object(spec)["containers"], { ports: ports.map((containerPort) => ({ containerPort })) }],
  }),
  (spec, ports) => ({
    ...spec,
    initContainers: [
      ...(Object(spec)["initContainers"] ?? []),
      { restartPolicy: "Always", ports: ports.map((hostPort) => ({ hostPort, hostIP: "10.0.0.1", protocol: "TCP" })) },
    ],
  }),
];

const portsIn = (needs: Units): readonly number[] =>
  Object.keys(needs)
    .filter(isPort)
    .map((name) => Number(name.slice(5)));

const nodeOf = ({ name, free, taints, zone }: Machine): Stored => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, uid: name, resourceVersion: "1", labels: { zone } },
  spec: { taints: taints.map((key) => ({ key, effect: "NoSchedule" })) },
  status: { allocatable: texts(free) },
});

/** Ways to write a pod of the same needs: kube-scheduler counts the same for each. */
const ways: readonly ((needs: Units) => Fields)[] = [
  (needs) => ({ containers: [{ resources: { requests: texts(needs) } }] }),
  (needs) => ({ containers: [{ resources: { limits: texts(needs) } }] }),
  (needs) => ({ containers: [{}], initContainers: [{ resources: { requests: texts(needs) } }] }),
  ({ cpu = 1, ...needs }) => ({
    containers: [{ resources: { requests: texts({ ...needs, cpu: cpu - 1 }) } }],
    initContainers: [{ restartPolicy: "Always", resources: { requests: { cpu: "1" } } }],
  }),
  ({ cpu = 1, ...needs }) => ({
    containers: [{ resources: { requests: texts({ ...needs, cpu: cpu - 1 }) } }],
    overhead: { cpu: "1000m" },
  }),
  (needs) => ({ containers: [{}], resources: { requests: texts(needs) } }),
];

const withPorts = (chance: Chance, spec: Fields, needs: Units): Fields => {
  const ports = portsIn(needs);
  return ports.length === 0 ? spec : chance.pick(portWays)(spec, ports);
};

/** Ways to write that a pod must not be beside those of these kinds. */
const apartWays: readonly ((kinds: readonly string[]) => Fields)[] = [
  (kinds) => ({ labelSelector: { matchExpressions: [{ key: "kind", operator: "In", values: kinds }] } }),
  (kinds) => ({
    labelSelector: {
      matchLabels: { any: "thing" },
      matchExpressions: kindNames
        .filter((kind) => !kinds.includes(kind))
        .map((kind) => ({ key: "kind", operator: "NotIn", values: [kind] })),
    },
    namespaces: ["other", "ns"],
  }),
];

const apartOf = (chance: Chance, { inmate }: Crew): Fields => {
  const { avoids = [] } = inmate ?? {};
  if (avoids.length === 0) return {};
  const term = { topologyKey: "kubernetes.io/hostname", ...chance.pick(apartWays)(avoids) };
  return { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
};

const specOf = (chance: Chance, crew: Crew): Fields => {
  const { affinity, ...spec } = aloneOf(chance, crew);
  const all = { ...Object(affinity), ...apartOf(chance, crew) };
  return { ...spec, ...(Object.keys(all).length === 0 ? {} : { affinity: all }) };
};

const aloneOf = (chance: Chance, { needs: { pods: _, ...needs }, tolerates, zones }: Crew): Fields => ({
  ...withPorts(chance, chance.pick(ways)(needs), needs),
  tolerations: tolerates.map((key) => ({ key, operator: "Exists" })),
  ...(zones === undefined
    ? {}
    : zones.length === 1
      ? { nodeSelector: { zone: zones[0] } }
      : {
          affinity: {
            nodeAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: {
                nodeSelectorTerms: [{ matchExpressions: [{ key: "zone", operator: "In", values: zones }] }],
              },
            },
          },
        }),
});

const zoneNames = ["a", "b", "c"] as const;

/** Kinds of pods: a label, by which anti-affinity goes. */
const kindNames = ["red", "blue", "green"] as const;

const inmateOf = (chance: Chance): Inmate => ({
  kind: chance.pick(kindNames),
  avoids: chance.is(0.25) ? kindNames.slice(0, 1 + chance.below(3)) : [],
});

const labelsOf = ({ inmate }: Crew) => ({ any: "thing", ...(inmate === undefined ? {} : { kind: inmate.kind }) });

const machineOf = (chance: Chance, at: number): Machine => ({
  name: `n${at}`,
  free: {
    ...{ cpu: 2 + chance.below(12), memory: 4 + chance.below(24), pods: 2 + chance.below(7) },
    ...(chance.is(0.3) ? { "example.com/gpu": 1 + chance.below(4) } : {}),
    ...{ "port 80": 1, "port 81": 1 },
  },
  taints: chance.is(0.2) ? ["gpu"] : [],
  zone: chance.pick(zoneNames),
});

const crewOf = (chance: Chance, task: string): Crew => ({
  task,
  needs: {
    ...{ pods: 1, cpu: 1 + chance.below(5), memory: chance.below(8) },
    ...(chance.is(0.15) ? { "example.com/gpu": 1 } : {}),
    ...(chance.is(0.15) ? { "port 80": 1 } : {}),
    ...(chance.is(0.1) ? { "port 81": 1 } : {}),
  },
  count: 1 + chance.below(4),
  tolerates: chance.is(0.4) ? ["gpu"] : [],
  inmate: inmateOf(chance),
  ...(chance.is(0.25) ? { zones: zoneNames.slice(0, 1 + chance.below(2)) } : {}),
});

const taken = (machines: readonly Machine[], crews: readonly Crew[], { places }: Extract<Fit, { fits: true }>) =>
  machines.map((machine): Machine => {
    const free = { ...machine.free };
    const inmates = [...(machine.inmates ?? [])];
    for (const { task, node, count } of places) {
      const crew = crews.find((one) => one.task === task);
      if (node !== machine.name || crew === undefined) continue;
      for (const [name, many] of Object.entries(crew.needs)) free[name] = (free[name] ?? 0) - many * count;
      if (crew.inmate !== undefined) inmates.push(crew.inmate);
    }
    return { ...machine, free, inmates };
  });

type Tally = { plans: number; missed: number; missedEmpty: number; faults: string[] };

const tryGang = (
  chance: Chance,
  state: { machines: readonly Machine[]; rooms: readonly Room[] },
  tally: Tally,
  empty: boolean,
) => {
  const crews = Array.from({ length: 1 + chance.below(3) }, (_, at) => crewOf(chance, `t${at}`));
  const parts = crews.map(
    (crew): Part =>
      partOf(crew.task, specOf(chance, crew), crew.count, crew.count, { namespace: "ns", labels: labelsOf(crew) }),
  );
  const fit = fitOf(state.rooms, parts);
  if (fit.fits) {
    tally.plans += 1;
    tally.faults.push(...faultsIn(state.machines, crews, fit.places));
    state.machines = taken(state.machines, crews, fit);
    state.rooms = fit.left;
  } else if (canPack(state.machines, crews)) {
    tally.missed += 1;
    if (empty) tally.missedEmpty += 1;
    if (fit.certain) tally.faults.push(`a certain refusal of a group that has places: ${fit.why}`);
  }
};

const mixed = (seed: number, tally: Tally): void => {
  const chance = openChance(`gang ${seed}`);
  const machines = Array.from({ length: 2 + chance.below(7) }, (_, at) => machineOf(chance, at));
  const nodes = machines.map(nodeOf);
  const state = { machines, rooms: emptyRooms(nodes) };
  const isUsed = chance.is(0.5);
  if (isUsed) {
    const strangers = machines.flatMap(({ name, free }) => {
      const needs = {
        ...{ pods: 1, cpu: Math.ceil((free["cpu"] ?? 0) / 2), memory: chance.below(free["memory"] ?? 1) },
        ...(chance.is(0.2) ? { "port 80": 1 } : {}),
      };
      const crew: Crew = { task: name, needs, count: 1, tolerates: [], inmate: inmateOf(chance) };
      const about = { name: `on-${name}`, namespace: "ns", uid: name, resourceVersion: "1" };
      const metadata = { ...about, labels: labelsOf(crew) };
      const pod = { apiVersion: "v1", kind: "Pod", metadata, spec: { ...specOf(chance, crew), nodeName: name } };
      return chance.is(0.6) ? [{ name, crew, pod }] : [];
    });
    state.rooms = takenByPods(
      state.rooms,
      strangers.map(({ pod }) => pod),
    );
    const places = strangers.map(({ name }) => ({ task: name, node: name, count: 1 }));
    const crews = strangers.map(({ crew }) => crew);
    state.machines = taken(machines, crews, { fits: true, places, left: [] });
  }
  const gangs = 1 + chance.below(6);
  for (let nth = 0; nth < gangs; nth++) tryGang(chance, state, tally, nth === 0 && !isUsed);
};

test("in 1,000 mixes every plan is valid, and at most 2 % of the groups with places are missed", () => {
  const tally: Tally = { plans: 0, missed: 0, missedEmpty: 0, faults: [] };
  for (let seed = 0; seed < 1_000; seed++) mixed(seed, tally);
  assert.deepEqual(tally.faults, []);
  assert.ok(tally.plans > 1_000, `${tally.plans} plans are too few to show anything`);
  assert.ok(tally.missed <= 0.02 * (tally.plans + tally.missed), `${tally.missed} missed of ${tally.plans}`);
  assert.equal(tally.missedEmpty, 0);
});

const machine = (name: string, cpu: number, more: Partial<Machine> = {}): Machine => ({
  ...{ name, free: { cpu, memory: 64, pods: 10 }, taints: [], zone: "a" },
  ...more,
});

const five = [
  ...["n1", "n2", "n3"].map((name) => machine(name, 2)),
  ...["n4", "n5"].map((name) => machine(name, 8, { taints: ["gpu"] })),
];

const cpus = (cpu: string, more: Fields = {}): Fields => ({
  containers: [{ resources: { requests: { cpu } } }],
  ...more,
});

const rows: readonly (readonly [string, readonly Machine[], readonly Part[], string])[] = [
  [
    "names the places and the excluded nodes",
    five,
    [partOf("a", cpus("2"), 4, 4)],
    "needs 4 × 2 cpu; 3 places on 3 of 5 nodes; 2 nodes have taint gpu",
  ],
  [
    "names the task if there are several",
    five,
    [partOf("a", cpus("1"), 1, 1), partOf("b", cpus("1500m", { nodeSelector: { zone: "b" } }), 1, 1)],
    "task b needs 1 × 1500m cpu; 0 places on 5 nodes; 3 nodes are outside its node selector; 2 nodes have taint gpu",
  ],
  [
    "states that each task alone has its places",
    [machine("n1", 4), machine("n2", 2)],
    [partOf("a", cpus("2"), 2, 2), partOf("b", cpus("4"), 1, 1)],
    "needs 2 × 2 cpu and 1 × 4 cpu; each of them fits alone, but not all together",
  ],
  [
    "counts pods that request nothing",
    [machine("n1", 1)],
    [partOf("a", {}, 11, 11)],
    "needs 11 pods; 10 places on 1 of 1 node",
  ],
  [
    "names the host ports that it needs",
    [machine("n1", 4), machine("n2", 4)],
    [partOf("a", { ...cpus("1"), hostNetwork: true, containers: [{ ports: [{ containerPort: 80 }] }] }, 3, 3)],
    "needs 3 × host port TCP/80; 2 places on 2 of 2 nodes",
  ],
  ["covers a cluster without nodes", [], [partOf("a", cpus("1"), 1, 1)], "needs 1 × 1 cpu; 0 places on 0 nodes"],
];

describe("the reason of a group without room", () => {
  for (const [what, machines, parts, why] of rows)
    test(what, () =>
      assert.deepEqual(fitOf(emptyRooms(machines.map(nodeOf)), parts), { fits: false, why, certain: true }),
    );

  test("is marked as uncertain beyond 64 pods, which are not searched", () => {
    const machines = [machine("n1", 40, { free: { cpu: 40, pods: 100 } })];
    const fit = fitOf(emptyRooms(machines.map(nodeOf)), [
      partOf("a", cpus("1"), 35, 35),
      partOf("b", cpus("1"), 30, 30),
    ]);
    assert.deepEqual([fit.fits, fit.fits || fit.certain], [false, false]);
  });
});

test("a search finds a plan that the order of fullest nodes first does not find", () => {
  const machines = [machine("n1", 6), machine("n2", 5)];
  const crews = [
    { task: "a", needs: { cpu: 3 }, count: 2, tolerates: [] },
    { task: "b", needs: { cpu: 5 }, count: 1, tolerates: [] },
  ];
  const fit = fitOf(emptyRooms(machines.map(nodeOf)), [partOf("a", cpus("3"), 2, 2), partOf("b", cpus("5"), 1, 1)]);
  assert.ok(fit.fits);
  assert.deepEqual(faultsIn(machines, crews, fit.places), []);
});
