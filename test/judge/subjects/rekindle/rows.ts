/** The rows of Spark applications and Volcano's jobs: what their status must say of the pods, after upstream's documentation. */
import type { Rows } from "../../subject.ts";
import { isActive, labelOf, listAt, numberAt, phaseOf, textAt } from "../../values.ts";
import type { History } from "../../world.ts";

const isSpark = (object: unknown): boolean => textAt(object, "kind") === "SparkApplication";
const sparkState = (app: unknown): string => textAt(app, "status", "applicationState", "state");
const jobPhase = (job: unknown): string => textAt(job, "status", "state", "phase");

const podsHere = ({ pods }: History): readonly unknown[] =>
  [...pods.values()].filter(({ isGone }) => !isGone).map(({ pod }) => pod);

const driversHere = (history: History): readonly unknown[] =>
  podsHere(history).filter((pod) => labelOf(pod, "spark-role") === "driver");

const sparkUntrue = (app: unknown, history: History): readonly string[] => {
  const [state, drivers] = [sparkState(app), driversHere(history)];
  if (state === "RUNNING" && !drivers.some((pod) => phaseOf(pod) === "Running"))
    return ["RUNNING without a running driver"];
  if (state === "COMPLETED" && !drivers.some((pod) => phaseOf(pod) === "Succeeded"))
    return ["COMPLETED without a driver that succeeded"];
  return state === "FAILED" && drivers.some(isActive) ? ["FAILED with an active driver"] : [];
};

const counted = { running: "Running", pending: "Pending", succeeded: "Succeeded", failed: "Failed" } as const;

const jobUntrue = (job: unknown, history: History): readonly string[] =>
  Object.entries(counted).flatMap(([field, phase]) => {
    const there = podsHere(history).filter((pod) => phaseOf(pod) === phase).length;
    const says = numberAt(job, "status", field);
    return says === there ? [] : [`status.${field} is ${says}, and ${there} pods are ${phase}`];
  });

const final = new Set(["Completed", "Failed", "Aborted", "Terminated", "Running"]);

export const rows: Rows = {
  attemptOf: (pod) => {
    const app = labelOf(pod, "sparkoperator.k8s.io/app-name");
    if (labelOf(pod, "spark-role") === "driver") return `the driver of ${app}`;
    const job = labelOf(pod, "volcano.sh/job-name");
    return job === ""
      ? ""
      : `pod ${labelOf(pod, "volcano.sh/task-index")} of ${labelOf(pod, "volcano.sh/task-spec")} of ${job}`;
  },
  endOf: (object, history) => {
    if (object === undefined) return "gone";
    if (isSpark(object)) return `${sparkState(object)}, attempts ${numberAt(object, "status", "executionAttempts")}`;
    const active = podsHere(history).filter(isActive).length;
    const conditions = listAt(object, "status", "conditions").length > 0 ? "" : ", no conditions";
    return `${jobPhase(object)}, retries ${numberAt(object, "status", "retryCount")}, active pods ${active}${conditions}`;
  },
  isFinal: (object) =>
    object === undefined ||
    (isSpark(object) ? ["COMPLETED", "FAILED"].includes(sparkState(object)) : final.has(jobPhase(object))),
  untrue: (object, history) => (isSpark(object) ? sparkUntrue(object, history) : jobUntrue(object, history)),
  leftovers: [
    "apis/sparkoperator.k8s.io/v1beta2/*/sparkapplications",
    "apis/batch.volcano.sh/v1alpha1/*/jobs",
    "apis/scheduling.volcano.sh/v1beta1/*/podgroups",
    "apis/bus.volcano.sh/v1alpha1/*/commands",
    "apis/rekindle.dev/v1alpha1/*/checkpoints",
  ],
};
