/**
 * The members of a group of pods that starts whole, as the creator of its PodGroup states them in an annotation: their
 * numbers, and what a plan of their places reads of their specs. A Job's group needs no such annotation, because the
 * Job says what its pods are.
 */
import * as z from "zod";
import { jsonOf, recordsIn } from "../core/json.ts";
import type { Stored } from "../core/object.ts";
import type { Json } from "./responses.ts";
import { only } from "./trim.ts";

/** Annotation of a PodGroup: its members. */
export const membersKey = "rekindle.dev/members";

/** Annotations of a pod: its group, and its task in the group. */
export const memberKeys = { group: "scheduling.k8s.io/group-name", task: "volcano.sh/task-spec" } as const;

/** Annotation of a pod, an application or a namespace: the queue of the group of its pods. */
export const queueNameKey = "scheduling.volcano.sh/queue-name";

/** The most characters of the annotation. */
export const mostMembersText = 32_768;

/** The most pods of a group, as of a job. */
const mostPods = 100_000;

const member = z.object({
  task: z.string().min(1).max(63),
  count: z.int().min(1).max(mostPods),
  /** The part of the pods' spec that `schedulingPart` keeps. */
  spec: z.record(z.string(), z.unknown()),
  labels: z.record(z.string(), z.string()).default({}),
  /** The task whose pod creates these pods once it runs. */
  after: z.string().optional(),
});

const shape = z.object({
  members: z.array(member).min(1).max(16),
  /** The group is taken back also while a pod runs that other members come after. */
  required: z.boolean().default(false),
});

export type GangMembers = z.infer<typeof shape>;

/** Returns what a group states of its members; undefined if it states nothing that can be read. */
export const membersOf = ({ metadata: { annotations = {} } }: Stored): GangMembers | undefined => {
  const text = annotations[membersKey];
  return text === undefined || text.length > mostMembersText ? undefined : shape.safeParse(jsonOf(text)).data;
};

const ofContainer = ["name", "image", "restartPolicy", "resources", "ports"] as const;

const ofPod = [
  ...["nodeSelector", "affinity", "tolerations", "nodeName", "hostNetwork", "topologySpreadConstraints"],
  ...[
    "resourceClaims",
    "runtimeClassName",
    "overhead",
    "resources",
    "priorityClassName",
    "preemptionPolicy",
    "restartPolicy",
    "schedulerName",
  ],
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
