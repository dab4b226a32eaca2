/** SparkApplication on the command line: its states in words, each with the advice for the user. */
import * as z from "zod";
import type { Obj } from "../../core/object.ts";
import { instantOf } from "../../core/time.ts";
import { type Kind, type ObjectState, type Outlook, quiet, unseen } from "./kind.ts";

const status = z.object({
  applicationState: z.object({ state: z.string().optional(), errorMessage: z.string().optional() }).optional(),
  executionAttempts: z.number().optional(),
  submissionAttempts: z.number().optional(),
  lastSubmissionAttemptTime: z.string().nullish(),
  terminationTime: z.string().nullish(),
  driverInfo: z.object({ podName: z.string().optional() }).optional(),
});

type Status = z.infer<typeof status>;

const statusOf = (object: Obj): Status => {
  const parsed = status.safeParse(object["status"] ?? {});
  return parsed.success ? parsed.data : {};
};

/** state → what it waits for, and what to do. */
const outlooks: Readonly<Record<string, Outlook>> = {
  "": unseen,
  SUBMITTED: { waitsFor: "the driver to start", todo: quiet },
  RUNNING: { waitsFor: "the driver to finish", todo: quiet },
  SUCCEEDING: { waitsFor: "its success to be recorded", todo: quiet },
  COMPLETED: { waitsFor: "nothing: it has completed", todo: "nothing; apply it with a changed spec to run it again" },
  SUBMISSION_FAILED: { waitsFor: "its next submission", todo: "correct what the message names; the next try uses it" },
  FAILING: { waitsFor: "its next attempt, or the decision that there is none", todo: quiet },
  FAILED: { waitsFor: "nothing: it has failed", todo: "fix the cause and apply it with a changed spec" },
  PENDING_RERUN: { waitsFor: "the remaining objects of the last run to end", todo: quiet },
  INVALIDATING: { waitsFor: "the run of the old spec to end", todo: quiet },
  SUSPENDING: { waitsFor: "its pods to end", todo: quiet },
  SUSPENDED: { waitsFor: "spec.suspend to become false", todo: "set spec.suspend to false when it is to run" },
  RESUMING: { waitsFor: "its driver to be submitted", todo: quiet },
  UNKNOWN: { waitsFor: "news of its driver", todo: "see what the node of the driver pod says: kubectl get nodes" },
};

const ends: Readonly<Record<string, ObjectState["ended"]>> = { COMPLETED: "well", FAILED: "badly" };

const standingOf = (object: Obj): ObjectState => {
  const { applicationState, executionAttempts, lastSubmissionAttemptTime, terminationTime } = statusOf(object);
  const state = applicationState?.state ?? "";
  const message = applicationState?.errorMessage;
  return {
    state: state === "" ? "NEW" : state,
    attempts: executionAttempts,
    message: message === "" ? undefined : message,
    since:
      instantOf(terminationTime) ??
      instantOf(lastSubmissionAttemptTime) ??
      instantOf(object.metadata.creationTimestamp),
    ended: ends[state],
    what: outlooks[state] ?? { waitsFor: `what comes after state ${state}`, todo: quiet },
  };
};

const suspended = z.object({ suspend: z.boolean().optional() });

/** As upstream's printer columns. */
const wide: Kind["wide"] = (object) => {
  const { lastSubmissionAttemptTime, terminationTime, driverInfo } = statusOf(object);
  const spec = suspended.safeParse(object["spec"]);
  return {
    SUSPEND: spec.success ? String(spec.data.suspend ?? "") : "",
    DRIVER: driverInfo?.podName ?? "",
    START: lastSubmissionAttemptTime ?? "",
    FINISH: terminationTime ?? "",
  };
};

export const isDriver = (pod: Obj): boolean => pod.metadata.labels?.["spark-role"] === "driver";

export const sparkApplication: Kind = {
  resource: {
    group: "sparkoperator.k8s.io",
    version: "v1beta2",
    plural: "sparkapplications",
    kind: "SparkApplication",
  },
  shortNames: ["sparkapp"],
  podLabels: (name) => ({ "sparkoperator.k8s.io/app-name": name }),
  stateOf: standingOf,
  mainPod: (object, pods) => {
    const recorded = statusOf(object).driverInfo?.podName;
    const names = pods.filter(isDriver).map((pod) => pod.metadata.name);
    return names.find((name) => name === recorded) ?? names.at(-1);
  },
  wide,
  suspends: true,
};
