/** `rekindle delete`: deletes applications, and with them their pods. */
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { pages } from "../../adapters/kubernetes/requests.ts";
import { isLabelValue, type Stored } from "../../core/object.ts";
import { mayBelongTo } from "../../kube/pods.ts";
import { pods as podResource } from "../../kube/resources.ts";
import { exits, Refused } from "../io/failure.ts";
import type { Session, Tools } from "../io/tools.ts";
import type { Kind } from "../kinds/kind.ts";
import type { Target } from "../selection/target.ts";
import { objectOf } from "./hold.ts";

/** An object to delete, by its UID: a later object of the same name is another one. */
export type Going = { readonly target: Target; readonly uid: string };

export const goingNamed = async (session: Session, target: Target): Promise<Going> => ({
  target,
  uid: (await objectOf(session, target)).metadata.uid,
});

const going = (kind: Kind, { metadata }: Stored): Going => ({
  target: {
    kind,
    key: {
      cluster: "default",
      kind: kind.resource.kind,
      namespace: metadata.namespace ?? "default",
      name: metadata.name,
    },
  },
  uid: metadata.uid,
});

/** Everything of a kind with these labels in a namespace. */
export const goingSelected = async (
  { transport }: Session,
  kind: Kind,
  where: { readonly namespace: string; readonly selector: string | undefined },
): Promise<readonly Going[]> => {
  const found: Going[] = [];
  for await (const page of pages(transport, { resource: kind.resource, ...where })) {
    found.push(...page.items.map((object) => going(kind, object)));
  }
  return found;
};

/** Deletes by UID; dependents go with it. */
export const remove = async ({ transport }: Session, { target, uid }: Going): Promise<void> => {
  const { kind, key } = target;
  await openCluster(transport).remove({ resource: kind.resource, namespace: key.namespace, name: key.name }, { uid });
};

/** True while the object or its pods exist. Labels find pods (the driver owns executors) until the name is reused. */
const isLeft = async ({ transport }: Session, { target, uid }: Going): Promise<boolean> => {
  const { kind, key } = target;
  const cluster = openCluster(transport);
  const { value } = await cluster.get({ resource: kind.resource, namespace: key.namespace, name: key.name });
  if (value !== undefined) return value.metadata.uid === uid;
  const labels = kind.podLabels(key.name);
  if (!Object.values(labels).every(isLabelValue)) return false;
  const { value: pods } = await cluster.list({ do: "list", resource: podResource, namespace: key.namespace, labels });
  return pods.some((pod) => mayBelongTo(pod, kind.resource.kind, uid));
};

const againMs = 1_000;

/** Waits until objects and their pods are gone. */
export const awaitGone = async (
  tools: Tools,
  session: Session,
  gone: readonly Going[],
  waitMs: number,
): Promise<void> => {
  for (const one of gone) {
    for (let left = waitMs; await isLeft(session, one); left -= againMs) {
      const { namespace, name } = one.target.key;
      if (left <= 0)
        throw new Refused(
          `${namespace}/${name} or a pod of it is still there; see: rekindle status ${namespace}/${name}`,
          {
            code: exits.timeOver,
          },
        );
      await tools.sleep(againMs);
    }
  }
};
