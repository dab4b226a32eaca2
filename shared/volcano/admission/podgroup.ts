/** Admission of a PodGroup: the queue of its namespace, and the rules of upstream's webhook, in its words. */
import * as z from "zod";
import type { AdmittedObject, PatchOperation } from "../../kube/admission.ts";
import { explain, telling } from "../../kube/explain.ts";
import { isRecord } from "../../kube/responses.ts";
import { withoutNulls } from "../schema/absent.ts";
import type { QueueView } from "../schema/queue.ts";
import { notFound } from "./tree.ts";

const topology = z
  .looseObject({ highestTierAllowed: z.int().optional(), highestTierName: z.string().optional() })
  .optional();

const shape = z.looseObject({
  queue: z.string().optional(),
  networkTopology: topology,
  subGroupPolicy: z.array(z.looseObject({ name: z.string().optional(), networkTopology: topology })).optional(),
});

/** Finds a queue by its name. Without this function the queues could not be read. */
export type FindQueue = (name: string) => QueueView | undefined;

const queueSaying = (name: string, find: FindQueue | undefined): string => {
  if (name === "" || find === undefined) return "";
  const queue = find(name);
  if (queue === undefined) return `unable to find queue: ${notFound(name)}`;
  return queue.state === "Open"
    ? ""
    : `can only submit PodGroup to queue with state \`Open\`, queue \`${name}\` status is \`${queue.state}\`.`;
};

const twoTiers = "must not specify 'highestTierAllowed' and 'highestTierName' in networkTopology simultaneously.";

const hasBoth = (one: z.infer<typeof topology>): boolean =>
  one?.highestTierAllowed !== undefined && (one.highestTierName ?? "") !== "";

const topologySaying = ({ networkTopology, subGroupPolicy = [] }: z.infer<typeof shape>): string =>
  [
    ...(hasBoth(networkTopology) ? [twoTiers] : []),
    ...subGroupPolicy
      .filter((policy) => hasBoth(policy.networkTopology))
      .map(({ name = "" }) => `in subGroupPolicy '${name}': ${twoTiers}`),
  ].join(" ");

/** Returns why a new group is refused; empty if it may be stored. */
export const groupSaying = ({ spec }: AdmittedObject, find: FindQueue | undefined): string => {
  const parsed = shape.safeParse(withoutNulls(spec ?? {}), telling);
  if (!parsed.success) return explain(parsed.error);
  return [queueSaying(parsed.data.queue ?? "", find), topologySaying(parsed.data)].filter(Boolean).join("; ");
};

const queueOfNamespace = "scheduling.volcano.sh/queue-name";

/** True if the group's namespace may name another queue for it. */
export const asksNamespace = ({ spec }: AdmittedObject): boolean => isRecord(spec) && spec["queue"] === "default";

/** Replaces the default queue by the one that the namespace names. */
export const groupPatch = (
  object: AdmittedObject,
  annotations: Readonly<Record<string, string>>,
): readonly PatchOperation[] => {
  const queue = annotations[queueOfNamespace];
  return queue === undefined || !asksNamespace(object) ? [] : [{ op: "add", path: "/spec/queue", value: queue }];
};
