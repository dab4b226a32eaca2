/** Queues in the columns of vcctl. The PodGroups of each are counted here, for no controller writes their numbers. */
import * as z from "zod";
import type { Stored } from "../../core/object.ts";
import { isRecord } from "../../kube/responses.ts";
import { columns } from "../io/text.ts";

const shape = z.looseObject({
  spec: z.looseObject({ weight: z.number().optional(), parent: z.string().optional() }).nullish(),
  status: z.looseObject({ state: z.string().optional() }).nullish(),
});

const phases = ["Inqueue", "Pending", "Running", "Unknown", "Completed"] as const;

const heads = ["Name", "Weight", "State", "Parent", ...phases];

const fieldOf = (object: Stored, part: string, field: string): unknown => {
  const inner = object[part];
  return isRecord(inner) ? inner[field] : undefined;
};

/** A PodGroup without a phase is pending. */
const phaseOf = (group: Stored): unknown => fieldOf(group, "status", "phase") ?? "Pending";

const row = (queue: Stored, groups: readonly Stored[]): readonly string[] => {
  const { spec, status } = shape.safeParse(queue).data ?? {};
  const own = groups.filter((group) => (fieldOf(group, "spec", "queue") ?? "default") === queue.metadata.name);
  return [
    queue.metadata.name,
    `${spec?.weight ?? 0}`,
    status?.state ?? "",
    spec?.parent ?? "",
    ...phases.map((phase) => `${own.filter((group) => phaseOf(group) === phase).length}`),
  ];
};

/** As `vcctl queue list` and `get`. */
export const tableOf = (queues: readonly Stored[], groups: readonly Stored[]): string =>
  queues.length === 0 ? "No resources found" : columns([heads, ...queues.map((queue) => row(queue, groups))]);
