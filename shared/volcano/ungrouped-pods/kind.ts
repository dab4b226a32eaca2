/** The declaration of the kind Pod: pods of Volcano's scheduler that others create, each of which gets a PodGroup. */
import type { DeclaredKind } from "../../kube/declared-kind.ts";
import { pods } from "../../kube/resources.ts";
import { podGroups } from "../schema/resource.ts";

export const pod = {
  resource: pods,
  family: "volcano",
  shortNames: ["po"],
  group: podGroups.group,
} as const satisfies DeclaredKind;
