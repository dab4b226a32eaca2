/** The reason of a job's end, for the state in its status: the pods that failed, the spent retries, or the action that ended it. */
import { counted } from "../../core/text.ts";
import type { JobContext, ReasonMessage } from "./context.ts";
import type { Memory } from "./memory.ts";
import { exitCodesOf, finishedAtOf, type Member } from "./pods.ts";

const exitText = (member: Member): string => {
  const codes = exitCodesOf(member);
  return codes.length === 0 ? "" : ` (exit ${codes.join(", ")})`;
};

/** The pod that failed last, and how many others failed; undefined where no failed pod is left. */
const podsText = (members: readonly Member[]): string | undefined => {
  const failed = members
    .filter(({ phase }) => phase === "Failed")
    .toSorted((a, b) => finishedAtOf(b).localeCompare(finishedAtOf(a)));
  const [last, ...others] = failed;
  if (last === undefined) return undefined;
  const more = others.length === 0 ? "" : `, and ${counted(others.length, "pod")} before it`;
  return `pod ${last.pod.metadata.name} failed${exitText(last)}${more}`;
};

/** Why a job has failed. `before`: its memory in the phase before, whose cause stands where no failed pod is left. */
const failureText = ({ members, spec }: JobContext, before: Memory): string => {
  const { maxRetry = 0 } = spec;
  const retries = before.retryCount === 0 ? undefined : `${before.retryCount} of ${maxRetry} retries used`;
  const cause = podsText(members) ?? before.why?.message ?? "too few of its pods succeeded";
  return [cause, ...(retries === undefined ? [] : [retries])].join("; ");
};

/**
 * The reason of the final phase that a job has reached: of a failure, or the cause of the action that ended it. Undefined
 * for an end without one.
 */
export const endReason = (context: JobContext, before: Memory, phase: Memory["phase"]): ReasonMessage | undefined => {
  if (phase === "Failed") return { reason: "JobFailed", message: failureText(context, before) };
  const isEnd = phase === "Terminated" || phase === "Aborted" || phase === "Completed";
  return isEnd && before.why !== undefined ? { reason: `Job${phase}`, message: before.why.message } : undefined;
};
