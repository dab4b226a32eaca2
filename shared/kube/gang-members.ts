/** The members of a group of pods that starts whole: what a plan of their places reads of their specs. */
import { recordsIn } from "../core/json.ts";
import type { Json } from "./responses.ts";
import { only } from "./trim.ts";

const ofContainer = ["name", "image", "restartPolicy", "resources", "ports"] as const;

const ofPod = [
  ...["nodeSelector", "affinity", "tolerations", "nodeName", "hostNetwork", "topologySpreadConstraints"],
  ...["resourceClaims", "overhead", "resources", "priorityClassName", "restartPolicy", "schedulerName"],
] as const;

/** Keeps of a pod's spec what the placing of its pods on nodes depends on. */
export const schedulingPart = (spec: Json): Json => ({
  ...only(spec, ofPod),
  ...Object.fromEntries(
    ["containers", "initContainers"].flatMap((list) => {
      const containers = recordsIn(spec[list]);
      return containers.length === 0 ? [] : [[list, containers.map((one) => only(one, ofContainer))]];
    }),
  ),
});
