/** The phase of a group, as Volcano's scheduler and Rekindle write it. */
import type { Stored } from "../../core/object.ts";
import { isEnding } from "../../kube/pods.ts";
import { statusOf } from "../queue/state/tree.ts";

export const phaseOf = (group: Stored): string => {
  const { phase } = statusOf(group);
  return typeof phase === "string" ? phase : "";
};

/** True for a group that is still to be admitted. */
export const isWaiting = (group: Stored): boolean => ["", "Pending"].includes(phaseOf(group)) && !isEnding(group);
