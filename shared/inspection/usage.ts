/**
 * The cost of an application as its record tells it: the requests of its driver and executors times the time that they
 * ran, the part of it that was lost, and the money for it where prices are set. Executors count when they have ended.
 */
import * as z from "zod";
import { costOf } from "../kube/prices.ts";
import type { Rates } from "./rates.ts";
import { historyOf, plannedEnds, type RecordView } from "./record.ts";

/** As the record packs a lifetime: id, creation in epoch s, start and end in seconds after it, node, reason. */
const lifetime = z.tuple([z.number(), z.number(), z.number(), z.number(), z.string(), z.string()]);

const account = z.object({
  /** The driver's node, and when its container started, epoch ms. */
  node: z.string().optional(),
  upAt: z.number().optional(),
  needs: z.tuple([z.number(), z.number(), z.number(), z.number()]).optional(),
  ran: z.tuple([z.number(), z.number()]).optional(),
  lifetimes: z.array(lifetime).default([]),
  /** As the record packs the use of quota: the last two are sums of what was before the first. */
  quota: z.tuple([z.number(), z.number(), z.number(), z.number(), z.number(), z.number()]).optional(),
});

const present = z.object({
  driver: z.object({
    ...{ attempt: z.number(), submittedAt: z.number() },
    ...{ needs: account.shape.needs, node: account.shape.node, upAt: account.shape.upAt },
  }),
  executors: account
    .omit({ needs: true, node: true, upAt: true, quota: true })
    .extend({ attempt: z.number() })
    .optional(),
  allotment: z.object({ attempt: z.number(), quota: account.shape.quota }).optional(),
  state: z.object({ phase: z.string(), endedAt: z.number().optional() }),
});

const hoursText = (hours: number): string => hours.toFixed(3);

/** The seconds that these executors ran. */
const secondsOf = (lifetimes: RunAccount["lifetimes"]): number =>
  lifetimes.reduce((sum, [, , up, end]) => sum + (up < 0 ? 0 : end - up), 0);

export type RunAccount = z.infer<typeof account> & {
  readonly attempt: number;
  /** Epoch ms, as below. */
  readonly submittedAt: number;
  /** Undefined: the driver has not run, as far as the record tells. */
  readonly upAt: number | undefined;
  /** Undefined while the run goes on. */
  readonly endedAt: number | undefined;
  readonly isFailed: boolean;
};

type Told = Omit<RunAccount, "upAt"> & { readonly upAt?: number | undefined };

const pastOf = ({ runs = [] }: RecordView): readonly Told[] =>
  runs.flatMap(({ attempt, startedAt: submittedAt, endedAt, outcome, account: kept }) => {
    const { data } = account.safeParse(kept ?? {});
    if (data === undefined || submittedAt === undefined) return [];
    return [{ ...data, attempt, submittedAt, endedAt, isFailed: outcome !== "completed" }];
  });

const presentOf = ({ memory }: RecordView): Told | undefined => {
  const { data } = present.safeParse(memory);
  if (data === undefined) return undefined;
  const { driver, executors, allotment, state } = data;
  const { attempt } = driver;
  const { lifetimes = [], ran } = executors?.attempt === attempt ? executors : {};
  const quota = allotment?.attempt === attempt ? allotment.quota : undefined;
  return { ...driver, endedAt: state.endedAt, isFailed: state.phase.startsWith("FAIL"), ran, lifetimes, quota };
};

/**
 * The start of a driver of which the record keeps none, as one that ended between two steps, or of an older version: when a step
 * saw it run; the submission of one that completed or had executors, which has run for certain.
 */
const assumedStart = (
  record: RecordView,
  { attempt, submittedAt, endedAt, isFailed, ran }: Told,
): number | undefined => {
  const seen = historyOf(record).find((one) => one.attempt === attempt && one.state === "RUNNING");
  if (seen !== undefined) return Date.parse(seen.at);
  return ran !== undefined || (endedAt !== undefined && !isFailed) ? submittedAt : undefined;
};

/** The runs of a SparkApplication, oldest first; none for other kinds. */
export const accountsOf = (record: RecordView | undefined): readonly RunAccount[] => {
  if (record === undefined) return [];
  const newest = presentOf(record);
  const past = pastOf(record).filter(({ attempt }) => attempt !== newest?.attempt);
  const runs = newest === undefined ? past : [...past, newest];
  return runs.map((run) => ({ ...run, upAt: run.upAt ?? assumedStart(record, run) }));
};

/** Cores and GiB of the driver and of each executor of a run; undefined where its record does not tell. */
export const requestsIn = ({ needs }: Pick<RunAccount, "needs">) =>
  needs === undefined
    ? undefined
    : {
        driver: { cores: needs[0] / 1_000, gib: needs[1] / 1_024 },
        executor: { cores: needs[2] / 1_000, gib: needs[3] / 1_024 },
      };

/** Hours of executors: those for which Kueue granted quota, those that executors used of it, and those that were waited for. */
export type Quota = {
  readonly granted: number;
  /** Executors count when they have ended. */
  readonly used: number;
  readonly waited: number;
  /** False: executors still run, which add to what was used. */
  readonly isWhole: boolean;
};

/** The quota of each run with growths; a run without them, or of which the record does not tell it, is not among them. */
export const quotaByRun = (
  record: RecordView | undefined,
  now: number,
): readonly (Quota & { readonly attempt: number })[] =>
  accountsOf(record).flatMap((run) => {
    const { attempt, quota, endedAt = now, lifetimes, ran: [ended] = [0] } = run;
    if (quota === undefined) return [];
    const [at, granted, waits, , grantedMs, waitedMs] = quota;
    const ms = Math.max(0, endedAt - at);
    const hours = (sum: number, count: number): number => (sum + count * ms) / 3_600_000;
    const used = Math.max(ended, secondsOf(lifetimes)) / 3_600;
    const isWhole = run.endedAt !== undefined;
    return [{ attempt, granted: hours(grantedMs, granted), used, waited: hours(waitedMs, waits), isWhole }];
  });

/** The quota of all runs; undefined where the record tells none. */
export const quotaOf = (record: RecordView | undefined, now: number): Quota | undefined => {
  const runs = quotaByRun(record, now);
  const sum = (of: "granted" | "used" | "waited"): number => runs.reduce((all, one) => all + one[of], 0);
  if (runs.length === 0) return undefined;
  const isWhole = runs.every((one) => one.isWhole);
  return { granted: sum("granted"), used: sum("used"), waited: sum("waited"), isWhole };
};

/** The quota in one line, "" for none. */
export const quotaText = (quota: Quota | undefined): string => {
  if (quota === undefined) return "";
  const { granted, used, waited, isWhole } = quota;
  const least = isWhole ? "" : "at least ";
  return `${hoursText(granted)} executor-h granted by Kueue, ${least}${hoursText(used)} used, ${hoursText(waited)} waited for`;
};

type Hours = { readonly cores: number; readonly gib: number };

/** An amount of money; the usual price counts for what ran on an unknown node. */
export type Money = {
  readonly currency: string;
  readonly all: number;
  readonly lost: number;
  readonly isSure: boolean;
};

export type Usage = {
  readonly all: Hours;
  /** Runs that did not complete, and lost executors of the others: at most this was lost. */
  readonly lost: Hours;
  /** False: executors still run, or a run's requests are not known. */
  readonly isWhole: boolean;
  /** Absent without prices. */
  readonly money?: Money;
  /** Absent where no run had growths under Kueue. */
  readonly quota?: Quota;
};

const none: Hours = { cores: 0, gib: 0 };
const plus = (a: Hours, b: Hours): Hours => ({ cores: a.cores + b.cores, gib: a.gib + b.gib });
const during = ({ cores, gib }: Hours, seconds: number): Hours => ({
  cores: (cores * Math.max(0, seconds)) / 3_600,
  gib: (gib * Math.max(0, seconds)) / 3_600,
});

/** Hours on one node that were lost or not; `node` is undefined where the record does not tell it. */
type Part = { readonly hours: Hours; readonly isLost: boolean; readonly node: string | undefined };

/** The executors of a run: those of its record by node, and what the record has only as a sum. */
const executorParts = ({ lifetimes, ran: [ended, lost] = [0, 0] }: RunAccount, needs: Hours): readonly Part[] => {
  const kept = lifetimes.map(([, , up, end, node, reason]) => ({
    ...{ seconds: up < 0 ? 0 : end - up, isLost: !plannedEnds.includes(reason) },
    node: node === "" ? undefined : node,
  }));
  const sum = (of: readonly (typeof kept)[number][]): number => of.reduce((all, { seconds }) => all + seconds, 0);
  const keptLost = sum(kept.filter(({ isLost }) => isLost));
  const rest = { lost: Math.max(0, lost - keptLost), good: Math.max(0, ended - lost - (sum(kept) - keptLost)) };
  const sums = [
    { seconds: rest.lost, isLost: true, node: undefined },
    { seconds: rest.good, isLost: false, node: undefined },
  ];
  return [...kept, ...sums].flatMap(({ seconds, ...one }) =>
    seconds === 0 ? [] : [{ ...one, hours: during(needs, seconds) }],
  );
};

const partsOfRun = (run: RunAccount, now: number): readonly Part[] | undefined => {
  const requests = requestsIn(run);
  if (requests === undefined) return undefined;
  const { endedAt = now, upAt = endedAt } = run;
  const driver = { hours: during(requests.driver, (endedAt - upAt) / 1_000), isLost: false, node: run.node };
  const parts = [driver, ...executorParts(run, requests.executor)];
  return run.isFailed ? parts.map((part) => ({ ...part, isLost: true })) : parts;
};

const hoursOf = (parts: readonly Part[]): Hours => parts.map(({ hours }) => hours).reduce(plus, none);

const moneyOf = (parts: readonly Part[], { currency, usual, on }: Rates): Money => {
  const priced = parts.map(({ hours, isLost, node }) => {
    const rate = on(node);
    return { isLost, isSure: rate !== undefined, cost: costOf(rate ?? usual, hours) };
  });
  const sum = (of: typeof priced): number => of.reduce((all, { cost }) => all + cost, 0);
  const lost = sum(priced.filter(({ isLost }) => isLost));
  return { currency, all: sum(priced), lost, isSure: priced.every(({ isSure }) => isSure) };
};

/** The cost of all runs in the record; undefined where it tells none. */
export const usageOf = (record: RecordView | undefined, now: number, rates?: Rates): Usage | undefined => {
  const runs = accountsOf(record);
  const newest = runs.at(-1);
  const told = runs.flatMap((run) => partsOfRun(run, now) ?? []);
  if (told.length === 0) return undefined;
  const quota = quotaOf(record, now);
  return {
    all: hoursOf(told),
    lost: hoursOf(told.filter(({ isLost }) => isLost)),
    isWhole: runs.every((run) => run.needs !== undefined) && newest?.endedAt !== undefined,
    ...(rates === undefined ? {} : { money: moneyOf(told, rates) }),
    ...(quota === undefined ? {} : { quota }),
  };
};

/**
 * The columns of `rekindle list -o wide`. A plus sign: executors that still run will add to it. A tilde: the usual price
 * counts for pods whose node is not known.
 */
export const usageColumns = (usage: Usage | undefined): Readonly<Record<string, string>> => {
  if (usage === undefined) return {};
  const { all, lost, isWhole, money, quota } = usage;
  const more = isWhole ? "" : "+";
  const ofQuota = quota && {
    "GRANTED EXEC-H": hoursText(quota.granted),
    "USED EXEC-H": `${hoursText(quota.used)}${quota.isWhole ? "" : "+"}`,
    "WAITED EXEC-H": hoursText(quota.waited),
  };
  const hours = {
    "CORE-H": `${hoursText(all.cores)}${more}`,
    "GIB-H": `${hoursText(all.gib)}${more}`,
    "LOST CORE-H": hoursText(lost.cores),
    "LOST GIB-H": hoursText(lost.gib),
    ...ofQuota,
  };
  if (money === undefined) return hours;
  const mark = money.isSure ? "" : "~";
  return {
    ...hours,
    [`COST ${money.currency}`]: `${mark}${hoursText(money.all)}${more}`,
    [`LOST ${money.currency}`]: `${mark}${hoursText(money.lost)}`,
  };
};
