/**
 * The queue that a namespace names for its groups. Admission writes it into new groups; without admission the round does,
 * before it looks at a new group for the first time. A group that has been looked at stays in its queue.
 */

import { all, getIfAllowed, type Reads } from "../../core/decision.ts";
import { fieldsOf, recordsIn } from "../../core/json.ts";
import type { Stored } from "../../core/object.ts";
import { queueNameKey } from "../../kube/gang-members.ts";
import { isWaiting } from "../../kube/gang-plan.ts";
import { namespaces } from "../../kube/resources.ts";
import { isStored } from "../../kube/responses.ts";
import { defaultName, queueOfGroup } from "../queue/state/tree.ts";

/** A new group that belongs to another queue than it names. */
export type Move = { readonly group: Stored; readonly queue: string };

/** The most namespaces that are read in one round. */
const mostNamespaces = 50;

/** True for a group without a word about it: each group that a round leaves waiting has a condition. */
const isNewInDefault = (group: Stored): boolean =>
  isWaiting(group) &&
  recordsIn(fieldsOf(group.status)["conditions"]).length === 0 &&
  queueOfGroup(group) === defaultName;

const namespaceOf = ({ metadata: { namespace = "" } }: Stored): string => namespace;

function* readQueue(name: string): Reads<readonly [string, string]> {
  const found = yield* getIfAllowed({ resource: namespaces, name });
  const annotations = found.heard && isStored(found.value) ? found.value.metadata.annotations : undefined;
  const queue = annotations?.[queueNameKey];
  return [name, typeof queue === "string" && queue !== "" ? queue : defaultName];
}

/** `moves`: groups that are to be moved; `unread`: groups of namespaces that the next round reads. */
export type NamespaceQueues = { readonly moves: readonly Move[]; readonly unread: ReadonlySet<string> };

/** Finds the new groups that their namespaces have in another queue. */
export function* readMoves(groups: readonly Stored[]): Reads<NamespaceQueues> {
  const fresh = groups.filter(isNewInDefault);
  const names = [...new Set(fresh.map(namespaceOf))];
  const queues = new Map(yield* all(names.slice(0, mostNamespaces).map(readQueue)));
  return {
    moves: fresh.flatMap((group): readonly Move[] => {
      const queue = queues.get(namespaceOf(group)) ?? defaultName;
      return queue === defaultName ? [] : [{ group, queue }];
    }),
    unread: new Set(fresh.filter((group) => !queues.has(namespaceOf(group))).map(({ metadata }) => metadata.uid)),
  };
}
