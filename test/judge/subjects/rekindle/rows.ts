/** The rows of Spark's and Volcano's kinds: what their status must say of the pods, after upstream's documentation. */
import type { Rows } from "../../subject.ts";
import { at, isActive, labelOf, listAt, numberAt, phaseOf, textAt } from "../../values.ts";
import type { History } from "../../world.ts";

const sparkState = (app: unknown): string => textAt(app, "status", "applicationState", "state");
/** Of a Job, and of a JobFlow. */
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

const jobEnd = (job: unknown, history: History): string => {
  const active = podsHere(history).filter(isActive).length;
  const conditions = listAt(job, "status", "conditions").length > 0 ? "" : ", no conditions";
  return `${jobPhase(job)}, retries ${numberAt(job, "status", "retryCount")}, active pods ${active}${conditions}`;
};

const hadSucceeded = ({ pods }: History): number =>
  [...pods.values()].filter(({ pod }) => phaseOf(pod) === "Succeeded").length;

/** How many runs a schedule had by its suspension depends on the clock; that it had one, and that none is left, does not. */
const scheduleEnd = (state: string, hasRun: boolean, active: number): string =>
  `${state}, ${hasRun ? "has run" : "never ran"}, active ${active}`;

type OfKind = Pick<Rows, "endOf" | "isFinal" | "untrue">;

const kinds: Readonly<Record<string, OfKind>> = {
  SparkApplication: {
    endOf: (app) => `${sparkState(app)}, attempts ${numberAt(app, "status", "executionAttempts")}`,
    isFinal: (app) => ["COMPLETED", "FAILED"].includes(sparkState(app)),
    untrue: sparkUntrue,
  },
  ScheduledSparkApplication: {
    endOf: (schedule, history) =>
      scheduleEnd(
        textAt(schedule, "status", "scheduleState"),
        listAt(schedule, "status", "pastSuccessfulRunNames").length > 0,
        driversHere(history).filter(isActive).length,
      ),
    isFinal: (schedule) => at(schedule, "spec", "suspend") === true,
    untrue: (schedule, history) =>
      listAt(schedule, "status", "pastSuccessfulRunNames").length > hadSucceeded(history)
        ? ["more past successful runs than drivers that succeeded"]
        : [],
  },
  Job: {
    endOf: jobEnd,
    isFinal: (job) => ["Completed", "Failed", "Aborted", "Terminated", "Running"].includes(jobPhase(job)),
    untrue: jobUntrue,
  },
  JobFlow: {
    endOf: (flow, history) => `${jobPhase(flow)}, ${hadSucceeded(history)} pods succeeded`,
    isFinal: (flow) => ["Succeed", "Failed", "Terminated"].includes(jobPhase(flow)),
    untrue: (flow, history) =>
      listAt(flow, "status", "completedJobs").length > hadSucceeded(history)
        ? ["more completed jobs than pods that succeeded"]
        : [],
  },
  CronJob: {
    endOf: (cron) =>
      scheduleEnd(
        at(cron, "spec", "suspend") === true ? "suspended" : "on",
        textAt(cron, "status", "lastSuccessfulTime") !== "",
        listAt(cron, "status", "active").length,
      ),
    isFinal: (cron) => at(cron, "spec", "suspend") === true,
    untrue: (cron, history) =>
      listAt(cron, "status", "active").length > 0 && !podsHere(history).some(isActive)
        ? ["status.active has a job, and no pod is active"]
        : [],
  },
};

const ofKind = (object: unknown): OfKind | undefined => kinds[textAt(object, "kind")];

/** Runs of a schedule that forbids two at once are one attempt: their names begin with the schedule's. */
const runOf = (name: string): string => name.replace(/^(scheduled|cron)-.*$/, "$1");

export const rows: Rows = {
  attemptOf: (pod) => {
    const app = labelOf(pod, "sparkoperator.k8s.io/app-name");
    if (labelOf(pod, "spark-role") === "driver") return `the driver of ${runOf(app)}`;
    const job = runOf(labelOf(pod, "volcano.sh/job-name"));
    const [index, task] = [labelOf(pod, "volcano.sh/task-index"), labelOf(pod, "volcano.sh/task-spec")];
    return job === "" ? "" : `pod ${index} of ${task} of ${job}`;
  },
  endOf: (object, history) => ofKind(object)?.endOf(object, history) ?? "gone",
  isFinal: (object) => ofKind(object)?.isFinal(object) ?? true,
  untrue: (object, history) => ofKind(object)?.untrue(object, history) ?? [],
  leftovers: [
    "apis/sparkoperator.k8s.io/v1beta2/*/sparkapplications",
    "apis/sparkoperator.k8s.io/v1beta2/*/scheduledsparkapplications",
    "apis/batch.volcano.sh/v1alpha1/*/jobs",
    "apis/batch.volcano.sh/v1alpha1/*/cronjobs",
    "apis/flow.volcano.sh/v1alpha1/*/jobflows",
    "apis/scheduling.volcano.sh/v1beta1/*/podgroups",
    "apis/bus.volcano.sh/v1alpha1/*/commands",
    "apis/rekindle.dev/v1alpha1/*/checkpoints",
  ],
};
