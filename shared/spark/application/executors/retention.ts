/** Which ended executors' pods are cleaned away: those that tell nothing of the application's own failures, or no longer. */
import type { Stored } from "../../../core/object.ts";
import type { Effect } from "../../../core/plan.ts";
import { labelOf } from "../../../kube/pods.ts";
import { firstId } from "../../executors/allotment.ts";
import { type Spent, spent } from "../../executors/ended-pods.ts";
import { hasId, idsOf } from "../../executors/ids.ts";
import { endingOf, executorId } from "../../executors/losses.ts";
import type { ApplicationContext } from "../context.ts";
import { isOwnRun } from "../run-spec.ts";
import { shownExecutors } from "../status.ts";

const conf = "spark.kubernetes.executor.deleteOnTermination";

/** What the user says of ended executors; undefined: it is left to us. */
export const asksDeletion = ({ read }: Pick<ApplicationContext, "read">): "delete" | "keep" | undefined => {
  if (!read.ok) return "keep";
  const field = read.spec.executor.deleteOnTermination;
  const text = read.spec.sparkConf?.[conf]?.trim();
  const asked = text ?? (field === undefined ? undefined : String(field));
  return asked === undefined ? undefined : asked === "true" ? "delete" : "keep";
};

/** Of a driver that we submitted: who submitted without us has Spark's default, and its driver deletes them. */
const isOurs = (pod: Stored): boolean => labelOf(pod, "rekindle.dev/attempt") !== undefined;

type Judging = Pick<ApplicationContext, "object" | "settings" | "read" | "view" | "policies" | "memory">;

/** The highest id of an executor that the status names. */
export const trackedUpTo = ({ settings, memory }: Pick<ApplicationContext, "settings" | "memory">): number =>
  settings.options.trackedExecutors + (isOwnRun(memory) ? firstId - 1 : 0);

/** So many pods are ended in one step; whoever sees them go comes back for the next. */
export const mostDeletions = 100;

const few = ({ useless, until }: Spent): Spent => ({ useless: useless.slice(0, mostDeletions), until });

const none: Spent = { useless: [], until: undefined };

/**
 * Of an executor that the status does not name nobody could tell once its pod is gone: it waits for the write of this step.
 * `until`: when to look again, epoch ms.
 */
const told = ({ object, settings, memory, view }: Judging, { useless, until }: Spent): Spent => {
  const shown = shownExecutors(object, memory.driver);
  const last = trackedUpTo({ settings, memory });
  const named = useless.filter((pod) => pod.metadata.name in shown || (executorId(pod) ?? 0) > last);
  return { useless: named, until: named.length < useless.length ? view.now : until };
};

/** While the driver runs: those that are accounted for. Whoever exited with 0 in an own run is its allocator's to judge. */
export const uselessNow = (scene: Judging, over: string, executors: readonly Stored[]): Spent => {
  if (asksDeletion(scene) !== undefined) return none;
  const ids = idsOf(over);
  const own = isOwnRun(scene.memory);
  const judged = executors.filter((pod) => {
    const id = executorId(pod);
    return isOurs(pod) && id !== undefined && hasId(ids, id) && !(own && endingOf(pod)?.reason === "finished");
  });
  const { useless } = few(spent(judged, { now: scene.view.now, retentionMs: scene.policies.retentionMs }));
  return told(scene, { useless, until: undefined });
};

/** When the run has ended: of all that ended with it or before, and when there are more to be judged. */
export const uselessAfter = (scene: Judging, executors: readonly Stored[]): Spent => {
  const { state } = scene.memory;
  if (asksDeletion(scene) !== undefined || !("endedAt" in state)) return none;
  const { endedAt: driverEndedAt } = state;
  const { retentionMs } = scene.policies;
  return told(scene, few(spent(executors.filter(isOurs), { now: scene.view.now, retentionMs, driverEndedAt })));
};

/** A process that has ended does not begin again: to remove its pod by UID ends nobody, however old the look. */
export const endsNobody = (effect: Effect, executors: readonly Stored[]): boolean => {
  if (effect.do !== "delete") return effect.do === "create" || effect.do === "record";
  const pod = executors.find(({ metadata }) => metadata.uid === effect.uid);
  return pod !== undefined && endingOf(pod) !== undefined;
};
