/** Listeners to an application's status updates that work, fail, are slow or absent, or change after a while. */
import { connect, isReady, schedule, suspended } from "./recoveries.ts";
import { appName, base, executorRuns, type Mood, type Scenario, stateIs, type UserAction } from "./scenario.ts";

const hook = "https://listener.example/hook";
const another = "https://another.example/hook";

/** The first driver fails, the second one completes. */
const retried: Pick<Scenario, "spec" | "scripts"> = {
  spec: { ...base, restartPolicy: { type: "OnFailure", onFailureRetries: 2, onFailureRetryInterval: 3 } },
  scripts: { [appName]: [{ jobMs: 1_000, exitCode: 1 }, { jobMs: 2_000 }] },
};
const hangs: Scenario["scripts"] = { [appName]: [{ hangs: true }, { jobMs: 2_000 }] };

const times = (count: number, mood: Mood): readonly Mood[] => Array.from({ length: count }, () => mood);

const deleted: UserAction = { says: "kubectl delete", when: executorRuns, afterMs: 1_500, do: { type: "delete" } };

type Way = Pick<Scenario, "name" | "what"> &
  Partial<Pick<Scenario, "spec" | "scripts" | "userActions" | "ends" | "listeners" | "annotations" | "also">>;

const ways: readonly Way[] = [
  {
    name: "told",
    what: "a listener hears every state of two attempts, and acknowledges each",
    ...retried,
    listeners: { [hook]: ["acknowledges"] },
    also: [
      ...["404-named", "timeout-applied", "pause-12s", "stale", "host-crash-before", "host-crash-after"],
      ...["message-twice", "pair"],
    ],
  },
  {
    name: "told-failing",
    what: "a listener answers 500 for a while: it hears all, in order, and what is latest with it",
    ...retried,
    listeners: { [hook]: [...times(4, "fails"), "acknowledges"] },
    also: ["host-crash-after"],
  },
  {
    name: "told-hanging",
    what: "a listener that is deleted's hangs for minutes, and then hears of the end: until then the record stays",
    listeners: { [hook]: [...times(5, "hangs"), "acknowledges"] },
    scripts: hangs,
    userActions: [deleted],
    ends: "gone",
    also: ["host-crash-after"],
  },
  {
    name: "told-mute",
    what: "a listener takes every second update without that its answer arrives: it hears that one again, under its id",
    listeners: { [hook]: [...times(20, "mute").flatMap((mute): readonly Mood[] => [mute, "acknowledges"])] },
  },
  {
    name: "told-later",
    what: "a listener acknowledges later, and twice, and what it was never told: only the former counts, once",
    listeners: { [hook]: ["later"] },
  },
  {
    name: "told-nobody",
    what: "a listener is dead: nothing waits for it, and an hour after the deletion what was left for it is given up",
    listeners: { [hook]: ["hangs"] },
    scripts: hangs,
    userActions: [deleted],
    ends: "gone",
  },
  {
    name: "told-another",
    what: "another listener is named while the first one is dead: it hears all that nobody acknowledged, in order",
    listeners: { [hook]: ["hangs"], [another]: ["acknowledges"] },
    userActions: [
      {
        says: "kubectl annotate: another listener",
        when: executorRuns,
        afterMs: 30_000,
        do: { type: "annotate", annotations: { "rekindle.dev/updates-to": another } },
      },
    ],
  },
  {
    name: "told-late",
    what: "a listener is named while it runs: a stream begins where there was a record without one",
    annotations: {},
    listeners: { [hook]: ["acknowledges"] },
    userActions: [
      {
        says: "kubectl annotate: a listener",
        when: executorRuns,
        afterMs: 500,
        do: { type: "annotate", annotations: { "rekindle.dev/updates-to": hook } },
      },
    ],
  },
  {
    name: "told-heir",
    what: "deleted and applied again while its listener is ill: the stream goes on with what was not acknowledged",
    listeners: { [hook]: [...times(4, "fails"), "acknowledges"] },
    scripts: hangs,
    userActions: [
      deleted,
      { ...deleted, says: "kubectl apply", afterMs: 1_600, do: { type: "apply" } },
      { ...deleted, when: stateIs("COMPLETED"), says: "kubectl delete, once more" },
    ],
    ends: "gone",
  },
];

const annotations = { "rekindle.dev/updates-to": hook };
const answers = ["listener-500", "listener-away", "listener-mute"] as const;

/** Scenarios of the kinds beside applications. */
const others: readonly Scenario[] = [
  schedule({
    name: "schedule-told",
    what: "a listener hears that a schedule begins, and the states of its runs",
    userActions: [suspended],
  }),
  connect({
    name: "connect-told",
    what: "a listener hears that a Connect server is ready, is not when its pod is deleted, and is again",
    userActions: [
      { says: "kubectl delete pod", when: isReady, afterMs: 2_000, do: { type: "remove", pod: `${appName}-server` } },
    ],
    ends: "Ready",
  }),
].map((scenario) => ({ ...scenario, annotations, listeners: { [hook]: ["acknowledges"] }, also: answers }));

const applications: readonly Scenario[] = ways.map(
  ({ also = [], ...way }): Scenario => ({
    spec: base,
    scripts: { [appName]: [{ jobMs: 2_000 }] },
    userActions: [],
    ends: "COMPLETED",
    breadth: "sparse",
    annotations,
    ...way,
    also: [...answers, ...also],
  }),
);

export const tellings: readonly Scenario[] = [...applications, ...others];
