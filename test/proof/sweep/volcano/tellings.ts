/** Listeners to status updates of Volcano's kinds that work, fail or are slow: as `../tellings.ts` for applications. */
import { appName, type Mood, type Scenario } from "../scenario.ts";
import { cron } from "./cron/scenarios.ts";
import { flow } from "./flow/scenarios.ts";
import { fails, job, living, long, policy, runningIs, slowly } from "./jobs.ts";
import { queue, queueIs } from "./queue/scenarios.ts";

const hook = "https://listener.example/hook";
const times = (count: number, mood: Mood): readonly Mood[] => Array.from({ length: count }, () => mood);

const all: readonly Scenario[] = [
  job({
    name: "job-told",
    what: "a listener hears every phase of a job that is restarted, and acknowledges each",
    spec: { policies: [policy("PodFailed", "RestartJob")] },
    lives: living({ "worker-1": [fails, slowly], "*": [slowly] }),
    ends: "Completed",
  }),
  job({
    name: "job-told-failing",
    what: "a listener to a job answers 500 for a while: it hears all, in order, and what is latest with it",
    listeners: { [hook]: [...times(4, "fails"), "acknowledges"] },
    ends: "Completed",
  }),
  job({
    name: "job-told-hanging",
    what: "a listener to a job that is deleted hangs for minutes, and then hears of the end: until then the record stays",
    lives: living({ "*": [long] }),
    listeners: { [hook]: [...times(5, "hangs"), "acknowledges"] },
    userActions: [{ says: "kubectl delete", when: runningIs(3), afterMs: 1_500, do: { type: "delete" } }],
    ends: "gone",
  }),
  flow({
    name: "flow-told",
    what: "a listener hears every phase of a flow, and those of its jobs",
    spec: { flows: [{ name: "a" }, { name: "b", dependsOn: { targets: ["a"] } }] },
    ends: "Succeed",
  }),
  cron({ name: "cron-told", what: "a listener hears when a CronJob is active, and those of its jobs" }),
  queue({
    name: "queue-told",
    what: "a listener hears that a queue is closed and opened",
    userActions: [
      {
        says: "vcctl queue operate: CloseQueue",
        when: queueIs(appName, "Open"),
        afterMs: 5_000,
        do: { type: "command", action: "CloseQueue" },
      },
      {
        says: "vcctl queue operate: OpenQueue",
        when: queueIs(appName, "Closed"),
        afterMs: 20_000,
        do: { type: "command", action: "OpenQueue" },
      },
    ],
    ends: "Open",
  }),
];

export const tellings: readonly Scenario[] = all.map((scenario) => ({
  listeners: { [hook]: ["acknowledges"] },
  ...scenario,
  annotations: { "rekindle.dev/updates-to": hook },
  also: ["listener-500", "listener-away", "listener-mute", "host-crash-after"],
}));
