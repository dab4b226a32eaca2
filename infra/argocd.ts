/**
 * Health checks for Argo CD, made from the states of the kinds: `argocd/health.yaml` holds a script in Lua for each kind,
 * as keys of Argo CD's ConfigMap `argocd-cm`.
 */

import { yamlText } from "../shared/cli/io/documents.ts";
import { scheduledSparkApplication, sparkApplication, sparkConnect } from "../shared/cli/kinds/spark.ts";
import { pausedAnnotation } from "../shared/core/annotation.ts";
import { apiVersionOf, type Resource } from "../shared/core/object.ts";
import type { Phase as SparkPhase } from "../shared/spark/application/state/memory.ts";
import { cronJobs, type Phase as JobPhase, jobFlows, jobs, queues } from "../shared/volcano/schema/resource.ts";
import type { FlowPhase } from "../shared/volcano/schema/workflows.ts";

/** A health of Argo CD. A sync wave waits while an object is Progressing, and fails with one that is Degraded. */
type Health = "Healthy" | "Progressing" | "Degraded" | "Suspended";

type Check = {
  readonly resource: Resource;
  /** Path of the state below the object, and of the text that says why. */
  readonly state: readonly string[];
  readonly message: readonly string[];
  /** A state that is not named is Progressing. */
  readonly healths: Readonly<Record<string, Health>>;
};

/** A running application is healthy, as in Argo CD's own check: it may be one that never ends. */
const application: Readonly<Record<SparkPhase, Health>> = {
  "": "Progressing",
  SUBMITTED: "Progressing",
  RUNNING: "Healthy",
  UNKNOWN: "Progressing",
  SUCCEEDING: "Healthy",
  FAILING: "Progressing",
  SUBMISSION_FAILED: "Progressing",
  INVALIDATING: "Progressing",
  PENDING_RERUN: "Progressing",
  SUSPENDING: "Suspended",
  SUSPENDED: "Suspended",
  RESUMING: "Progressing",
  COMPLETED: "Healthy",
  FAILED: "Degraded",
};

const job: Readonly<Record<JobPhase, Health>> = {
  Pending: "Progressing",
  Running: "Healthy",
  Restarting: "Progressing",
  Completing: "Progressing",
  Completed: "Healthy",
  Terminating: "Progressing",
  Terminated: "Degraded",
  Aborting: "Suspended",
  Aborted: "Suspended",
  Failed: "Degraded",
};

const flow: Readonly<Record<FlowPhase, Health>> = {
  Pending: "Progressing",
  Running: "Healthy",
  Succeed: "Healthy",
  Failed: "Degraded",
};

export const checks: readonly Check[] = [
  {
    resource: sparkApplication.resource,
    state: ["status", "applicationState", "state"],
    message: ["status", "applicationState", "errorMessage"],
    healths: application,
  },
  {
    resource: scheduledSparkApplication.resource,
    state: ["status", "scheduleState"],
    message: ["status", "reason"],
    healths: { "": "Progressing", Scheduled: "Healthy", FailedValidation: "Degraded" },
  },
  {
    resource: sparkConnect.resource,
    state: ["status", "state"],
    message: [],
    healths: {
      "": "Progressing",
      Provisioning: "Progressing",
      Ready: "Healthy",
      NotReady: "Progressing",
      Failed: "Degraded",
    },
  },
  { resource: jobs, state: ["status", "state", "phase"], message: ["status", "state", "message"], healths: job },
  { resource: jobFlows, state: ["status", "state", "phase"], message: [], healths: flow },
  // A CronJob has no state: it is healthy as soon as it is there.
  { resource: cronJobs, state: [], message: [], healths: { "": "Healthy" } },
  {
    resource: queues,
    state: ["status", "state"],
    message: [],
    healths: { "": "Progressing", Open: "Healthy", Closing: "Suspended", Closed: "Suspended", Unknown: "Degraded" },
  },
];

const quoted = (text: string): string => JSON.stringify(text);

/** The Lua script of one kind. It reads each level of a path by itself: an absent one gives the empty state. */
export const script = ({ state, message, healths }: Check): string =>
  [
    "local function at(path)",
    "  local value = obj",
    "  for _, field in ipairs(path) do",
    '    if type(value) ~= "table" then return "" end',
    "    value = value[field]",
    "  end",
    '  if type(value) ~= "string" then return "" end',
    "  return value",
    "end",
    "local healths = {",
    ...Object.entries(healths).map(([name, health]) => `  [${quoted(name)}] = ${quoted(health)},`),
    "}",
    `local state = at({${state.map(quoted).join(", ")}})`,
    `local message = at({${message.map(quoted).join(", ")}})`,
    'local health = { status = healths[state] or "Progressing", message = state }',
    'if message ~= "" then health.message = state .. ": " .. message end',
    `if at({"metadata", "annotations", ${quoted(pausedAnnotation)}}) == "true" then`,
    '  health = { status = "Suspended", message = "paused: rekindle resume" }',
    "end",
    "return health",
    "",
  ].join("\n");

/** The part of `argocd-cm` with all checks. */
export const healthChecks = (): string => {
  const data = Object.fromEntries(
    checks.map((check) => [
      `resource.customizations.health.${apiVersionOf(check.resource).split("/")[0]}_${check.resource.kind}`,
      script(check),
    ]),
  );
  return yamlText({ data });
};
