/** Service accounts of pods, and the rights that an account may have in all namespaces. */
import { isRecord } from "../core/json.ts";
import type { Obj } from "../core/object.ts";

/** A right in all namespaces: one of the verbs on one of the resources of the group suffices. */
export type ClusterRight = {
  readonly group: string;
  /** Resources, those of subresources as `jobs/status`. */
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
};

export type Account = { readonly namespace: string; readonly name: string };

/** The account of a pod, or of a pod's spec in this namespace. */
export const accountIn = (namespace: string, podSpec: unknown): Account => {
  const name = isRecord(podSpec) ? podSpec["serviceAccountName"] : undefined;
  return { namespace, name: typeof name === "string" && name !== "" ? name : "default" };
};

export const accountOf = ({ metadata: { namespace = "" }, ...pod }: Obj): Account => accountIn(namespace, pod.spec);

export const accountText = ({ namespace, name }: Account): string => `${namespace}/${name}`;
