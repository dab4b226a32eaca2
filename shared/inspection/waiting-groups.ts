/**
 * PodGroups that wait to be admitted: each with its position in its queue, and the reason in its status, as `rekindle
 * status` and `rekindle queue get` show them.
 */
import * as z from "zod";
import { openCluster } from "../adapters/kubernetes/cluster.ts";
import { pages } from "../adapters/kubernetes/requests.ts";
import { ApiError, type Transport } from "../core/http.ts";
import { fieldsOf } from "../core/json.ts";
import type { Resource, Stored } from "../core/object.ts";
import { instantOf } from "../core/time.ts";
import { byRank, rankedInQueue } from "../kube/queue-order.ts";
import { priorityClasses } from "../kube/resources.ts";
import { podGroups } from "../volcano/schema/resource.ts";
import { notServed } from "./io/refusal.ts";
import { columns, spanText } from "./io/text.ts";

export type WaitingGroup = {
  readonly group: Stored;
  readonly queue: string;
  /** From 1 on. */
  readonly position: number;
  /** The number of groups that wait in the queue. */
  readonly of: number;
  /** The reason in its status; "" before it has one. */
  readonly why: string;
  /** The component that writes its status, and so admits it; undefined before its first write. */
  readonly admitter: "Rekindle" | "Volcano's scheduler" | undefined;
};

const conditions = z
  .array(
    z
      .object({ type: z.string(), status: z.string(), message: z.string().catch("") })
      .catch({ type: "", status: "", message: "" }),
  )
  .catch([]);

const whyOf = (group: Stored): string =>
  conditions
    .parse(fieldsOf(group.status)["conditions"])
    .findLast(({ type, status }) => type === "Unschedulable" && status === "True")?.message ?? "";

const shares = z.array(z.object({ manager: z.string() }).catch({ manager: "" })).catch([]);

/** A group has one admitter: Volcano's scheduler writes its whole status, and Rekindle stands by where that lives. */
const admitterOf = (group: Stored): WaitingGroup["admitter"] => {
  const managers = shares.parse(fieldsOf(group.metadata)["managedFields"]).map(({ manager }) => manager);
  if (managers.includes("vc-scheduler")) return "Volcano's scheduler";
  return managers.some((manager) => manager.startsWith("rekindle")) && whyOf(group) !== "" ? "Rekindle" : undefined;
};

/** True of a group that waits to be admitted. */
export const isWaiting = (group: Stored): boolean => {
  const { phase = "" } = fieldsOf(group.status);
  return (phase === "" || phase === "Pending") && group.metadata.deletionTimestamp === undefined;
};

export const queueOf = (group: Stored): string => {
  const { queue } = fieldsOf(group.spec);
  return typeof queue === "string" && queue !== "" ? queue : "default";
};

const classOf = (group: Stored): string => {
  const { priorityClassName } = fieldsOf(group.spec);
  return typeof priorityClassName === "string" ? priorityClassName : "";
};

/** Returns the groups that wait in a queue, in the order in which they are admitted. */
export const waitingIn = (
  queue: string,
  groups: readonly Stored[],
  priorities: ReadonlyMap<string, number>,
): readonly WaitingGroup[] =>
  groups
    .filter((group) => isWaiting(group) && queueOf(group) === queue)
    .map((group) => rankedInQueue(group, priorities))
    .toSorted(byRank)
    .map(({ group }, at, all) => ({
      group,
      queue,
      position: at + 1,
      of: all.length,
      why: whyOf(group),
      admitter: admitterOf(group),
    }));

/** Returns the text that follows "waits for". */
export const waitingText = ({ position, of, queue, why, admitter }: WaitingGroup): string => {
  const by = admitter === undefined ? "" : ` by ${admitter}`;
  return `its group to be admitted${by} (position ${position} of ${of} in queue ${queue})${why === "" ? "" : `: ${why}`}`;
};

/** Returns the table of groups that wait in a queue; "" if none does. */
export const waitingTable = (waiting: readonly WaitingGroup[], now: number): string =>
  waiting.length === 0
    ? ""
    : columns([
        ["Position", "Namespace", "PodGroup", "Age", "Reason"],
        ...waiting.map(({ group: { metadata }, position, why }) => [
          ...[`${position}`, metadata.namespace ?? "", metadata.name],
          ...[spanText(now - (instantOf(metadata.creationTimestamp) ?? now)), why],
        ]),
      ]);

export const allOf = async (transport: Transport, resource: Resource): Promise<readonly Stored[]> => {
  const found: Stored[] = [];
  for await (const page of pages(transport, { resource, namespace: "" })) found.push(...page.items);
  return found;
};

/** Lists a kind of all namespaces; undefined without the right to list it or without its CRD; `warn` gets the reason. */
export const listedOrNone = async (
  transport: Transport,
  resource: Resource,
  warn: (why: string) => void = () => {},
): Promise<readonly Stored[] | undefined> => {
  try {
    return await allOf(transport, resource);
  } catch (cause) {
    if (!(cause instanceof ApiError) || (cause.status !== 403 && !notServed(cause))) throw cause;
    warn(cause.message);
    return undefined;
  }
};

/** Reads the values of all priority classes; undefined without the right to. */
export const readPriorities = async (transport: Transport): Promise<ReadonlyMap<string, number> | undefined> => {
  const classes = await listedOrNone(transport, priorityClasses);
  return (
    classes && new Map(classes.map(({ metadata: { name }, value }) => [name, typeof value === "number" ? value : 0]))
  );
};

/** The most priority classes that are read by their names. */
const mostClasses = 20;

/**
 * Reads the classes that groups name one by one, for an account that may not list them; undefined without the right, and
 * for too many names.
 */
export const readNamedPriorities = async (
  transport: Transport,
  groups: readonly Stored[],
): Promise<ReadonlyMap<string, number> | undefined> => {
  const names = new Set(groups.map(classOf).filter((name) => name !== ""));
  if (names.size > mostClasses) return undefined;
  try {
    const values = [...names].map(async (name) => {
      const { value } = await openCluster(transport).get({ resource: priorityClasses, name });
      return [name, typeof value?.["value"] === "number" ? value["value"] : 0] as const;
    });
    return new Map(await Promise.all(values));
  } catch (cause) {
    if (!(cause instanceof ApiError) || cause.status !== 403) throw cause;
    return undefined;
  }
};

/** Returns the waiting group of an object; undefined if none of its groups waits, or the caller may not list what decides. */
export const waitingGroupOf = async (
  transport: Transport,
  { metadata: { uid } }: Stored,
): Promise<WaitingGroup | undefined> => {
  const groups = await listedOrNone(transport, podGroups);
  const own = groups?.find(
    (group) => isWaiting(group) && group.metadata.ownerReferences?.some((owner) => owner.uid === uid),
  );
  if (own === undefined || groups === undefined) return undefined;
  const rivals = groups.filter((group) => isWaiting(group) && queueOf(group) === queueOf(own));
  const priorities = (await readPriorities(transport)) ?? (await readNamedPriorities(transport, rivals));
  return priorities && waitingIn(queueOf(own), rivals, priorities).find(({ group }) => group === own);
};
