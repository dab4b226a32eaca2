/** CronJobs: each time has one job, whichever call dies. The simulator's clock begins at eight. */
import type { Change } from "../../../../../shared/simulator/storage/store.ts";
import { appName, type Scenario, type UserAction } from "../../scenario.ts";
import { fails, jobQuota, long, task } from "../jobs.ts";
import type { Lives } from "../simulator-parts.ts";
import { everyMinutes } from "./judge.ts";

export const minuteMs = 60_000;

const applied: UserAction["when"] = ({ type, table, object }: Change) =>
  type === "ADDED" && table === "cronjobs.batch.volcano.sh" && object.metadata.name === appName;

const changed = (says: string, minute: number, suspend: boolean): UserAction => ({
  says,
  when: applied,
  afterMs: minute * minuteMs,
  do: { type: "patch", spec: { suspend } },
});

/** Suspends from this minute after eight on. */
const until = (minute: number): UserAction => changed("suspend", minute, true);

/** The pod of the job of this many minutes after eight. */
const podAt = (minute: number): string => `${appName}-${Date.UTC(2026, 10, 2, 8, minute) / minuteMs}-main-0`;

type Told = Pick<Scenario, "name" | "what"> & { readonly spec?: object } & Partial<Omit<Scenario, "spec">>;

/** A scenario about a CronJob, which is run sparsely unless it says otherwise. */
export const cron = ({ spec, ...told }: Told): Scenario => ({
  kind: "CronJob",
  spec: {
    schedule: `*/${everyMinutes} * * * *`,
    jobTemplate: { spec: { maxRetry: 3, tasks: [task("main")] } },
    ...spec,
  },
  scripts: {},
  lives: { "*": [{ runMs: 2_000 }] },
  userActions: [until(30)],
  ends: "idle",
  breadth: "sparse",
  ...told,
});

/** Longer than the interval of the times. */
const overlong = { runMs: 15 * minuteMs };
const ends: Lives = { [podAt(12)]: [fails], [podAt(24)]: [{ runMs: 2_000 }], [podAt(36)]: [fails] };

export const crons: readonly Scenario[] = [
  cron({ name: "cron-times", what: "two times of a CronJob come, and then it is suspended", breadth: "thin" }),
  cron({
    name: "cron-forbid",
    what: "a CronJob whose job outlasts its next time: Forbid makes that one wait",
    spec: { concurrencyPolicy: "Forbid" },
    lives: { "*": [overlong] },
  }),
  cron({
    name: "cron-quota",
    what: "a CronJob whose first job never ends, and a quota that refuses every other: it is suspended, and that job goes on",
    stands: [jobQuota(1)],
    lives: { "*": [long] },
    ends: "active",
  }),
  cron({
    name: "cron-replace",
    what: "a CronJob whose jobs never end: each takes the place of the one before",
    spec: { concurrencyPolicy: "Replace" },
    lives: { "*": [long] },
    ends: "active",
  }),
  cron({
    name: "cron-history",
    what: "a CronJob that keeps one completed job and no failed one",
    spec: { successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0 },
    lives: { ...ends, "*": [{ runMs: 2_000 }] },
    userActions: [until(52)],
  }),
  cron({
    name: "cron-catch-up",
    what: "a CronJob that is suspended while three times pass: one job makes up for them",
    userActions: [until(2), changed("resume", 40, false), until(47)],
  }),
  cron({
    name: "cron-deadline",
    what: "a CronJob that is resumed later than its jobs may begin: the next time is the first",
    spec: { startingDeadlineSeconds: 120 },
    userActions: [until(2), changed("resume", 16, false), until(30)],
  }),
  cron({
    name: "cron-deletion",
    what: "a CronJob is deleted while its job runs",
    lives: { "*": [long] },
    userActions: [{ says: "kubectl delete", when: applied, afterMs: 14 * minuteMs, do: { type: "delete" } }],
    ends: "gone",
  }),
];
