/**
 * A run of Apache's SparkApplication as Spark's rooms care for executors: what its kind declares of them, and its record,
 * read as a run's.
 */
import type { Key } from "../../core/key.ts";
import type { Stored } from "../../core/object.ts";
import type { View } from "../../core/plan.ts";
import type { ApplicationContext, RunKind, Settings } from "../application/run/context.ts";
import { policiesOf } from "../application/spec/policies.ts";
import type { Pods } from "../application/state/evidence.ts";
import { normaliser } from "../application/state/memory.ts";
import { withConfDefaults } from "../schema/rules.ts";
import type { Memory, Run } from "./memory.ts";
import { type AttemptPods, sorted } from "./pods.ts";
import { apacheApplications, nameLabel } from "./resource.ts";
import { bounded, runSpecOf } from "./spec/run-spec.ts";
import type { ApacheSpec } from "./spec/schema.ts";
import { evidenceOf } from "./status/evidence.ts";
import { type ApacheSubmission, ownerOf } from "./submission.ts";

export type RunInput = {
  readonly key: Key;
  readonly view: View<Memory>;
  readonly object: Stored;
  readonly run: Run;
  readonly settings: Settings;
  readonly submission: ApacheSubmission | { readonly refused: string };
  /** The executors that Kueue has admitted; absent where it admits none. */
  readonly admitted?: number | undefined;
};

/** True where Rekindle creates the executors of this attempt. */
export const isOwnAttempt = (memory: Memory | undefined, attempt: number): boolean =>
  memory?.allotment?.attempt === attempt;

/** The name of the driver's pod. */
export const driverNameOf = ({ driverName, applicationId }: Run): string => driverName ?? `${applicationId}-driver`;

/** The pods of an attempt in the form of Spark's rooms. */
export const podsOfRun = ({ driver, executors, strays }: AttemptPods): Pods => ({
  ...{ driver, executors, strays },
  all: [...(driver === undefined ? [] : [driver]), ...executors, ...strays],
});

const kindOf = ({ run, submission }: RunInput): RunKind => ({
  resource: apacheApplications,
  podsOf: (name) => ({ [nameLabel]: name }),
  sorted: ({ view }, pods) => podsOfRun(sorted(pods, view.uid, run)),
  runs: (pod) => ["started", "ready"].includes(evidenceOf(pod, run.main).is),
  owner: ownerOf,
  basis: () => ("refused" in submission ? undefined : submission.executors),
  listsExecutors: false,
  isQueued: false,
});

/** The context in which the executors of an attempt are cared for. */
export const runContext = (input: RunInput, given: ApacheSpec): ApplicationContext => {
  const { key, view, object, run, settings, admitted } = input;
  const { executors, allotment, plannedAt = view.now } = view.memory ?? {};
  const { attempt, applicationId, driverUid: uid } = run;
  const confs = withConfDefaults(given, settings.options.sparkDefaults);
  const spec = runSpecOf(confs, isOwnAttempt(view.memory, attempt));
  const memory: ApplicationContext["memory"] = {
    ...{ generation: 0, spec: "", normaliser, attempt, submissions: 0, executions: 0, state: { phase: "RUNNING" } },
    driver: {
      ...{ attempt, applicationId, submissionId: "", podName: driverNameOf(run), submittedAt: plannedAt },
      ...(uid === undefined ? {} : { uid }),
    },
    ...(executors?.attempt === attempt ? { executors } : {}),
    ...(allotment === undefined ? {} : { allotment }),
  };
  return {
    ...{ key, kind: kindOf(input), object, memory, settings },
    view: { ...view, memory },
    read: { ok: true, spec: admitted === undefined ? spec : bounded(spec, admitted) },
    policies: policiesOf(object).policies,
  };
};
