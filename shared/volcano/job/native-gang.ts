/**
 * The PodGroup of Kubernetes for the pods of one version of a job. It exists before its pods, and its `minCount` follows
 * the job: it grows as the dependencies of tasks are there, before their pods are created, and it falls as pods finish,
 * because kube-scheduler does not count these.
 */
import { getIfAllowed, list, type Reads } from "../../core/decision.ts";
import { apiVersionOf, isLabelValue, type Obj, refTo, type Stored } from "../../core/object.ts";
import type { Effect } from "../../core/plan.ts";
import { gangOf, isNative, minCountOf, nativeApi, nativeGroups, nativeKey } from "../../kube/native-gang.ts";
import { isEnding, nodeNameOf, ownedBy } from "../../kube/pods.ts";
import { classIn, minimumOf } from "../native/expressible.ts";
import { nativeGroupName, ownerReference } from "../pods/names.ts";
import { keys } from "../schema/resource.ts";
import { nameOf, replicasOf, type Task, tasksOf } from "../schema/spec.ts";
import { isKept, type JobContext, ownerOf, type ReasonMessage, removal } from "./context.ts";
import { hasFinished, removedOf } from "./pods.ts";
import { makesWay, mayStart } from "./starts.ts";

/** Returns how many pods of a task have finished and are not created again. */
export const finishedOf = (context: JobContext, task: Task): number => {
  const finished = context.members.filter(
    (member) =>
      member.task === nameOf(task) &&
      member.index < replicasOf(task) &&
      hasFinished(member) &&
      !makesWay(context, member),
  );
  return finished.length + removedOf(context, task).length;
};

/** Returns how many pods must be bound together, of those that exist and those that may be created. */
export const minCountNow = (context: JobContext): number => {
  const open = new Set(tasksOf(context.spec).filter((task) => mayStart(context, task)));
  const unfinished = [...open].reduce((sum, task) => sum + replicasOf(task) - finishedOf(context, task), 0);
  return Math.max(
    1,
    Math.min(
      minimumOf(context.spec, (task) => open.has(task)),
      unfinished,
    ),
  );
};

const nameIn = (context: JobContext): string => nativeGroupName(ownerOf(context), context.memory.version);

const objectOf = (context: JobContext): Obj => {
  const owner = ownerOf(context);
  const priorityClassName = classIn(context.spec);
  return {
    apiVersion: apiVersionOf(nativeGroups),
    kind: nativeGroups.kind,
    metadata: {
      ...{ name: nameIn(context), namespace: owner.namespace },
      ...(isLabelValue(owner.name) ? { labels: { [keys.jobName]: owner.name } } : {}),
      ownerReferences: [ownerReference(owner)],
    },
    spec: { ...gangOf(minCountNow(context)), ...(priorityClassName === "" ? {} : { priorityClassName }) },
  };
};

/** True if a pod waits for its node: it depends on the number of the group. */
const isPlacing = ({ members }: JobContext): boolean =>
  members.some((member) => !hasFinished(member) && !member.ending && nodeNameOf(member.pod) === undefined);

/** True if the version of the group is over: its PodGroup of Kubernetes goes before it. */
const isOver = (context: JobContext): boolean =>
  context.group?.metadata.uid === context.memory.retired || !isKept(context);

const wanted = (context: JobContext, there: Stored | undefined): readonly Effect[] => {
  if (there === undefined)
    return [{ do: "create", object: objectOf(context), resource: nativeGroups, owner: ownerOf(context).uid }];
  const minCount = minCountNow(context);
  if (isEnding(there) || minCountOf(there) === minCount) return [];
  const { uid, resourceVersion } = there.metadata;
  return [{ do: "patch", ref: refTo(nativeGroups, there), uid, resourceVersion, patch: { spec: gangOf(minCount) } }];
};

/** The pods would get nodes one by one, so they are not created without being asked for. */
const unserved = ({ group }: JobContext): ReasonMessage => ({
  reason: "GangNative",
  message: `the API server no longer serves ${apiVersionOf(nativeGroups)} PodGroups, so no pods are created: serve them again, or take the annotation ${nativeKey} off PodGroup ${group?.metadata.name}, then its pods get nodes one by one`,
});

/**
 * Returns the effects on the job's PodGroups of Kubernetes, which come before those on its pods and its group; or the
 * reason why its pods cannot be created.
 */
export function* planNativeGangs(context: JobContext, creates: boolean): Reads<readonly Effect[] | ReasonMessage> {
  if (!isNative(context.group)) return [];
  const over = isOver(context);
  const needs = !over && (creates || isPlacing(context));
  if (!over && !needs) return [];
  const { name, namespace, uid } = ownerOf(context);
  const found = yield* list({
    ...{ do: "list", resource: nativeGroups, namespace, labels: { [keys.jobName]: name } },
    spared: true,
  });
  const own = found.filter((one) => ownedBy(one, uid));
  if (needs && own.length === 0) {
    const served = yield* getIfAllowed(nativeApi);
    if (served.heard && served.value === undefined) return creates ? unserved(context) : [];
  }
  const current = own.find(({ metadata }) => metadata.name === nameIn(context));
  const left = own.filter((one) => !isEnding(one) && (one !== current || !isKept(context)));
  return [...left.map((one) => removal(nativeGroups, one)), ...(needs ? wanted(context, current) : [])];
}
