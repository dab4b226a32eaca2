/**
 * Another controller runs for a while: functions write nothing beside it, and go on after it, without a resync. A tenant
 * forges every sign of it all the time, and that changes nothing.
 */
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
const lastsMs = 3 * minuteMs;
/** A leader renews its lease this often. */
const renewsEveryMs = 10_000;
/** A tenant writes a status this often, so that there is a recent one at any time. */
const forgesEveryMs = 20_000;

const applied =
  (table: string): UserAction["when"] =>
  ({ type, table: of, object }: Change) =>
    type === "ADDED" && of === table && object.metadata.name === appName;

const does = (what: ControllerAction, when: UserAction["when"], afterMs: number): UserAction => ({
  ...{ says: `a controller, or who forges one, ${what}`, when, afterMs },
  do: { type: "controller", does: what },
});

type Often = { readonly from: number; readonly everyMs: number; readonly ms?: number };

const often = (what: ControllerAction, when: UserAction["when"], { from, everyMs, ms = lastsMs }: Often) =>
  Array.from({ length: ms / everyMs }, (_, nth): UserAction => does(what, when, from + nth * everyMs));

/** A tenant writes statuses, and at last deletes the object whose status it wrote. */
const forging = (when: UserAction["when"], ms = lastsMs): readonly UserAction[] => [
  ...often("forges", when, { from: 1_000, everyMs: forgesEveryMs, ms }),
  does("deletes", when, ms - 5_000),
];

/** The other controller is there for three minutes; a leader dies without giving its lease back. */
const there = (by: ControllerSign, when: UserAction["when"], from: number): readonly UserAction[] =>
  by === "lease" ? often("renews", when, { from, everyMs: renewsEveryMs }) : [does("goes", when, from + lastsMs)];

/** The other controller runs already when the application is applied. */
const fromTheFirst = (by: ControllerSign, when: UserAction["when"]): Pick<Scenario, "beside" | "userActions"> => ({
  beside: { by, first: true },
  userActions: [...forging(when), ...there(by, when, 0)],
});

/** The other controller begins while the application runs, which fails while only that controller may act on it. */
const later = (by: ControllerSign, when: UserAction["when"]): Pick<Scenario, "beside" | "userActions"> => ({
  beside: { by },
  userActions: [...forging(when), does("begins", when, 5_000), ...there(by, when, 5_000)],
});

const forgedOnly = (when: UserAction["when"]): Pick<Scenario, "beside" | "userActions"> => ({
  beside: { by: "none" },
  userActions: forging(when, minuteMs),
});

const failsLateMs = 150_000;

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
/** The application outlasts what is forged. */
const soonTwice = { [appName]: [{ jobMs: minuteMs, exitCode: 1 }, { jobMs: 2_000 }] };
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
      name: "beside-lease-begins",
      what: "an operator that shows by its lease alone begins while an application runs, and dies with its lease: the application is tried again",
      ...later("lease", driverRuns),
    },
    twice,
  ),
  spark(
    {
      name: "beside-forged",
      what: "a tenant forges a lease of 68 years, a Deployment, a pod and statuses of an operator: an application is retried as alone",
      ...forgedOnly(applications),
    },
    soonTwice,
  ),
];

export const besideOfVolcano: readonly Scenario[] = [
  job({
    ...common,
    name: "job-beside-lease",
    what: "a job comes beside a controller that shows by its lease alone, which dies: nothing is written until the lease has lapsed",
    ...fromTheFirst("lease", jobs),
    ends: "Completed",
  }),
  job({
    ...common,
    ...restarted,
    name: "job-beside-deployment-begins",
    what: "a controller that shows by its Deployment alone begins while a job runs, which is restarted when it has gone",
    ...later("deployment", runningIs(3)),
  }),
  job({
    ...common,
    name: "job-beside-forged",
    what: "a tenant forges a lease, a Deployment, a pod and statuses of Volcano's controllers: a job runs as alone",
    ...forgedOnly(jobs),
    lives: living({ "*": [{ runMs: 100_000 }] }),
    ends: "Completed",
  }),
];
