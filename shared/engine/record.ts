/** The checkpoint record's door: what is stored is parsed before anything of it is believed. */
import * as z from "zod";
import { outboxShape, positionShape } from "./outbox.ts";
import type { CheckpointRecord } from "./ports.ts";

const shape = z.looseObject({
  schema: z.literal(1),
  cluster: z.string().min(1),
  uid: z.string().min(1),
  saves: z.number().int().min(1),
  generation: z.number().int().optional(),
  labels: z.record(z.string(), z.string()).optional(),
  rests: z.boolean().optional(),
  wakeAt: z.number().optional(),
  waitsFor: z.string().optional(),
  status: z.object({ wished: z.string(), answered: z.string() }).optional(),
  trouble: z.object({ reason: z.string(), message: z.string(), since: z.number() }).optional(),
  outbox: outboxShape.optional(),
  acknowledged: positionShape.optional(),
  memory: z.unknown(),
});

export type ReadRecord =
  | { readonly ok: true; readonly record: CheckpointRecord }
  | { readonly ok: false; readonly error: string };

/** Reads a stored record; what does not parse is told field by field. */
export const readRecord = (stored: unknown): ReadRecord => {
  const parsed = shape.safeParse(stored);
  if (!parsed.success) {
    const where = parsed.error.issues.map((issue) => `${issue.path.join(".") || "record"}: ${issue.message}`);
    return { ok: false, error: `checkpoint cannot be read (${where.join("; ")})` };
  }
  const { data } = parsed;
  return { ok: true, record: { ...drop(data) } };
};

/** Optional fields that are absent stay absent. */
const drop = (data: z.infer<typeof shape>): CheckpointRecord => ({
  schema: 1,
  cluster: data.cluster,
  uid: data.uid,
  saves: data.saves,
  ...(data.generation === undefined ? {} : { generation: data.generation }),
  ...(data.labels === undefined ? {} : { labels: data.labels }),
  ...(data.rests === undefined ? {} : { rests: data.rests }),
  ...(data.wakeAt === undefined ? {} : { wakeAt: data.wakeAt }),
  ...(data.waitsFor === undefined ? {} : { waitsFor: data.waitsFor }),
  ...(data.status === undefined ? {} : { status: data.status }),
  ...(data.trouble === undefined ? {} : { trouble: data.trouble }),
  ...(data.outbox === undefined ? {} : { outbox: data.outbox }),
  ...(data.acknowledged === undefined ? {} : { acknowledged: data.acknowledged }),
  memory: data.memory,
});
