/** The input of an edit of a pod: the pod's role, and the application's spec. */
import type { SparkApplicationSpec } from "../../schema/application.ts";
import type { SparkPodSpec } from "../../schema/pod.ts";
import type { Role } from "../arguments/pod.ts";
import type { SparkPod } from "./pod.ts";

export type PodSource = {
  readonly role: Role;
  readonly name: string;
  readonly spec: SparkApplicationSpec;
  readonly own: SparkPodSpec;
};

export type Edit = (pod: SparkPod, source: PodSource) => SparkPod;
