/** Creates executors under ids that were handed out: their pods, then the claims that the pods wait for. */
import type { Obj, OwnerReference, Stored } from "../../../core/object.ts";
import type { Effect } from "../../../core/plan.ts";
import { podStatus } from "../../../kube/pods.ts";
import { pods } from "../../../kube/resources.ts";
import { type ExecutorBuilder, executorBuilder } from "../../executor-pod/builder.ts";
import { recoveryMode } from "../../executor-pod/environment.ts";
import { mostInBatch } from "../../executors/allocation.ts";
import { avoidedNodes, placedElsewhere } from "../../executors/nodes.ts";
import { podLabels, reference } from "../../submission/additions.ts";
import type { ApplicationContext } from "../run/context.ts";
import { creation, executorBasis } from "../run/submit.ts";
import type { Driver } from "../state/memory.ts";
import { madeHere } from "./lookup.ts";
import { drainingNodes } from "./node-drain.ts";

/** Adds the attempt's labels and owner, by which claims are found, and the annotation of the pod's allocator. */
const marked = (object: Obj, { key, view }: ApplicationContext, { attempt, submissionId }: Driver): Obj => {
  const { namespace, name } = key;
  const app = { name, namespace, uid: view.uid };
  const owner: OwnerReference = reference(app);
  const { labels, annotations, ownerReferences = [] } = object.metadata;
  return {
    ...object,
    metadata: {
      ...object.metadata,
      namespace,
      labels: { ...labels, ...podLabels({ app, attempt, submissionId }) },
      annotations: { ...annotations, ...madeHere },
      ownerReferences: [...ownerReferences.filter(({ uid }) => uid !== view.uid), owner],
    },
  };
};

/** The executor builder of a run; undefined where the current spec makes no executor. */
const builderFor = (context: ApplicationContext, driver: Driver, pod: Stored): ExecutorBuilder | undefined => {
  const basis = executorBasis(context, driver);
  if (basis === undefined) return undefined;
  const { name, uid } = pod.metadata;
  const host = { name, uid, ip: podStatus(pod).podIP ?? undefined };
  const single = context.memory.allotment?.singleTask === true;
  const conf = single ? new Map([...basis.conf, [recoveryMode, "true"] as const]) : basis.conf;
  const builder = executorBuilder({ ...basis, conf, driver: host });
  return "refused" in builder ? undefined : builder;
};

/** The most characters of all pods of one step: building more would delay every other key. */
const mostBuilt = 8_388_608;

/** The most executors of a run created in one step: fewer of larger ones. */
export const mostAtOnce = (context: ApplicationContext, driver: Driver, pod: Stored): number => {
  const one = builderFor(context, driver, pod)?.build("1");
  return one === undefined ? mostInBatch : Math.max(1, Math.floor(mostBuilt / JSON.stringify(one).length));
};

/** The driver with its pod, for which executors are created, and the executors that are there. */
export type Making = { readonly driver: Driver; readonly pod: Stored; readonly there: readonly Stored[] };

/** The claims of executors, without building all of them where the first has none: all have as many. */
const claimsFor = (builder: ExecutorBuilder, [first, ...others]: readonly string[]): readonly Obj[] => {
  const claims = first === undefined ? [] : builder.build(first).claims;
  return claims.length === 0 ? [] : [...claims, ...others.flatMap((id) => builder.build(id).claims)];
};

/** Creates the pods in one stage, in parallel; nothing where the spec makes no executor. */
export const executorsFor = (
  context: ApplicationContext,
  { driver, pod, there }: Making,
  ids: readonly number[],
): readonly (readonly Effect[])[] => {
  const builder = ids.length === 0 ? undefined : builderFor(context, driver, pod);
  if (builder === undefined) return [];
  const going = drainingNodes(there);
  const { losses = [], doomed = [] } = context.memory.executors ?? {};
  const nodes = [...new Set([...going, ...avoidedNodes([...losses, ...doomed], context.view.now)])];
  const { uid } = context.view;
  const { namespace } = context.key;
  const podFor = (id: string): Effect => ({
    do: "create",
    object: { apiVersion: "v1", kind: "Pod", metadata: { name: builder.podName(id), namespace } },
    body: () => marked(placedElsewhere(builder.build(id).pod, nodes), context, driver),
    resource: pods,
    owner: uid,
    limited: true,
  });
  const all = ids.map((id) => `${id}`);
  const claims = claimsFor(builder, all);
  return [all.map(podFor), claims.map((claim) => creation(marked(claim, context, driver), uid))];
};
