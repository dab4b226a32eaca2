/**
 * A second reading of the rules by which a group gets the room of others, of numbers and tables alone. It imports nothing of
 * the planner but the exact packer of gang-packer.ts. Only cpu and the number of pods count.
 */
import { type Crew, canPack, type Machine } from "./gang-packer.ts";

export type Line = { readonly deserved?: number; readonly guarantee?: number; readonly reclaimable: boolean };

export type Inhabitant = { readonly uid: string; readonly node: string; readonly isFixed: boolean };

/** A group that runs: all of its pods are of one size. */
export type Tenant = {
  readonly name: string;
  readonly queue: string;
  readonly priority: number;
  readonly cpu: number;
  readonly least: number;
  readonly pods: readonly Inhabitant[];
};

export type Applicant = {
  readonly queue: string;
  readonly priority: number;
  readonly isPeaceful: boolean;
  readonly crew: Crew;
};

export type Town = {
  readonly machines: readonly Machine[];
  readonly queues: Readonly<Record<string, Line>>;
  readonly tenants: readonly Tenant[];
  readonly applicant: Applicant;
};

/** The pods that are evicted, by group. */
export type Order = Readonly<Record<string, { readonly whole: boolean; readonly uids: readonly string[] }>>;

const heldBy = (tenants: readonly Tenant[], queue: string): number =>
  tenants.filter((one) => one.queue === queue).reduce((sum, { cpu, pods }) => sum + cpu * pods.length, 0);

/** The machines once these pods have gone. */
const without = ({ machines, tenants }: Town, uids: ReadonlySet<string>): readonly Machine[] =>
  machines.map((machine) => {
    const gone = tenants.flatMap(({ cpu, pods }) =>
      pods.filter(({ uid, node }) => node === machine.name && uids.has(uid)).map(() => cpu),
    );
    const { cpu = 0, pods = 0 } = machine.free;
    return { ...machine, free: { cpu: cpu + gone.reduce((sum, one) => sum + one, 0), pods: pods + gone.length } };
  });

const fits = (town: Town, uids: readonly string[]): boolean =>
  canPack(without(town, new Set(uids)), [town.applicant.crew]);

const canPreempt = ({ applicant }: Town, tenant: Tenant): boolean =>
  tenant.queue === applicant.queue && tenant.priority < applicant.priority;

/** Returns the rules that an eviction in another queue breaks. */
const reclaimFaults = (town: Town, queue: string, order: Order): readonly string[] => {
  const { applicant, queues, tenants } = town;
  const [own, other] = [queues[applicant.queue], queues[queue]];
  const least = Math.max(own?.deserved ?? 0, own?.guarantee ?? 0);
  const { cpu = 0 } = applicant.crew.needs;
  const wants = heldBy(tenants, applicant.queue) + applicant.crew.count * cpu;
  const taken = tenants
    .filter((tenant) => tenant.queue === queue)
    .flatMap(({ name, cpu: size }) => {
      const one = order[name];
      if (one === undefined) return [];
      return one.whole ? [size * one.uids.length] : one.uids.map(() => size);
    });
  const sum = taken.reduce((all, one) => all + one, 0);
  const held = heldBy(tenants, queue);
  const deserved = Math.max(other?.deserved ?? 0, other?.guarantee ?? 0);
  return [
    ...(other?.reclaimable === false ? [`${queue} is not reclaimable`] : []),
    ...(own?.deserved === undefined && own?.guarantee === undefined
      ? ["its queue deserves nothing in particular"]
      : []),
    ...(wants > least ? [`its queue would have ${wants} and deserves ${least}`] : []),
    ...(held - sum < (other?.guarantee ?? 0) ? [`${queue} keeps ${held - sum} of its guarantee`] : []),
    ...(held - (sum - Math.max(...taken)) <= deserved ? [`${queue} has ${held} and deserves ${deserved}`] : []),
  ];
};

const tenantFaults = (town: Town, tenant: Tenant, { whole, uids }: Order[string]): readonly string[] => {
  const { name, pods, least } = tenant;
  const own = pods.filter(({ uid }) => uids.includes(uid));
  return [
    ...(own.length === uids.length ? [] : [`${name} has not all of these pods`]),
    ...(own.some(({ isFixed }) => isFixed) ? [`${name} gives a pod that stays`] : []),
    ...(whole && own.length < pods.length ? [`${name} goes in part`] : []),
    ...(!whole && pods.length - own.length < least ? [`${name} keeps fewer than its minimum`] : []),
    ...(tenant.queue === town.applicant.queue && !canPreempt(town, tenant) ? [`${name} has no lower priority`] : []),
  ];
};

/** Returns what is wrong with an eviction. */
export const faultsOf = (town: Town, order: Order): readonly string[] => {
  const all = Object.values(order).flatMap(({ uids }) => uids);
  const units = Object.values(order).flatMap(({ whole, uids }) => (whole ? [uids] : uids.map((uid) => [uid])));
  const others = new Set(
    town.tenants
      .filter(({ name, queue }) => order[name] !== undefined && queue !== town.applicant.queue)
      .map(({ queue }) => queue),
  );
  return [
    ...(town.applicant.isPeaceful ? ["its class displaces nobody"] : []),
    ...town.tenants.flatMap((tenant) => {
      const own = order[tenant.name];
      return own === undefined ? [] : tenantFaults(town, tenant, own);
    }),
    ...[...others].flatMap((queue) => reclaimFaults(town, queue, order)),
    ...(fits(town, all) ? [] : ["the group does not fit afterwards"]),
    ...units
      .filter((unit) =>
        fits(
          town,
          all.filter((uid) => !unit.includes(uid)),
        ),
      )
      .map((unit) => `${unit.join()} need not go`),
  ];
};

/** True if the group would fit if all pods went that it may preempt. */
export const couldPreempt = (town: Town): boolean => {
  const uids = town.tenants
    .filter((tenant) => canPreempt(town, tenant))
    .flatMap(({ pods, least }) =>
      pods.some(({ isFixed }) => isFixed) ? pods.slice(least).filter(({ isFixed }) => !isFixed) : pods,
    )
    .map(({ uid }) => uid);
  return !town.applicant.isPeaceful && fits(town, uids);
};

export const fitsAlready = (town: Town): boolean => fits(town, []);
