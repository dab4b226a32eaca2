/**
 * An oracle for plans of groups, of numbers and tables alone: a checker that accounts for every pod of a plan, and an
 * exact packer that tries every node for every pod. It imports nothing of the planner.
 */

/** Amounts by resource, in whole units. */
export type Units = Readonly<Record<string, number>>;

/** A pod that a machine has: its kind, and the kinds that it must not be beside. */
export type Inmate = { readonly kind: string; readonly avoids: readonly string[] };

export type Machine = {
  readonly name: string;
  readonly free: Units;
  readonly taints: readonly string[];
  readonly zone: string;
  /** Absent: none. */
  readonly inmates?: readonly Inmate[];
};

export type Crew = {
  readonly task: string;
  readonly needs: Units;
  readonly count: number;
  readonly tolerates: readonly string[];
  /** Zones that the pods may use; absent: all. */
  readonly zones?: readonly string[];
  /** Names of the machines that the pods may use; absent: all. */
  readonly only?: ReadonlySet<string>;
  /** Absent: a kind that no other is told to avoid, and that avoids none. */
  readonly inmate?: Inmate;
};

export type Assignment = { readonly task: string; readonly node: string; readonly count: number };

const welcomes = (machine: Machine, crew: Crew): boolean =>
  machine.taints.every((taint) => crew.tolerates.includes(taint)) &&
  (crew.zones?.includes(machine.zone) ?? true) &&
  (crew.only?.has(machine.name) ?? true);

const holds = (free: Units, needs: Units): boolean =>
  Object.entries(needs).every(([name, many]) => many === 0 || many <= (free[name] ?? 0));

const isQuiet = ({ inmates = [] }: Machine, { inmate }: Crew): boolean =>
  inmate === undefined ||
  inmates.every(({ kind, avoids }) => !inmate.avoids.includes(kind) && !avoids.includes(inmate.kind));

const less = (free: Units, needs: Units): Units =>
  Object.fromEntries(Object.entries(free).map(([name, many]) => [name, many - (needs[name] ?? 0)]));

const takes = (machine: Machine, crew: Crew): boolean =>
  welcomes(machine, crew) && holds(machine.free, crew.needs) && isQuiet(machine, crew);

const joinedBy = (machine: Machine, { needs, inmate }: Crew): Machine => ({
  ...machine,
  free: less(machine.free, needs),
  inmates: [...(machine.inmates ?? []), ...(inmate === undefined ? [] : [inmate])],
});

const putOne = (now: Map<string, Machine>, name: string, crew: Crew): readonly string[] => {
  const machine = now.get(name);
  if (machine === undefined) return [`there is no ${name}`];
  now.set(name, joinedBy(machine, crew));
  return [
    ...(welcomes(machine, crew) ? [] : [`${name} does not take ${crew.task}`]),
    ...(holds(machine.free, crew.needs) ? [] : [`${name} has no room for ${crew.task}`]),
    ...(isQuiet(machine, crew) ? [] : [`${name} has a pod that ${crew.task} must not be beside`]),
  ];
};

/** Returns what is wrong with a plan. */
export const faultsIn = (
  machines: readonly Machine[],
  crews: readonly Crew[],
  plan: readonly Assignment[],
): readonly string[] => {
  const now = new Map(machines.map((machine) => [machine.name, machine]));
  const wrong = plan.flatMap(({ task, node, count }) => {
    const crew = crews.find((one) => one.task === task);
    if (crew === undefined) return [`there is no ${task}`];
    return Array.from({ length: count }, () => putOne(now, node, crew)).flat();
  });
  const places = (task: string): number =>
    plan.reduce((sum, place) => sum + (place.task === task ? place.count : 0), 0);
  const short = crews.filter(({ task, count }) => places(task) !== count);
  return [...wrong, ...short.map(({ task, count }) => `${task} has ${places(task)} of ${count} places`)];
};

const idOf = (index: number, machines: readonly Machine[], last: string): string =>
  `${index} ${last} ${machines.map(({ free, inmates }) => JSON.stringify([free, inmates])).join()}`;

/** True if some assignment places all pods: every pod is tried on every node. */
export const canPack = (machines: readonly Machine[], crews: readonly Crew[]): boolean => {
  const pods = crews.flatMap((crew) => Array.from({ length: crew.count }, () => crew));
  const dead = new Set<string>();
  const from = (index: number, now: readonly Machine[], first: number): boolean => {
    const crew = pods[index];
    if (crew === undefined) return true;
    const start = pods[index - 1] === crew ? first : 0;
    const id = idOf(index, now, `${start}`);
    if (dead.has(id)) return false;
    for (const [at, machine] of now.entries()) {
      if (at < start || !takes(machine, crew)) continue;
      if (from(index + 1, now.with(at, joinedBy(machine, crew)), at)) return true;
    }
    dead.add(id);
    return false;
  };
  return from(0, machines, 0);
};
