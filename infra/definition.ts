/** The definition that a CRD is generated from: the part of a kind, with its names. */
import type { Resource } from "../shared/core/object.ts";
import type { KindDefinition } from "../shared/kube/kind-definition.ts";

export type Definition = KindDefinition & {
  readonly resource: Resource;
  readonly short: readonly string[];
  /** Absent: namespaced. */
  readonly scope?: "Cluster";
};
