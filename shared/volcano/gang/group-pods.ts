/** The pods of groups, and of the tasks of a group, among those of the cluster. */
import type { Stored } from "../../core/object.ts";
import { keys } from "../schema/resource.ts";

const groupKey = (namespace: string, group: string): string => `${namespace}/${group}`;

/** Returns the key under which `byGroup` has the pods of a group. */
export const keyOf = ({ metadata: { namespace = "", name } }: Stored): string => groupKey(namespace, name);

/** The pods of each group. */
export const byGroup = (pods: readonly Stored[]): ReadonlyMap<string, readonly Stored[]> =>
  Map.groupBy(
    pods.filter(({ metadata }) => metadata.annotations?.[keys.group] !== undefined),
    ({ metadata }) => groupKey(metadata.namespace ?? "", metadata.annotations?.[keys.group] ?? ""),
  );

export const ofTask = (pods: readonly Stored[], task: string): readonly Stored[] =>
  pods.filter(({ metadata }) => metadata.annotations?.[keys.taskSpec] === task);
