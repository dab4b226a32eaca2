/**
 * Decides which groups of pods are admitted and why the others wait. Groups are looked at one at a time, as in volcano's
 * allocate: each that enters raises the share of its queue, so queues that hold less of what they deserve come next.
 */
import type { Stored } from "../../core/object.ts";
import { isWaiting, phaseOf } from "../../kube/gang-plan.ts";
import { byRank, type Ranked, rankedInQueue } from "../../kube/queue-order.ts";
import { isFifo, lineOf, queueOfGroup, shownState, specOf } from "../queue/state/tree.ts";
import type { Answer, Obstacle, RoundPlanner } from "./ground.ts";
import { enter, type Ledger, needOf, openLedger, shareOf, shortage } from "./ledger.ts";

/** The groups that wait in one queue, in their order; `at` is the index of the next. */
type Waiting = { readonly line: readonly Stored[]; readonly groups: readonly Ranked[]; readonly at: number };

/** The next group of a queue, ranked among those of all queues. */
type Head = Waiting & { readonly next: Ranked };

const numberOf = (value: unknown): number => (typeof value === "number" ? value : 0);

const headOf = (ledger: Ledger, { line, groups, at }: Waiting): Head | undefined => {
  const first = groups[at];
  if (first === undefined) return undefined;
  const [queue] = line;
  const priority = queue === undefined ? 0 : numberOf(specOf(queue)["priority"]);
  const { share, deserves } = shareOf(ledger, line);
  const rank = [-priority, share, deserves ? 0 : 1, ...first.rank];
  return { line, groups, at, next: { group: first.group, rank } };
};

/** Inserts a head into sorted heads by bisection: a round may have thousands of queues. */
const insert = (heads: Head[], head: Head | undefined): void => {
  if (head === undefined) return;
  let [low, high] = [0, heads.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = heads[middle];
    if (other !== undefined && byRank(other.next, head.next) < 0) low = middle + 1;
    else high = middle;
  }
  heads.splice(low, 0, head);
};

/** Takes out the heads of queues whose share has changed with that of a queue below them. */
const takeAncestors = (heads: Head[], { line }: Head, waiting: ReadonlySet<Stored | undefined>): readonly Head[] =>
  line.slice(1).flatMap((queue) => {
    const at = waiting.has(queue) ? heads.findIndex((head) => head.line[0] === queue) : -1;
    return at < 0 ? [] : heads.splice(at, 1);
  });

/**
 * Yields groups by the priority of their queue, the share that the queue holds by then, whether the queue states what it
 * deserves, the priority of their own class, and age. The ledger must show a group that enters before the next is taken.
 */
function* inTurn(
  groups: readonly Stored[],
  queues: ReadonlyMap<string, Stored>,
  priorities: ReadonlyMap<string, number>,
  ledger: Ledger,
): Generator<Stored, void> {
  const ranked = groups.map((group) => rankedInQueue(group, priorities)).sort(byRank);
  const heads: Head[] = [];
  for (const [name, own] of Map.groupBy(ranked, ({ group }) => queueOfGroup(group)))
    insert(heads, headOf(ledger, { line: lineOf(name, queues), groups: own, at: 0 }));
  const waiting = new Set(heads.map(({ line }) => line[0]));
  for (let head = heads.shift(); head !== undefined; head = heads.shift()) {
    yield head.next.group;
    for (const ancestor of takeAncestors(heads, head, waiting)) insert(heads, headOf(ledger, ancestor));
    insert(heads, headOf(ledger, { ...head, at: head.at + 1 }));
  }
}

export type Verdict =
  /** `places`: the plan of its minimum; empty where groups are admitted without a look at nodes. */
  | ({ readonly group: Stored } & Extract<Answer, { readonly enters: true }>)
  | ({ readonly group: Stored; readonly enters: false } & Obstacle);

/** The input of the decision: all queues, all groups, and the priorities of the classes that groups name. */
export type AdmissionInput = {
  readonly queues: readonly Stored[];
  readonly groups: readonly Stored[];
  readonly priorities: ReadonlyMap<string, number>;
  /** The room of nodes, and the demands of groups on it; absent: groups are admitted without a look at nodes. */
  readonly ground?: RoundPlanner;
  /** UIDs of groups that get the room of evicted pods: their queues have admitted them already. Absent: none. */
  readonly nominated?: ReadonlySet<string>;
};

const holding = ["Inqueue", "Running", "Unknown"];

/** True of the phase of a group that holds its resources in its queue. */
export const isHolding = (phase: string): boolean => holding.includes(phase);

/** Returns why a group must wait; undefined if it may be admitted. */
const obstacle = (ledger: Ledger, line: readonly Stored[], group: Stored, isNominated: boolean): string | undefined => {
  const [own] = line;
  const name = queueOfGroup(group);
  if (own === undefined) return `queue ${name} is not found`;
  if (shownState(own) !== "Open") return `queue ${name} is ${shownState(own)}`;
  return isNominated ? undefined : shortage(ledger, line, needOf(ledger, group));
};

/** Returns a verdict for every waiting group, in their order. In a `fifo` queue no group passes one before it. */
export const verdictsOf = (hall: AdmissionInput): readonly Verdict[] => {
  const queues = new Map(hall.queues.map((queue) => [queue.metadata.name, queue]));
  const ledger = openLedger(hall.queues);
  const isNominated = (group: Stored): boolean => hall.nominated?.has(group.metadata.uid) === true;
  for (const group of hall.groups.filter((one) => isHolding(phaseOf(one)) || isNominated(one)))
    enter(ledger, lineOf(queueOfGroup(group), queues), needOf(ledger, group));
  const blocked = new Set<string>();
  const answerTo = (group: Stored): Answer => {
    const name = queueOfGroup(group);
    const why =
      blocked.has(name) && !isNominated(group)
        ? `others come before it in queue ${name}`
        : obstacle(ledger, lineOf(name, queues), group, isNominated(group));
    if (why !== undefined) return { enters: false, why };
    return hall.ground?.ask(group) ?? { enters: true, places: [] };
  };
  return Array.from(inTurn(hall.groups.filter(isWaiting), queues, hall.priorities, ledger), (group): Verdict => {
    const name = queueOfGroup(group);
    const line = lineOf(name, queues);
    const answer = answerTo(group);
    if (answer.enters && !isNominated(group)) enter(ledger, line, needOf(ledger, group));
    else if (!answer.enters && isFifo(queues.get(name))) blocked.add(name);
    return { group, ...answer };
  });
};
