/** Unusable records of Volcano's kinds in the middle of a run: as `../recoveries.ts` for applications. */
import type { Change } from "../../../../shared/simulator/storage/store.ts";
import { textAt } from "../fields.ts";
import { appName, type Scenario, type UserAction } from "../scenario.ts";
import { cron, minuteMs } from "./cron/scenarios.ts";
import { flow, jobIs } from "./flow/scenarios.ts";
import { job, living, long, runningIs, slowly } from "./jobs.ts";
import { queue, queueIs } from "./queue/scenarios.ts";

type When = UserAction["when"];

/** A user action on the record, and a moment later a change that a host hears of. */
const inTheMiddle = (says: string, what: UserAction["do"], when: When, afterMs = 1_000): readonly UserAction[] => [
  { says, when, afterMs, do: what },
  {
    says: "kubectl annotate",
    when,
    afterMs: afterMs + 1_000,
    do: { type: "annotate", annotations: { "example.com/looked": "yes" } },
  },
];

const elsewhere: UserAction["do"] = { type: "record", spec: { cluster: "another" } };
const restored = "restored into another cluster";
const cleanup: UserAction["do"] = { type: "cleanup", graceSeconds: 5 };
const ordered = "rekindle recover --mode cleanup";
const edited = "kubectl edit checkpoint";

const jobs: readonly Scenario[] = [
  job({
    name: "job-another-cluster",
    what: "the cluster is another one: a job that runs has its pods made anew, as another version, and spends no retry",
    lives: living({ "*": [slowly] }),
    userActions: inTheMiddle(restored, elsewhere, runningIs(3)),
    ends: "Completed",
    breadth: "thin",
  }),
  job({
    name: "job-damaged",
    what: "a job's record is damaged while it runs, and what can be read of it is kept",
    lives: living({ "*": [slowly] }),
    lenient: true,
    userActions: inTheMiddle(
      edited,
      { type: "edit", spec: { memory: { phase: "NONSENSE", seen: 7, version: -1 }, trouble: 1 } },
      runningIs(3),
    ),
    ends: "Completed",
    breadth: "thin",
  }),
  job({
    name: "job-cleanup",
    what: "everything of a job is to be ended, and a step dies between any two deletions",
    spec: { plugins: { svc: [], ssh: [] } },
    lives: living({ "*": [long] }),
    userActions: inTheMiddle(ordered, cleanup, runningIs(3)),
    ends: "Terminated",
    breadth: "thin",
  }),
];

const ab = { flows: [{ name: "a" }, { name: "b", dependsOn: { targets: ["a"] } }] };

/** The flow's status shows that its first job runs: the run is fully known. */
const runs: When = ({ table, object }: Change) =>
  table === "jobflows.flow.volcano.sh" && textAt(object, "status", "state", "phase") === "Running";

const flows: readonly Scenario[] = [
  flow({
    name: "flow-another-cluster",
    what: "a flow in another cluster makes no job again that is there, or that was complete",
    spec: ab,
    lives: living({ "*": [slowly] }),
    userActions: inTheMiddle(restored, elsewhere, jobIs("b", "Running")),
    ends: "Succeed",
  }),
  flow({
    name: "flow-damaged",
    what: "a flow's record is damaged while its second job runs, and its jobs tell the rest",
    spec: ab,
    lives: living({ "*": [slowly] }),
    lenient: true,
    userActions: inTheMiddle(
      edited,
      { type: "edit", spec: { memory: { phase: 7, completed: 7 } } },
      jobIs("b", "Running"),
    ),
    ends: "Succeed",
  }),
  flow({
    name: "flow-cleanup",
    what: "everything of a flow is to be ended: its job goes, no other comes, and it has failed",
    spec: ab,
    lives: living({ "*": [long] }),
    userActions: inTheMiddle(ordered, cleanup, runs),
    ends: "Failed",
  }),
];

const applied: When = ({ type, table, object }: Change) =>
  type === "ADDED" && table === "cronjobs.batch.volcano.sh" && object.metadata.name === appName;

const suspended: UserAction = {
  says: "suspend",
  when: applied,
  afterMs: 30 * minuteMs,
  do: { type: "patch", spec: { suspend: true } },
};

const crons: readonly Scenario[] = [
  cron({
    name: "cron-another-cluster",
    what: "a CronJob in another cluster takes no time twice, and its next one as before",
    userActions: [...inTheMiddle(restored, elsewhere, applied, 14 * minuteMs), suspended],
  }),
  cron({
    name: "cron-damaged",
    what: "a CronJob's record is damaged between two times: neither is taken twice, and none is missed",
    lenient: true,
    userActions: [
      ...inTheMiddle(edited, { type: "edit", spec: { memory: { since: "x", timing: 7 } } }, applied, 14 * minuteMs),
      suspended,
    ],
  }),
  cron({
    name: "cron-cleanup",
    what: "everything of a CronJob is to be ended: its job goes, and no other comes, whatever time has come",
    lives: { "*": [long] },
    userActions: inTheMiddle(ordered, cleanup, applied, 14 * minuteMs),
  }),
];

const queues: readonly Scenario[] = [
  queue({
    name: "queue-another-cluster",
    what: "the record of a queue that was closed comes from another cluster: it stays closed, and opens when it is told to",
    userActions: [
      {
        says: "CloseQueue",
        when: queueIs(appName, "Open"),
        afterMs: 5_000,
        do: { type: "command", action: "CloseQueue" },
      },
      ...inTheMiddle(restored, elsewhere, queueIs(appName, "Closed"), 5_000),
      {
        says: "OpenQueue",
        when: queueIs(appName, "Closed"),
        afterMs: 60_000,
        do: { type: "command", action: "OpenQueue" },
      },
    ],
    ends: "Open",
  }),
  queue({
    name: "queue-cleanup",
    what: "everything of a queue that was closed is to be ended: the command to open it goes unheeded, and it stays closed",
    userActions: [
      {
        says: "CloseQueue",
        when: queueIs(appName, "Open"),
        afterMs: 5_000,
        do: { type: "command", action: "CloseQueue" },
      },
      { says: ordered, when: queueIs(appName, "Closed"), afterMs: 5_000, do: cleanup },
      {
        says: "OpenQueue",
        when: queueIs(appName, "Closed"),
        afterMs: 6_000,
        do: { type: "command", action: "OpenQueue" },
      },
    ],
    ends: "Closed",
  }),
];

export const recoveries: readonly Scenario[] = [...jobs, ...flows, ...crons, ...queues];
