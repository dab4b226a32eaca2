/** What the API server or a kubelet makes of a pod otherwise than its user means, read from the pod as it is built. */
import type { Obj } from "../../core/object.ts";
import { earlyReferences, podFaults } from "../../kube/pod-faults.ts";

/** One sentence for each. `role`: the field of the spec that describes the pod. */
export const podOddities = (role: "driver" | "executor" | "server", pod: Obj): readonly string[] => [
  ...podFaults(pod).map((says) => `spec.${role}: the API server will refuse the ${role}'s pod: ${says}`),
  ...earlyReferences(pod).map((says) => `spec.${role}.env: ${says}`),
];
