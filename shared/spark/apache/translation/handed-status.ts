/**
 * The status with which an application whose driver runs goes on in the other API: its controller adopts the driver by it.
 * Attempts and restarts go on from their counts. Pure.
 */
import { fieldsOf } from "../../../core/json.ts";
import type { Stored } from "../../../core/object.ts";
import { instantOf } from "../../../core/time.ts";
import { conditionOf, labelOf, podStatus, startedAt } from "../../../kube/pods.ts";
import { submissionLabel } from "../../application/state/evidence.ts";
import { sparkApplications } from "../../schema/resource.ts";
import { currentOf, recordIn, statusOf, submittedAt, withState } from "../status/record.ts";

const countOf = (value: unknown): number => (Number.isSafeInteger(value) ? Math.max(0, Number(value)) : 0);

/** The state and the counts of an application of `sparkoperator.k8s.io`. */
const kubeflowCounts = (object: Stored) => {
  const status = fieldsOf(object.status);
  return {
    submissions: Math.max(1, countOf(status["submissionAttempts"])),
    runs: Math.max(1, countOf(status["executionAttempts"])),
  };
};

/** When the driver's pod reached its states, epoch ms. */
const timesOf = (driver: Stored) => {
  const status = podStatus(driver);
  const created = instantOf(driver.metadata.creationTimestamp) ?? 0;
  const started = startedAt(driver) ?? created;
  const ready = instantOf(conditionOf(status, "Ready")?.lastTransitionTime) ?? started;
  return { created, started, ready };
};

export const kubeflowState = ({ status }: Stored): string =>
  String(fieldsOf(fieldsOf(status)["applicationState"])["state"] ?? "");

export const apacheState = ({ status }: Stored): string => {
  const record = recordIn(status);
  return record === undefined ? "" : currentOf(record).summary;
};

export const apacheStatus = (object: Stored, driver: Stored): unknown => {
  const { submissions, runs } = kubeflowCounts(object);
  const { created, started, ready } = timesOf(driver);
  const attempt = {
    ...{ id: submissions - 1, restartCounter: runs - 1 },
    ...{ failureRestartCounter: runs - 1, schedulingFailureRestartCounter: 0 },
  };
  const first = { ...submittedAt(instantOf(object.metadata.creationTimestamp) ?? created), attempt };
  const steps = [
    ["DriverRequested", created],
    ["DriverStarted", started],
    ["DriverReady", ready],
  ] as const;
  const message = `Moved from ${sparkApplications.group} with its driver ${driver.metadata.name}.`;
  const record = steps.reduce((before, [summary, at]) => withState(before, summary, at), first);
  return statusOf(withState(record, "RunningHealthy", ready, { message }));
};

const secondsText = (at: number): string => new Date(at).toISOString().replace(/\.\d+Z$/, "Z");

export const kubeflowStatus = (object: Stored, driver: Stored): unknown => {
  const attempt = recordIn(object.status)?.attempt;
  const submittedAt = secondsText(timesOf(driver).created);
  return {
    applicationState: { state: "RUNNING" },
    ...{ driverInfo: { podName: driver.metadata.name }, executorState: {} },
    sparkApplicationId: labelOf(driver, "spark-app-selector") ?? "",
    submissionID: submissionOf(driver),
    ...{ submissionAttempts: (attempt?.id ?? 0) + 1, executionAttempts: (attempt?.restartCounter ?? 0) + 1 },
    ...{ lastSubmissionAttemptTime: submittedAt, terminationTime: null },
  };
};

/** The submission id under which kubeflow's API knew the driver before; else the UID of its pod. */
export const submissionOf = (driver: Stored): string => labelOf(driver, submissionLabel) ?? driver.metadata.uid;
