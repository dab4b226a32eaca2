/** The root queue's memory of admission rounds, of evictions for groups, and of the cluster's own gangs. */
import * as z from "zod";
import { instant } from "../../../kube/schema.ts";

/** A group that gets the room of evicted pods: saved before the first of them is evicted. */
const nomination = z.object({
  /** The UID of the group, and `NAMESPACE/NAME`. */
  uid: z.string(),
  group: z.string(),
  /** When it was saved first, epoch ms. */
  at: instant,
  /** The rule by which it gets the room. */
  way: z.enum(["preempt", "reclaim"]),
  /** The places of its minimum, once the pods have ended. */
  places: z.array(z.object({ task: z.string(), node: z.string(), count: z.number().int().positive() })),
  /** By the UID of each group that gives room: its pods by UID; `whole`: these are all that it has. */
  victims: z.record(z.string(), z.object({ whole: z.boolean(), pods: z.record(z.string(), z.string()) })),
});

/** With `gang: native`: the finding about the cluster's own gangs, and the objects of the probe that are still there. */
const nativeProbe = z.object({
  is: z.enum(["created", "lowered", "deleted", "on", "off"]),
  /** When that began, epoch ms. */
  at: instant,
  /** Why PodGroups of Kubernetes are not used. */
  why: z.string().optional(),
  probe: z.object({ namespace: z.string(), name: z.string(), uid: z.string() }).optional(),
  /** A later step has found objects of the probe missing, and has created them again. */
  retried: z.boolean().optional(),
  /** Namespaces in which the objects of a probe could not be created. */
  avoids: z.array(z.string()).optional(),
});

/** Fields of a queue's memory; the root queue alone has them. */
export const roundMemory = {
  /** The component that admits groups of pods, as it was reported last. */
  admits: z.string().optional(),
  /** When a search of the pods found no scheduler, epoch ms. */
  searchedAt: z.number().optional(),
  /** A scheduler that runs and admits nothing was reported. */
  silent: z.boolean().optional(),
  /** With `gang: builtin`: the groups that the latest round has admitted by plans. */
  planning: z
    .object({
      /** When the round was saved, epoch ms. */
      at: instant,
      /** By the UID of each group: the resourceVersion that its write requires. */
      groups: z.record(z.string(), z.string()),
    })
    .optional(),
  /** With `gangEvict`: groups that get the room of evicted pods. */
  nominations: z.array(nomination).optional(),
  /** With `gang: native`. */
  native: nativeProbe.optional(),
};

export type NativeProbe = z.infer<typeof nativeProbe>;

export type Nomination = z.infer<typeof nomination>;
