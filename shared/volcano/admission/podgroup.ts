/** Admission of a PodGroup: the queue of its namespace, and the rules of upstream's webhook, in its words. */

import * as z from "zod";
import { isRecord } from "../../core/json.ts";
import type { AdmittedObject, PatchOperation } from "../../kube/admission.ts";

import { explain, telling } from "../../kube/schema.ts";
import { withoutNulls } from "../schema/fields.ts";
import { keys } from "../schema/resource.ts";
import { notFound, type QueueView } from "./tree.ts";

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

const podShape = z.looseObject({
  metadata: z.looseObject({ annotations: z.record(z.string(), z.string()).optional() }),
  spec: z.looseObject({ schedulerName: z.string().optional() }).optional(),
});

const budgets = [keys.jdbMinAvailable, keys.jdbMaxUnavailable] as const;

const int32 = /^[+-]?\d+$/;

/** Reads a whole number as Go does; undefined if the text is none. */
const wholeOf = (text: string): number | undefined => {
  const value = int32.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(value) ? value : undefined;
};

const budgetSaying = (key: string, text: string): string | undefined => {
  const quoted = JSON.stringify(text);
  const count = wholeOf(text);
  if (count !== undefined)
    return count > 0 ? undefined : `invalid value <${quoted}> for ${key}, it must be a positive integer`;
  const bare = text.replaceAll("%", "");
  const share = wholeOf(bare);
  if (share === undefined)
    return `invalid value strconv.Atoi: parsing ${JSON.stringify(bare)}: invalid syntax for ${key}`;
  return share > 0 && share < 100
    ? undefined
    : `invalid value <${quoted}> for ${key}, it must be a valid percentage which between 1% ~ 99%`;
};

/** Returns why a pod is refused; empty if it may be created. Pods of other schedulers are not checked. */
export const podSaying = (object: AdmittedObject, schedulers: readonly string[] = ["volcano"]): string => {
  const parsed = podShape.safeParse(object);
  if (!parsed.success || !schedulers.includes(parsed.data.spec?.schedulerName ?? "")) return "";
  const { annotations = {} } = parsed.data.metadata;
  const given = budgets.filter((key) => annotations[key] !== undefined);
  const wrong = given.map((key) => budgetSaying(key, annotations[key] ?? "")).find((saying) => saying !== undefined);
  if (wrong !== undefined) return wrong;
  return given.length > 1 ? `not allow configure multiple annotations <[${budgets.join(" ")}]> at same time` : "";
};
