/** The CRDs of Volcano's resources that have no steps of their own. */
import * as z from "zod";
import { commands, podGroups } from "../shared/volcano/schema/resource.ts";
import type { Definition } from "./definition.ts";

/** Kept whole: the kind belongs to the scheduler, which writes fields of its own. */
const open = z.looseObject({});

const podGroup: Definition = {
  resource: podGroups,
  short: ["pg", "podgroup-v1beta1"],
  columns: [
    { name: "STATUS", type: "string", jsonPath: ".status.phase" },
    { name: "minMember", type: "integer", jsonPath: ".spec.minMember" },
    { name: "RUNNINGS", type: "integer", jsonPath: ".status.running" },
    { name: "AGE", type: "date", jsonPath: ".metadata.creationTimestamp" },
    { name: "QUEUE", type: "string", jsonPath: ".spec.queue", priority: 1 },
  ],
  spec: open,
  status: open,
  plainStatus: true,
  limits: {},
};

const command: Definition = {
  resource: commands,
  short: [],
  columns: [],
  fields: {
    action: z.string().optional(),
    message: z.string().optional(),
    reason: z.string().optional(),
    target: z
      .looseObject({
        ...{ apiVersion: z.string(), kind: z.string(), name: z.string(), uid: z.string() },
        ...{ controller: z.boolean().optional(), blockOwnerDeletion: z.boolean().optional() },
      })
      .optional(),
  },
};

export const companionDefinitions: readonly Definition[] = [podGroup, command];
