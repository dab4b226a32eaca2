/** The declaration of the kind Queue. */
import type { DeclaredKind } from "../../kube/declared-kind.ts";
import { queues } from "../schema/resource.ts";

export const queue = {
  resource: queues,
  family: "volcano",
  shortNames: ["q", "queue-v1beta1"],
  scope: "Cluster",
} as const satisfies DeclaredKind;
