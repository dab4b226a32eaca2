/** The pods of an application as log and forward need them: the main one, an executor by its id. */
import { openCluster } from "../adapters/kubernetes/cluster.ts";
import { isLabelValue, type Stored } from "../core/object.ts";
import { inOrder, labelOf, mayBelongTo } from "../kube/pods.ts";
import { pods as podResource } from "../kube/resources.ts";
import { Refused } from "./failure.ts";
import type { Standing } from "./kinds/kind.ts";
import type { Target } from "./target.ts";
import type { Session } from "./tools.ts";

export type Life = { readonly object: Stored; readonly standing: Standing; readonly pods: readonly Stored[] };

/** The object and its pods as they are now; undefined when there is no such object any more. */
export const lifeOf = async ({ transport }: Session, { kind, key }: Target): Promise<Life | undefined> => {
  const { namespace, name } = key;
  const cluster = openCluster(transport);
  const { value: object } = await cluster.get({ resource: kind.resource, namespace, name });
  if (object === undefined) return undefined;
  const labels = kind.podLabels(name);
  const query = { do: "list", resource: podResource, namespace, labels } as const;
  const { value } = Object.values(labels).every(isLabelValue) ? await cluster.list(query) : { value: [] };
  return {
    object,
    standing: kind.standingOf(object),
    pods: inOrder(value.filter((pod) => mayBelongTo(pod, kind.resource.kind, object.metadata.uid))),
  };
};

const byAge = (a: Stored, b: Stored): number =>
  (a.metadata.creationTimestamp ?? "").localeCompare(b.metadata.creationTimestamp ?? "");

const executors = (pods: readonly Stored[]): readonly Stored[] =>
  pods.filter((pod) => labelOf(pod, "spark-exec-id") !== undefined).toSorted(byAge);

/** The driver or server, or the executor of this id: of several attempts the newest. */
export const podOf = (target: Target, life: Life, executor: string | undefined): Stored | undefined => {
  if (executor === undefined) {
    const name = target.kind.mainPod(life.object, life.pods);
    return life.pods.findLast(({ metadata }) => metadata.name === name);
  }
  return executors(life.pods).findLast((pod) => labelOf(pod, "spark-exec-id") === executor);
};

/** Why there is no such pod, and what there is. */
export const noPod = ({ key }: Target, life: Life, executor: string | undefined): Refused => {
  const name = `${key.namespace}/${key.name}`;
  const ids = [...new Set(executors(life.pods).map((pod) => labelOf(pod, "spark-exec-id")))];
  if (executor === undefined)
    return new Refused(
      `${name} has no driver pod (${life.standing.state}); see what it waits for: rekindle status ${name}`,
    );
  const there = ids.length === 0 ? "none is there" : `there are ${ids.join(", ")}`;
  return new Refused(`${name} has no executor ${executor}: ${there}`);
};
