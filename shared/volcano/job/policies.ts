/** Maps an event to an action: commands first, then outdated events, then the task's policies, then the job's. */
import { durationMs } from "../schema/duration.ts";
import { eventsOf } from "../schema/policies.ts";
import { type JobSpec, nameOf, type Policy, tasksOf } from "../schema/spec.ts";
import { type Action, internalEvents, isAction } from "../schema/words.ts";

/** An event of a job, or a command. */
export type Request = {
  /** The action that a command names. */
  readonly action?: string;
  readonly event: string;
  /** Exit codes of all containers that ended; a policy may name any of them. */
  readonly exitCodes: readonly number[];
  /** The version that the event concerns; absent: the job's current one. */
  readonly version?: number;
  readonly uid?: string;
  readonly task?: string;
};

export type Answer = {
  readonly action: Action;
  readonly delayMs: number;
  /** The task's policy, the job's, or none. */
  readonly by: "command" | "task" | "job" | "none";
};

const sync: Answer = { action: "SyncJob", delayMs: 0, by: "none" };

/** True if the policy names the event or one of its exit codes; PodPending counts only for a policy with a timeout. */
const isMet = (policy: Policy, { event, exitCodes }: Request): boolean => {
  const events = eventsOf(policy);
  const named = event !== "" && (events.includes(event) || events.includes("*"));
  if (named && (event !== "PodPending" || policy.timeout !== undefined)) return true;
  return policy.exitCode !== undefined && exitCodes.includes(policy.exitCode);
};

const answerOf = (policies: readonly Policy[], request: Request, by: Answer["by"]): Answer | undefined => {
  const policy = policies.find((one) => isMet(one, request));
  if (policy === undefined) return undefined;
  const action = isAction(policy.action) ? policy.action : "SyncJob";
  return { action, delayMs: durationMs(policy.timeout ?? "0") ?? 0, by };
};

const isInternal = (event: string): boolean => internalEvents.some((one) => one === event);

/** The job that the event concerns: its UID, the version of its pods, and its spec. */
export type Asked = { readonly uid: string; readonly version: number; readonly spec: JobSpec };

const isOutdated = ({ uid, version }: Request, asked: Asked): boolean =>
  (uid !== undefined && uid !== "" && uid !== asked.uid) || (version !== undefined && version < asked.version);

/** As volcano's applyPolicies, in its order. */
export const actionFor = (asked: Asked, request: Request): Answer => {
  if (request.action !== undefined && request.action !== "")
    return isAction(request.action) ? { action: request.action, delayMs: 0, by: "command" } : sync;
  if (isInternal(request.event) || isOutdated(request, asked)) return sync;
  const task = tasksOf(asked.spec).find((one) => nameOf(one) === request.task);
  return answerOf(task?.policies ?? [], request, "task") ?? answerOf(asked.spec.policies ?? [], request, "job") ?? sync;
};
