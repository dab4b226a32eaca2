/**
 * An oracle for plans of groups, of numbers and tables alone: a checker that accounts for every pod of a plan, and an
 * exact packer that tries every node for every pod. It imports nothing of the planner.
 */

/** Amounts by resource, in whole units. */
export type Units = Readonly<Record<string, number>>;

export type Machine = {
  readonly name: string;
  readonly free: Units;
  readonly taints: readonly string[];
  readonly zone: string;
};

export type Crew = {
  readonly task: string;
  readonly needs: Units;
  readonly count: number;
  readonly tolerates: readonly string[];
  /** Zones that the pods may use; absent: all. */
  readonly zones?: readonly string[];
};

export type Assignment = { readonly task: string; readonly node: string; readonly count: number };

const welcomes = (machine: Machine, crew: Crew): boolean =>
  machine.taints.every((taint) => crew.tolerates.includes(taint)) && (crew.zones?.includes(machine.zone) ?? true);

const holds = (free: Units, needs: Units): boolean =>
  Object.entries(needs).every(([name, many]) => many === 0 || many <= (free[name] ?? 0));

const less = (free: Units, needs: Units): Units =>
  Object.fromEntries(Object.entries(free).map(([name, many]) => [name, many - (needs[name] ?? 0)]));

const putOne = (free: Map<string, Units>, machine: Machine, crew: Crew): readonly string[] => {
  const left = free.get(machine.name) ?? {};
  free.set(machine.name, less(left, crew.needs));
  return [
    ...(welcomes(machine, crew) ? [] : [`${machine.name} does not take ${crew.task}`]),
    ...(holds(left, crew.needs) ? [] : [`${machine.name} has no room for ${crew.task}`]),
  ];
};

/** Returns what is wrong with a plan. */
export const faultsIn = (
  machines: readonly Machine[],
  crews: readonly Crew[],
  plan: readonly Assignment[],
): readonly string[] => {
  const free = new Map(machines.map((machine) => [machine.name, machine.free]));
  const wrong = plan.flatMap(({ task, node, count }) => {
    const crew = crews.find((one) => one.task === task);
    const machine = machines.find((one) => one.name === node);
    if (crew === undefined || machine === undefined) return [`${task} on ${node}: one of them is not there`];
    return Array.from({ length: count }, () => putOne(free, machine, crew)).flat();
  });
  const places = (task: string): number =>
    plan.reduce((sum, place) => sum + (place.task === task ? place.count : 0), 0);
  const short = crews.filter(({ task, count }) => places(task) !== count);
  return [...wrong, ...short.map(({ task, count }) => `${task} has ${places(task)} of ${count} places`)];
};

const idOf = (index: number, machines: readonly Machine[], last: string): string =>
  `${index} ${last} ${machines.map(({ free }) => JSON.stringify(free)).join()}`;

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
      if (at < start || !welcomes(machine, crew) || !holds(machine.free, crew.needs)) continue;
      if (from(index + 1, now.with(at, { ...machine, free: less(machine.free, crew.needs) }), at)) return true;
    }
    dead.add(id);
    return false;
  };
  return from(0, machines, 0);
};
