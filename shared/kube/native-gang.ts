/**
 * PodGroups of Kubernetes 1.37 (`scheduling.k8s.io/v1beta1`): kube-scheduler binds pods that name one only together, at
 * least `minCount` of them. Rekindle uses them for the pods of a group that has the annotation.
 */
import { fieldsOf } from "../core/json.ts";
import type { Obj, Ref, Resource, Stored } from "../core/object.ts";

export const nativeGroups: Resource = {
  ...{ group: "scheduling.k8s.io", version: "v1beta1" },
  ...{ plural: "podgroups", kind: "PodGroup" },
};

/** The object that exists while the API server serves these PodGroups. */
export const nativeApi: Ref = {
  resource: {
    ...{ group: "apiregistration.k8s.io", version: "v1" },
    ...{ plural: "apiservices", kind: "APIService" },
  },
  name: "v1beta1.scheduling.k8s.io",
};

/** Annotation of a PodGroup of Volcano that was admitted for a PodGroup of Kubernetes. */
export const nativeKey = "rekindle.dev/native-gang";

/** True for a group whose pods name a PodGroup of Kubernetes. */
export const isNative = (group: Stored | undefined): boolean => group?.metadata.annotations?.[nativeKey] === "true";

/** Returns the specification of a gang of so many pods. */
export const gangOf = (minCount: number): Readonly<Record<string, unknown>> => ({
  schedulingPolicy: { gang: { minCount } },
});

/** Returns the number of pods that are bound together; undefined if the group states none. */
export const minCountOf = (group: Obj): number | undefined => {
  const { minCount } = fieldsOf(fieldsOf(fieldsOf(group.spec)["schedulingPolicy"])["gang"]);
  return typeof minCount === "number" ? minCount : undefined;
};
