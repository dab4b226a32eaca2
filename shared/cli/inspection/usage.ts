/**
 * The cost of an application as its record tells it: the requests of its driver and executors times the time that they
 * ran, and the part of it that was lost. Executors count when they have ended.
 */
import * as z from "zod";
import type { RecordView } from "./record.ts";

/** As the record packs a lifetime: id, creation in epoch s, start and end in seconds after it, node, reason. */
const lifetime = z.tuple([z.number(), z.number(), z.number(), z.number(), z.string(), z.string()]);

const account = z.object({
  needs: z.tuple([z.number(), z.number(), z.number(), z.number()]).optional(),
  ran: z.tuple([z.number(), z.number()]).optional(),
  lifetimes: z.array(lifetime).default([]),
});

const present = z.object({
  driver: z.object({ attempt: z.number(), submittedAt: z.number(), needs: account.shape.needs }),
  executors: account.omit({ needs: true }).extend({ attempt: z.number() }).optional(),
  state: z.object({ phase: z.string(), endedAt: z.number().optional() }),
});

export type RunAccount = z.infer<typeof account> & {
  readonly attempt: number;
  readonly startedAt: number;
  /** Epoch ms; undefined while the run goes on. */
  readonly endedAt: number | undefined;
  readonly isFailed: boolean;
};

const pastOf = ({ runs = [] }: RecordView): readonly RunAccount[] =>
  runs.flatMap(({ attempt, startedAt, endedAt, outcome, account: kept }) => {
    const { data } = account.safeParse(kept ?? {});
    if (data === undefined || startedAt === undefined) return [];
    return [{ ...data, attempt, startedAt, endedAt, isFailed: outcome !== "completed" }];
  });

const presentOf = ({ memory }: RecordView): RunAccount | undefined => {
  const { data } = present.safeParse(memory);
  if (data === undefined) return undefined;
  const { driver, executors, state } = data;
  const { attempt, submittedAt: startedAt, needs } = driver;
  const { lifetimes = [], ran } = executors?.attempt === attempt ? executors : {};
  const isFailed = state.phase.startsWith("FAIL");
  return { attempt, startedAt, endedAt: state.endedAt, isFailed, needs, ran, lifetimes };
};

/** The runs of a SparkApplication, oldest first; none for other kinds. */
export const accountsOf = (record: RecordView | undefined): readonly RunAccount[] => {
  if (record === undefined) return [];
  const newest = presentOf(record);
  const past = pastOf(record).filter(({ attempt }) => attempt !== newest?.attempt);
  return newest === undefined ? past : [...past, newest];
};

/** Cores and GiB of the driver and of each executor of a run; undefined where its record does not tell. */
export const requestsIn = ({ needs }: Pick<RunAccount, "needs">) =>
  needs === undefined
    ? undefined
    : {
        driver: { cores: needs[0] / 1_000, gib: needs[1] / 1_024 },
        executor: { cores: needs[2] / 1_000, gib: needs[3] / 1_024 },
      };

type Hours = { readonly cores: number; readonly gib: number };

export type Usage = {
  readonly all: Hours;
  /** Runs that did not complete, and lost executors of the others: at most this was lost. */
  readonly lost: Hours;
  /** False: executors still run, or a run's requests are not known. */
  readonly isWhole: boolean;
};

const none: Hours = { cores: 0, gib: 0 };
const plus = (a: Hours, b: Hours): Hours => ({ cores: a.cores + b.cores, gib: a.gib + b.gib });
const during = ({ cores, gib }: Hours, seconds: number): Hours => ({
  cores: (cores * Math.max(0, seconds)) / 3_600,
  gib: (gib * Math.max(0, seconds)) / 3_600,
});

const usageOfRun = (run: RunAccount, now: number): Pick<Usage, "all" | "lost"> | undefined => {
  const requests = requestsIn(run);
  if (requests === undefined) return undefined;
  const { startedAt, endedAt = now, ran: [ended, lost] = [0, 0] } = run;
  const all = plus(during(requests.driver, (endedAt - startedAt) / 1_000), during(requests.executor, ended));
  return { all, lost: run.isFailed ? all : during(requests.executor, lost) };
};

/** The cost of all runs in the record; undefined where it tells none. */
export const usageOf = (record: RecordView | undefined, now: number): Usage | undefined => {
  const runs = accountsOf(record);
  const newest = runs.at(-1);
  const known = runs.map((run) => usageOfRun(run, now));
  const told = known.filter((one) => one !== undefined);
  if (told.length === 0) return undefined;
  return {
    all: told.map(({ all }) => all).reduce(plus, none),
    lost: told.map(({ lost }) => lost).reduce(plus, none),
    isWhole: told.length === runs.length && newest?.endedAt !== undefined,
  };
};

const hoursText = (hours: number): string => hours.toFixed(3);

/** The columns of `rekindle list -o wide`. A plus sign: executors that still run will add to it. */
export const usageColumns = (usage: Usage | undefined): Readonly<Record<string, string>> => {
  if (usage === undefined) return {};
  const more = usage.isWhole ? "" : "+";
  return {
    "CORE-H": `${hoursText(usage.all.cores)}${more}`,
    "GIB-H": `${hoursText(usage.all.gib)}${more}`,
    "LOST CORE-H": hoursText(usage.lost.cores),
    "LOST GIB-H": hoursText(usage.lost.gib),
  };
};
