/** Actions that a job asks for by annotation, without any policy event: suspension, a deadline, early success. */
import { spanText } from "../../core/annotation.ts";
import { nameOf, replicasOf, tasksOf } from "../schema/spec.ts";
import type { Target } from "./annotations.ts";
import type { SelectedAction } from "./apply-action.ts";
import { type JobContext, tallied } from "./context.ts";
import { isWorking } from "./machine.ts";
import type { Memory } from "./memory.ts";
import { isDone } from "./pods.ts";

type Wished = (scene: JobContext, memory: Memory) => SelectedAction | undefined;

const job = { task: "" } as const;

const because = (event: string) => ({ event, exitCodes: [] });

/**
 * Aborts a job that asks for suspension. Without the annotation, it resumes a job that it has aborted, but none that a
 * command has.
 */
const suspension: Wished = ({ wishes: { suspend } }, memory) => {
  if (suspend === "true" && isWorking(memory.phase))
    return { memory: { ...memory, suspended: true }, action: "AbortJob", target: job, because: because("Suspended") };
  return suspend === "false" && memory.suspended === true && memory.phase === "Aborted"
    ? { memory, action: "ResumeJob", target: job, because: because("Resumed") }
    : undefined;
};

/** Returns the instant at which the job has worked for too long, epoch ms; undefined if there is none. */
export const deadlineOf = ({
  wishes: { deadlineMs },
  memory,
}: Pick<JobContext, "wishes" | "memory">): number | undefined =>
  deadlineMs === undefined || memory.activeSince === undefined || !isWorking(memory.phase)
    ? undefined
    : memory.activeSince + deadlineMs;

const deadline: Wished = (scene, memory) => {
  const due = deadlineOf({ ...scene, memory });
  if (due === undefined || due > scene.view.now) return undefined;
  const { deadlineMs = 0 } = scene.wishes;
  return {
    memory,
    action: "TerminateJob",
    target: job,
    because: because(`DeadlineExceeded after ${spanText(deadlineMs)}`),
  };
};

const isMet =
  (scene: JobContext) =>
  ({ task, count }: Target): boolean => {
    const one = tasksOf(scene.spec).find((each) => nameOf(each) === task);
    if (one === undefined) return false;
    return (tallied(scene).byTask[task]?.Succeeded ?? 0) >= (count ?? replicasOf(one));
  };

/** Returns a done pod of the targets, which is read again before the action. Deleted pods need no second read. */
const witnessOf = (scene: JobContext, targets: readonly Target[]): Pick<SelectedAction, "witness"> => {
  const member = scene.members.find(
    (one) => targets.some(({ task }) => task === one.task) && isDone(one, scene.memory),
  );
  const metadata = member?.pod.metadata;
  return metadata === undefined ? {} : { witness: { name: metadata.name, uid: metadata.uid } };
};

const success: Wished = (scene, memory) => {
  if (!["Pending", "Running"].includes(memory.phase)) return undefined;
  const met = scene.wishes.success.find((targets) => targets.every(isMet(scene)));
  if (met === undefined) return undefined;
  const event = `SuccessTargets ${met.map(({ task }) => task).join(", ")}`;
  return { memory, action: "CompleteJob", target: job, because: because(event), ...witnessOf(scene, met) };
};

const wishes: readonly Wished[] = [suspension, deadline, success];

/** Returns the first action that an annotation asks for. */
export const annotationActionOf: Wished = (scene, memory) => {
  for (const wished of wishes) {
    const choice = wished(scene, memory);
    if (choice !== undefined) return choice;
  }
  return undefined;
};
