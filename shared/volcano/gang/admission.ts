/**
 * Decides which groups of pods are admitted and why the others wait: by the state of their queue, by the capability and
 * the guarantees of the queue and its ancestors, and with `gang: builtin` by the room of the nodes for their whole
 * minimum. No other place decides this.
 */
import type { Stored } from "../../core/object.ts";
import { lineOf, queueOfGroup, shownState, specOf } from "../queue/state/tree.ts";
import type { Answer, Obstacle, OpenGround } from "./ground.ts";
import { enter, type Ledger, needOf, openLedger, shortage } from "./ledger.ts";
import { isWaiting, phaseOf } from "./phase.ts";
import type { Place } from "./plan.ts";
import { inTurn } from "./turns.ts";

export type Verdict =
  /** `places`: the plan of its minimum; empty where groups are admitted without a look at nodes. */
  | { readonly group: Stored; readonly enters: true; readonly places: readonly Place[] }
  | ({ readonly group: Stored; readonly enters: false } & Obstacle);

/** The input of the decision: all queues, all groups, and the priorities of the classes that groups name. */
export type Hall = {
  readonly queues: readonly Stored[];
  readonly groups: readonly Stored[];
  readonly priorities: ReadonlyMap<string, number>;
  /** The room of nodes, and the demands of groups on it; absent: groups are admitted without a look at nodes. */
  readonly ground?: OpenGround;
};

const holding = ["Inqueue", "Running", "Unknown"];

/** Returns why a group must wait; undefined if it may be admitted. */
const obstacle = (ledger: Ledger, line: readonly Stored[], group: Stored): string | undefined => {
  const [own] = line;
  const name = queueOfGroup(group);
  if (own === undefined) return `queue ${name} is not found`;
  if (shownState(own) !== "Open") return `queue ${name} is ${shownState(own)}`;
  return shortage(ledger, line, needOf(ledger, group));
};

const isFifo = (queue: Stored | undefined): boolean =>
  queue !== undefined && specOf(queue)["dequeueStrategy"] === "fifo";

/** Returns a verdict for every waiting group, in their order. In a `fifo` queue no group passes one before it. */
export const verdictsOf = (hall: Hall): readonly Verdict[] => {
  const queues = new Map(hall.queues.map((queue) => [queue.metadata.name, queue]));
  const ledger = openLedger(hall.queues);
  for (const group of hall.groups.filter((one) => holding.includes(phaseOf(one))))
    enter(ledger, lineOf(queueOfGroup(group), queues), needOf(ledger, group));
  const blocked = new Set<string>();
  const answerTo = (group: Stored): Answer => {
    const name = queueOfGroup(group);
    const why = blocked.has(name)
      ? `others come before it in queue ${name}`
      : obstacle(ledger, lineOf(name, queues), group);
    if (why !== undefined) return { enters: false, why };
    return hall.ground?.ask(group) ?? { enters: true, places: [] };
  };
  return Array.from(inTurn(hall.groups.filter(isWaiting), queues, hall.priorities, ledger), (group): Verdict => {
    const name = queueOfGroup(group);
    const line = lineOf(name, queues);
    const answer = answerTo(group);
    if (answer.enters) enter(ledger, line, needOf(ledger, group));
    else if (isFifo(queues.get(name))) blocked.add(name);
    return { group, ...answer };
  });
};
