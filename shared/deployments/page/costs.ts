/**
 * Hours and money by namespace and day of the last week. Runs of SparkApplications count as their records tell them,
 * pods that run, and those of other kinds, as this process has seen them. What a deleted application used is kept by
 * namespace and day.
 */

import { forgetOldest } from "../../core/cache.ts";
import type { Rates } from "../../inspection/rates.ts";
import { plannedEnds, type RecordView } from "../../inspection/record.ts";
import { accountsOf, type RunAccount, requestsIn } from "../../inspection/usage.ts";
import { costOf } from "../../kube/prices.ts";
import type { Costs, Lane, Used } from "../../page/wire.ts";

const dayMs = 86_400_000;
const hourMs = 3_600_000;
const mostDays = 7;
/** The most namespaces of an answer: those that used most. */
const mostRows = 100;
/** The most namespaces of which deleted applications are remembered. */
const mostPast = 1_000;

type Needs = { readonly cores: number; readonly gib: number };

/** Hours of one pod by day: of its number since the epoch, in UTC. */
type Part = {
  readonly hours: readonly (readonly [day: number, hours: number])[];
  readonly needs: Needs;
  readonly isLost: boolean;
  readonly node: string | undefined;
};

const dayOf = (at: number): number => Math.floor(at / dayMs);

/** The hours between two instants by day. */
const spread = (from: number, to: number): Part["hours"] => {
  const first = Math.max(dayOf(from), dayOf(to) - mostDays);
  return Array.from({ length: Math.max(0, dayOf(to) - first + 1) }, (_, at) => {
    const [begins, ends] = [Math.max(from, (first + at) * dayMs), Math.min(to, (first + at + 1) * dayMs)];
    return [first + at, Math.max(0, ends - begins) / hourMs] as const;
  });
};

/** The executors of a run. Those that the record has only as a sum count on the day on which the run began. */
const executorsOf = ({ lifetimes, ran: [all, lost] = [0, 0], submittedAt }: RunAccount, needs: Needs) => {
  const kept = lifetimes.map(([, created, up, end, node, reason]) => ({
    hours: up < 0 ? [] : spread((created + up) * 1_000, (created + end) * 1_000),
    seconds: up < 0 ? 0 : end - up,
    ...{ needs, isLost: !plannedEnds.includes(reason), node: node === "" ? undefined : node },
  }));
  const sum = (isLost: boolean): number =>
    kept.reduce((total, one) => total + (one.isLost === isLost ? one.seconds : 0), 0);
  const rest = (seconds: number, isLost: boolean): Part => ({
    hours: [[dayOf(submittedAt), Math.max(0, seconds) / 3_600]],
    ...{ needs, isLost, node: undefined },
  });
  return [...kept, rest(lost - sum(true), true), rest(all - lost - sum(false), false)];
};

/** The parts of a run that its record tells; `now`: the end of a driver that runs. */
const partsOf = (run: RunAccount, now: number): readonly Part[] => {
  const requests = requestsIn(run);
  if (requests === undefined) return [];
  const { endedAt = now, upAt = endedAt, isFailed } = run;
  const driver = { hours: spread(upAt, endedAt), needs: requests.driver, isLost: false, node: run.node };
  return [driver, ...executorsOf(run, requests.executor)].map((part) => (isFailed ? { ...part, isLost: true } : part));
};

type Sum = { -readonly [Name in keyof Used]: Used[Name] };
type Days = Map<number, Sum>;

const nothing = (): Sum => ({ cores: 0, gib: 0, cost: 0, lostCores: 0, lostCost: 0, assumed: 0 });

const sumIn = (days: Days, day: number): Sum => {
  const sum = days.get(day) ?? nothing();
  days.set(day, sum);
  return sum;
};

const addPart = (days: Days, { hours, needs, isLost, node }: Part, rates: Rates | undefined): void => {
  const known = rates?.on(node);
  const rate = known ?? rates?.usual ?? { core: 0, gib: 0 };
  for (const [day, length] of hours) {
    const used = { cores: needs.cores * length, gib: needs.gib * length };
    const cost = costOf(rate, used);
    const sum = sumIn(days, day);
    sum.cores += used.cores;
    sum.gib += used.gib;
    sum.cost += cost;
    if (isLost) sum.lostCores += used.cores;
    if (isLost) sum.lostCost += cost;
    if (rates !== undefined && known === undefined) sum.assumed += used.cores;
  }
};

const addDays = (days: Days, more: Days): void => {
  for (const [day, one] of more) {
    const sum = sumIn(days, day);
    sum.cores += one.cores;
    sum.gib += one.gib;
    sum.cost += one.cost;
    sum.lostCores += one.lostCores;
    sum.lostCost += one.lostCost;
    sum.assumed += one.assumed;
  }
};

type Application = {
  readonly namespace: string;
  /** UID of the object of the record. */
  readonly uid: string;
  /** All but the run that goes on. */
  readonly days: Days;
  /** The run that goes on: its driver counts until now, or until its application was deleted. */
  readonly open: RunAccount | undefined;
  readonly goneAt?: number | undefined;
};

export type CostBook = {
  /** Takes in the record of an application; undefined: it is removed, and what it told is kept. */
  recorded(key: string, namespace: string, record: RecordView | undefined): void;
  /** Takes in the deletion of an application: its record may stay for an hour. */
  gone(key: string): void;
  /** Returns the sums of these namespaces (empty: all). `lanesOf`: by application, its pods; one without pods is absent. */
  read(namespaces: readonly string[], lanesOf: ReadonlyMap<string, readonly Lane[]>, now: number): Costs;
};

const totalOf = (days: Days): number =>
  [...days.values()].reduce((sum, { cores, cost }) => sum + cost + cores * 1e-6, 0);

/** A pod as its own part; none before it has started. */
const partOf = ({ up, end, cores, gib, node, lost }: Lane, now: number): readonly Part[] =>
  up === undefined || cores === undefined || gib === undefined
    ? []
    : [{ hours: spread(up, end ?? now), needs: { cores, gib }, isLost: lost === true, node }];

const namespaceIn = (key: string): string => key.split("/")[1] ?? "";

/** The account of a record; undefined for one without a run, as those of other kinds. */
const accountOf = (
  namespace: string,
  record: RecordView,
  now: number,
  rates: Rates | undefined,
): Application | undefined => {
  const runs = accountsOf(record);
  if (runs.length === 0) return undefined;
  const days: Days = new Map();
  const open = runs.find(({ endedAt }) => endedAt === undefined);
  for (const run of runs) if (run !== open) for (const part of partsOf(run, now)) addPart(days, part, rates);
  return { namespace, uid: record.uid, days, open };
};

const withOpen = ({ days, open, goneAt }: Application, now: number, rates: Rates | undefined): Days => {
  if (open === undefined) return days;
  const all: Days = new Map();
  addDays(all, days);
  for (const part of partsOf(open, goneAt ?? now)) addPart(all, part, rates);
  return all;
};

/** The sums as they are sent. */
const answerOf = (found: ReadonlyMap<string, Days>, at: number, currency: string | undefined): Costs => {
  const numbers = Array.from({ length: mostDays }, (_, back) => dayOf(at) - back);
  const rows = [...found]
    .filter(([, days]) => numbers.some((day) => (days.get(day)?.cores ?? 0) > 0))
    .sort(([, a], [, b]) => totalOf(b) - totalOf(a));
  return {
    ...(currency === undefined ? {} : { currency }),
    days: numbers.map((day) => new Date(day * dayMs).toISOString().slice(0, 10)),
    rows: rows.slice(0, mostRows).map(([namespace, days]) => ({
      namespace,
      days: numbers.map((day) => days.get(day) ?? nothing()),
    })),
    more: Math.max(0, rows.length - mostRows),
  };
};

/** Opens the book. `rates` undefined: it has hours only. */
export const openCostBook = (rates: Rates | undefined, now: () => number): CostBook => {
  const applications = new Map<string, Application>();
  const past = new Map<string, Days>();
  const keep = (application: Application): void => {
    const days = past.get(application.namespace) ?? new Map<number, Sum>();
    addDays(days, withOpen(application, now(), rates));
    const oldest = dayOf(now()) - mostDays;
    for (const day of days.keys()) if (day <= oldest) days.delete(day);
    past.delete(application.namespace);
    past.set(application.namespace, days);
    forgetOldest(past, mostPast);
  };
  return {
    recorded: (key, namespace, record) => {
      const before = applications.get(key);
      if (before !== undefined && before.uid !== record?.uid) keep(before);
      const after = record === undefined ? undefined : accountOf(namespace, record, now(), rates);
      if (after === undefined) applications.delete(key);
      else applications.set(key, before?.uid === after.uid ? { ...after, goneAt: before.goneAt } : after);
    },
    gone: (key) => {
      const known = applications.get(key);
      if (known !== undefined) applications.set(key, { ...known, goneAt: now() });
    },
    read: (namespaces, lanesOf, at) => {
      const found = new Map<string, Days>();
      const daysOf = (namespace: string): Days | undefined => {
        if (namespaces.length > 0 && !namespaces.includes(namespace)) return undefined;
        const days = found.get(namespace) ?? new Map<number, Sum>();
        found.set(namespace, days);
        return days;
      };
      const addTo = (namespace: string, days: () => Days): void => {
        const own = daysOf(namespace);
        if (own !== undefined) addDays(own, days());
      };
      for (const [namespace, days] of past) addTo(namespace, () => days);
      for (const application of applications.values())
        addTo(application.namespace, () => withOpen(application, at, rates));
      for (const [key, lanes] of lanesOf) {
        const days = daysOf(namespaceIn(key));
        // Drivers, and executors that have ended, are in the record.
        const counted = lanes.filter(
          ({ role, end }) => !applications.has(key) || (role === "executor" && end === undefined),
        );
        if (days !== undefined)
          for (const part of counted.flatMap((lane) => partOf(lane, at))) addPart(days, part, rates);
      }
      return answerOf(found, at, rates?.currency);
    },
  };
};
