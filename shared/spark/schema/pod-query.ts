/** The listing by which a step finds the pods of an application. */
import type { Key } from "../../core/key.ts";
import type { Listing } from "../../core/plan.ts";
import { pods } from "../../kube/resources.ts";

/** The label of upstream's objects with the name of their application. */
export const appNameLabel = "sparkoperator.k8s.io/app-name";

/** The annotation that chooses the allocator of an application's executors; executors that Rekindle created have it, too. */
export const ownerAnnotation = "rekindle.dev/executors";

/** Lists every pod with the application's name; owner references show its owner. */
export const podsOf = (key: Key): Listing => ({
  do: "list",
  resource: pods,
  namespace: key.namespace,
  labels: { [appNameLabel]: key.name },
});
