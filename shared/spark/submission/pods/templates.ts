/** The two pod templates: the user's, or Spark's container alone; without fields that Kubernetes does not know. */
import type { Json } from "../../../kube/responses.ts";
import type { Role } from "../arguments/pod.ts";
import type { SparkPod } from "./pod.ts";
import { podOf } from "./pod.ts";
import { pruned } from "./prune.ts";

const containerName = (role: Role): string => `spark-kubernetes-${role}`;

const bare = (role: Role): Json => ({ spec: { containers: [{ name: containerName(role) }] } });

/** The user's template without unknown fields, as a typed client would send it; a bare one when there is none. */
export const templateOf = (role: Role, template: Json | undefined): Json =>
  template === undefined ? bare(role) : { spec: {}, ...pruned(template) };

export const owned = (pod: SparkPod, owner: Json): SparkPod => ({
  ...pod,
  metadata: { ...pod.metadata, ownerReferences: [...(pod.metadata.ownerReferences ?? []), owner] },
});

/** The executors' template as a pod to which fields can be added. */
export const executorPod = (template: Json | undefined): SparkPod | { readonly error: string } =>
  podOf(templateOf("executor", template), containerName("executor"));
