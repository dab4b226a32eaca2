/** Fields of a built pod that the API server refuses, or that a kubelet takes otherwise than their user means. */
import type { Obj } from "../../core/object.ts";
import { earlyReferences, podFaults } from "../../kube/pod-faults.ts";

/** One sentence for each. `role`: the field of the spec that describes the pod. */
export const podOddities = (role: "driver" | "executor" | "server", pod: Obj): readonly string[] => [
  ...podFaults(pod).map((says) => `spec.${role}: the API server will refuse the ${role}'s pod: ${says}`),
  ...earlyReferences(pod).map((says) => `spec.${role}.env: ${says}`),
];
