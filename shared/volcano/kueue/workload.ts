/**
 * The Workload of a Job: one pod set for each task, the LocalQueue that the Job's label names, its rank,
 * and the annotations of admission checks.
 */
import type { Obj, Stored } from "../../core/object.ts";
import { localQueueOf } from "../../kube/kueue.ts";
import { type Asked, takenOver, topologyIn, workloadFor, workloadNameOf } from "../../kube/kueue-workload.ts";
import type { Json } from "../../kube/responses.ts";
import { type Owner, ownerReference } from "../pods/names.ts";
import { jobs, keys } from "../schema/resource.ts";
import { type JobSpec, nameOf, replicasOf, type Task, tasksOf } from "../schema/spec.ts";
import { admittedSpec, type PartialTask, partialAdmission } from "./partial-admission.ts";

/** Returns the name of a Job's Workload: `job-NAME-HASH`. */
export const workloadName = (owner: Pick<Owner, "name" | "uid">): string => workloadNameOf("job", jobs, owner);

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** Returns the name of the priority class of a task's pods; "" if they have none. */
const classOf = (spec: JobSpec, { template }: Task): string =>
  text(template?.spec?.["priorityClassName"]) || (spec.priorityClassName ?? "");

const podSetOf =
  (spec: JobSpec, partial: PartialTask | undefined) =>
  (task: Task): Json => {
    const { labels, annotations = {} } = task.template?.metadata ?? {};
    const metadata = {
      ...(labels === undefined ? {} : { labels }),
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    };
    const priorityClassName = classOf(spec, task);
    return {
      ...{ name: nameOf(task), count: replicasOf(task) },
      ...(nameOf(task) === partial?.task ? { minCount: partial.least } : {}),
      template: {
        ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
        spec: { ...task.template?.spec, ...(priorityClassName === "" ? {} : { priorityClassName }) },
      },
      ...topologyIn(annotations, { podIndexLabel: keys.taskIndex }),
    };
  };

/** Returns the names of the priority classes of the tasks' pods; "" for none. */
export const classesIn = (spec: JobSpec): readonly string[] => tasksOf(spec).map((task) => classOf(spec, task));

type ForJob = {
  readonly object: Obj;
  readonly owner: Owner;
  readonly spec: JobSpec;
  readonly rank: Json;
  readonly partial: PartialTask | undefined;
};

/** The Workload says by an annotation what it asks for in part: Kueue may drop the number, where its gate is off. */
const partialText = (partial: PartialTask | undefined): string =>
  partial === undefined ? "" : `${partial.task}=${partial.least}`;

/** Returns the Workload of a Job. */
export const workloadOf = ({ object, owner, spec, rank, partial }: ForJob): Obj => {
  const { annotations, ...limits } = takenOver(object);
  return workloadFor({
    ...{ object, name: workloadName(owner), owner: ownerReference(owner), rank },
    podSets: tasksOf(spec).map(podSetOf(spec, partial)),
    annotations: { ...annotations, ...(partial === undefined ? {} : { [partialAdmission]: partialText(partial) }) },
    ...limits,
  });
};

/** A Job, and what it asks for. */
type Judged = { readonly job: Obj; readonly spec: JobSpec; readonly partial: PartialTask | undefined };

/** True if Kueue has admitted fewer pods of a task than the Job may run with. */
const isTooLittle = (workload: Stored, spec: JobSpec, partial: PartialTask | undefined): boolean =>
  tasksOf(admittedSpec(spec, workload)).some(
    (task, at) =>
      replicasOf(task) < (nameOf(task) === partial?.task ? partial.least : (spec.tasks?.[at]?.replicas ?? 0)),
  );

/** The Job and its pod sets, by which its Workload is judged. */
export const askedBy = ({ job, spec, partial }: Judged): Asked => ({
  ...{
    object: job,
    queue: localQueueOf(job),
    noun: "the Job",
    resized: "the Job's tasks have other numbers of replicas",
  },
  podSets: tasksOf(spec).map((task) => ({ name: nameOf(task), count: replicasOf(task) })),
  classes: classesIn(spec),
  lacks: (workload) =>
    isTooLittle(workload, spec, partial) ? "the Job needs more pods than Kueue has admitted" : undefined,
  differs: ({ metadata: { annotations } }) =>
    (annotations?.[partialAdmission] ?? "") === partialText(partial)
      ? undefined
      : "the Job asks for other numbers of pods in part",
});
