/** Applications and jobs whose steps are calls of functions by a dispatcher, with the faults between the two. */
import { appName, base, executorRuns, type Scenario } from "./scenario.ts";
import { done, fails, job, living, policy, task } from "./volcano/jobs.ts";

/**
 * The dispatcher dies at every call of a function, which outlives it; calls and answers are lost; a call encloses what
 * must not be believed, or arrives so late that what it encloses must not be.
 */
const also = [
  ...(["host-crash-before", "call-refused", "call-cut", "answer-lost", "two-dispatchers-5s"] as const),
  ...(["enclosure-old", "enclosure-of-another", "call-late"] as const),
] as const;

const executor = { ...base.executor, instances: 1 };

const common: Pick<Scenario, "dispatched" | "breadth"> = { dispatched: true, breadth: "sparse" };

/** The scenarios of these names, by a dispatcher. */
export const dispatchedOf = (scenarios: readonly Scenario[], names: readonly string[]): readonly Scenario[] =>
  scenarios
    .filter(({ name }) => names.includes(name))
    .map((scenario) => ({
      ...scenario,
      ...common,
      name: `dispatched-${scenario.name}`,
      what: `${scenario.what} (by functions that a dispatcher calls)`,
      also,
    }));

export const dispatchedApplications: readonly Scenario[] = [
  {
    ...common,
    name: "dispatched-told",
    what: "a dispatcher calls a function for its steps, and another that tells a listener each state",
    spec: { ...base, executor },
    annotations: { "rekindle.dev/updates-to": "https://listener.example/hook" },
    listeners: { "https://listener.example/hook": ["acknowledges"] },
    scripts: { [appName]: [{ jobMs: 1_000 }] },
    userActions: [],
    ends: "COMPLETED",
    also,
  },
  {
    ...common,
    name: "dispatched-deletion",
    what: "deleted while it runs, while calls of its function outlive their dispatcher",
    spec: { ...base, executor },
    scripts: { [appName]: [{ hangs: true }] },
    userActions: [{ says: "kubectl delete", when: executorRuns, afterMs: 1_500, do: { type: "delete" } }],
    ends: "gone",
    also: ["two-dispatchers-1m"],
  },
];

export const dispatchedJobs: readonly Scenario[] = [
  job({
    ...common,
    name: "dispatched-job",
    what: "a dispatcher calls a function for the steps of a job whose only pod fails: the job's policy restarts it",
    spec: { tasks: [task("worker")], policies: [policy("PodFailed", "RestartJob")] },
    lives: living({ "worker-0": [fails, done] }),
    ends: "Completed",
    also,
  }),
];
