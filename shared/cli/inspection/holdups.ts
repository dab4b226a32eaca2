/** The reasons why pods of an object do not start, read live for `rekindle status`. */
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { ApiError } from "../../core/errors.ts";
import type { Stored } from "../../core/object.ts";
import { eventsOf, type Holdup, holdupOf, needsEvents, startDueAt } from "../../kube/holdups.ts";
import type { Source } from "../io/tools.ts";

/** The most pods that one command looks at: the first that does not start tells enough. */
const most = 3;

/** The events of a pod; none where the caller has no right to list events. */
const eventsIn = async ({ transport }: Pick<Source, "transport">, pod: Stored): Promise<readonly Stored[]> => {
  try {
    return (await openCluster(transport).list(eventsOf(pod))).value;
  } catch (cause) {
    if (cause instanceof ApiError && (cause.status === 403 || cause.status === 404)) return [];
    throw cause;
  }
};

/** Lists the reasons. One in a pod's status counts at once; events are read after the time that a start takes. */
export const holdupsAmong = async (
  source: Pick<Source, "transport">,
  pods: readonly Stored[],
  now: number,
): Promise<readonly Holdup[]> => {
  const held = pods.filter((pod) => {
    const due = startDueAt(pod);
    return due !== undefined && (due <= now || !needsEvents(pod));
  });
  return await Promise.all(
    held.slice(0, most).map(async (pod) => holdupOf(pod, needsEvents(pod) ? await eventsIn(source, pod) : [])),
  );
};
