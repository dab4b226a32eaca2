/** Another controller without a lease runs for a while: functions write nothing beside it, and go on after it. */
import type { Change } from "../../../shared/simulator/storage/store.ts";
import {
  appName,
  base,
  type ControllerAction,
  type ControllerSign,
  driverRuns,
  type Scenario,
  type UserAction,
} from "./scenario.ts";
import { fails, job, living, policy, runningIs, slowly } from "./volcano/jobs.ts";

const minuteMs = 60_000;
/** A running controller writes a status from time to time. */
const writesEveryMs = 30_000;
const lastsMs = 3 * minuteMs;

const applied =
  (table: string): UserAction["when"] =>
  ({ type, table: of, object }: Change) =>
    type === "ADDED" && of === table && object.metadata.name === appName;

const does = (what: ControllerAction, when: UserAction["when"], afterMs: number): UserAction => ({
  ...{ says: `another controller ${what}`, when, afterMs },
  do: { type: "controller", does: what },
});

/** The other controller runs for three minutes from this moment on. */
const atWork = (by: ControllerSign, when: UserAction["when"], afterMs: number): readonly UserAction[] =>
  by === "writes"
    ? Array.from({ length: lastsMs / writesEveryMs }, (_, nth) => does("writes", when, afterMs + nth * writesEveryMs))
    : [does("begins", when, afterMs), does("goes", when, afterMs + lastsMs)];

/** The other controller runs already when the application is applied. */
const fromTheFirst = (by: ControllerSign, when: UserAction["when"]): Pick<Scenario, "beside" | "userActions"> => ({
  beside: { by, first: true },
  userActions: by === "writes" ? atWork(by, when, writesEveryMs) : [does("goes", when, lastsMs)],
});

/** The other controller begins while the application runs, which fails while only that controller may act on it. */
const later = (by: ControllerSign, when: UserAction["when"]): Pick<Scenario, "beside" | "userActions"> => ({
  beside: { by },
  userActions: atWork(by, when, 5_000),
});

const failsLateMs = 150_000;

/** A resync finds the work that the other controller left undone, so only the ends are compared. */
const common = { also: ["crash-before", "host-crash-after"], breadth: "sparse" } as const;

const spark = (
  told: Pick<Scenario, "name" | "what" | "beside" | "userActions">,
  scripts: Scenario["scripts"],
): Scenario => ({
  ...common,
  spec: { ...base, restartPolicy: { type: "OnFailure", onFailureRetries: 2, onFailureRetryInterval: 3 } },
  scripts,
  ends: "COMPLETED",
  ...told,
});

const once = { [appName]: [{ jobMs: 2_000 }] };
const twice = { [appName]: [{ jobMs: failsLateMs, exitCode: 1 }, { jobMs: 2_000 }] };
const applications = applied("sparkapplications.sparkoperator.k8s.io");
const jobs = applied("jobs.batch.volcano.sh");

const restarted = {
  spec: { policies: [policy("PodFailed", "RestartJob")] },
  lives: living({ "worker-1": [{ ...fails, runMs: failsLateMs }, { runMs: 2_000 }], "*": [slowly, { runMs: 2_000 }] }),
  ends: "Completed",
};

export const beside: readonly Scenario[] = [
  spark(
    {
      name: "beside-deployment",
      what: "an application comes beside an operator that shows by its Deployment alone: nothing is written until it has gone",
      ...fromTheFirst("deployment", applications),
    },
    once,
  ),
  spark(
    {
      name: "beside-pod-begins",
      what: "an operator that shows by a Ready pod alone begins while an application runs, which is tried again when it has gone",
      ...later("pod", driverRuns),
    },
    twice,
  ),
  spark(
    {
      name: "beside-writes-begin",
      what: "an operator that shows by its writes alone begins while an application runs, which is tried again when it has gone",
      ...later("writes", driverRuns),
    },
    twice,
  ),
];

export const besideOfVolcano: readonly Scenario[] = [
  job({
    ...common,
    name: "job-beside-writes",
    what: "a job comes beside a controller that shows by its writes alone: nothing is written until it has gone",
    ...fromTheFirst("writes", jobs),
    // A forwarder in windows sees writes in its windows alone, and the first window shows the job, too.
    without: ["windowed"],
    ends: "Completed",
  }),
  job({
    ...common,
    ...restarted,
    name: "job-beside-deployment-begins",
    what: "a controller that shows by its Deployment alone begins while a job runs, which is restarted when it has gone",
    ...later("deployment", runningIs(3)),
  }),
];
