/**
 * The groups that wait in the queues, in the order of their admission, each with what it lacks. They are listed while
 * somebody looks, at most once in five seconds for all viewers of the process. A viewer of some namespaces gets the
 * groups of these, with their positions among all.
 */

import type { Transport } from "../../core/http.ts";
import { ownerOfKind, type Stored } from "../../core/object.ts";
import { instantOf } from "../../core/time.ts";
import {
  isWaiting,
  listedOrNone,
  queueOf,
  readNamedPriorities,
  readPriorities,
  waitingIn,
} from "../../inspection/waiting-groups.ts";
import type { WaitingInQueue } from "../../page/answers.ts";
import { jobs, podGroups } from "../../volcano/schema/resource.ts";

/** The shortest time between two lists, ms, and the times of a list that passes between two: long ones become rare. */
const shortestMs = 5_000;
const share = 10;
/** The most groups of an answer. */
const mostGroups = 200;
/** A longer reason is cut off, characters. */
const longestWhy = 500;

type Row = WaitingInQueue["groups"][number];

/** Rows by queue; undefined: this account may not read what the order depends on. */
type Order = ReadonlyMap<string, readonly Row[]> | undefined;

/** By name first: functions may not list the classes, and are not refused each time. */
const readPriorityValues = async (transport: Transport, groups: readonly Stored[]) =>
  (await readNamedPriorities(transport, groups)) ?? (await readPriorities(transport));

const orderNow = async (transport: Transport): Promise<Order> => {
  const groups = (await listedOrNone(transport, podGroups))?.filter(isWaiting);
  const priorities = groups && (await readPriorityValues(transport, groups));
  if (groups === undefined || priorities === undefined) return undefined;
  const rows = new Map<string, readonly Row[]>();
  for (const [queue, ofQueue] of Map.groupBy(groups, queueOf))
    rows.set(
      queue,
      waitingIn(queue, ofQueue, priorities).map(({ group, group: { metadata }, position, why }) => ({
        ...{ namespace: metadata.namespace ?? "", name: metadata.name, position, why: why.slice(0, longestWhy) },
        owner: ownerOfKind(group, jobs)?.name ?? "",
        since: instantOf(metadata.creationTimestamp) ?? 0,
      })),
    );
  return rows;
};

/** Returns what waits in a queue, as a viewer of these namespaces (empty: all) may see it. */
export type Waiting = (queue: string, namespaces: readonly string[]) => Promise<WaitingInQueue | undefined>;

/** `now`: monotonic, ms. */
export const openWaiting = (transport: Transport, now: () => number = () => performance.now()): Waiting => {
  let dueAt = Number.NEGATIVE_INFINITY;
  let order: Promise<Order> = Promise.resolve(undefined);
  const read = (): Promise<Order> => {
    if (now() < dueAt) return order;
    const began = now();
    dueAt = Number.POSITIVE_INFINITY;
    order = orderNow(transport).finally(() => {
      dueAt = now() + Math.max(shortestMs, (now() - began) * share);
    });
    return order;
  };
  return async (queue, namespaces) => {
    const rows = (await read())?.get(queue) ?? ((await order) === undefined ? undefined : []);
    if (rows === undefined) return undefined;
    const seen = rows.filter(({ namespace }) => namespaces.length === 0 || namespaces.includes(namespace));
    return { of: rows.length, groups: seen.slice(0, mostGroups), more: Math.max(0, seen.length - mostGroups) };
  };
};
