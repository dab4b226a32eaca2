/**
 * Decides which groups of pods are admitted and why the others wait. Groups are looked at one at a time, as in volcano's
 * allocate: each that enters raises the share of its queue, so queues that hold less of what they deserve come next.
 */
import type { Stored } from "../../core/object.ts";
import { isHolding, isWaiting, phaseOf } from "../../kube/gang-plan.ts";
import { type Amounts, merged } from "../../kube/pod-usage.ts";
import { larger } from "../../kube/quantity.ts";
import { byRank, type Ranked, rankedInQueue } from "../../kube/queue-order.ts";
import { roomOf } from "../../kube/queue-room.ts";
import { isFifo, leafSaying, lineOf, parentOf, queueOfGroup, shownState, specOf } from "../queue/state/tree.ts";
import type { Answer, Obstacle, RoundPlanner } from "./ground.ts";
import { enter, isBounding, type Ledger, needOf, openLedger, shareOf, shortage, statedOf } from "./ledger.ts";
import { jobOwnerOf } from "./outlines.ts";
import { asksForRoom, type QueueUsage } from "./queue-usage.ts";
import { type Contender, type Growth, growthsOf } from "./surplus.ts";

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
  /** The pods of groups as queues count them; absent: no queue bounds them, or no group may get more room in this round. */
  readonly usage?: QueueUsage | undefined;
  /** Why groups of others are not admitted, by their UIDs; absent: each may be. */
  readonly foreign?: ReadonlyMap<string, string>;
  /** UIDs of groups that get the room of evicted pods: their queues have admitted them already. Absent: none. */
  readonly nominated?: ReadonlySet<string>;
};

/** True for an admitted group that holds resources: also one whose pods have all ended while further ones have room. */
export const holdsRoom = (group: Stored): boolean =>
  isHolding(phaseOf(group)) || (!isWaiting(group) && Object.values(roomOf(group) ?? {}).some((count) => count > 0));

const unreadable =
  "its Job is not found, or it and the Jobs of its namespace hold too much text for one admission round: wait, or make them smaller";

type Hall = AdmissionInput & {
  readonly ledger: Ledger;
  readonly lineFor: (group: Stored) => readonly Stored[];
  readonly isNominated: (group: Stored) => boolean;
  /** By the name of their parent. */
  readonly children: ReadonlyMap<string, readonly Stored[]>;
};

/** Returns what a waiting group needs. */
const needIn = ({ usage, ledger }: Hall, group: Stored): Amounts =>
  merged(needOf(ledger, group), statedOf(ledger, usage?.needOf(group) ?? new Map()), larger);

/** Returns what an admitted group holds. */
const heldIn = ({ usage, ledger }: Hall, group: Stored): Amounts => {
  const stated = needOf(ledger, group);
  return usage === undefined ? stated : statedOf(ledger, usage.heldBy(group, stated));
};

/** Returns why a group must wait; undefined if it may be admitted. */
const obstacle = (hall: Hall, group: Stored): string | undefined => {
  const line = hall.lineFor(group);
  const [own] = line;
  const name = queueOfGroup(group);
  if (own === undefined) return `queue ${name} is not found`;
  if (shownState(own) !== "Open") return `queue ${name} is ${shownState(own)}`;
  const place = jobOwnerOf(group) === undefined ? "" : leafSaying(name, hall.children.get(name)?.length ?? 0);
  if (place !== "") return place;
  const foreign = hall.foreign?.get(group.metadata.uid);
  if (foreign !== undefined) return foreign;
  if (hall.isNominated(group)) return undefined;
  const { usage } = hall;
  const isUnknown = usage !== undefined && jobOwnerOf(group) !== undefined && usage.tasksOf(group) === undefined;
  return isUnknown && line.some(isBounding) ? unreadable : shortage(hall.ledger, line, needIn(hall, group));
};

const open = (input: AdmissionInput): Hall => {
  const queues = new Map(input.queues.map((queue) => [queue.metadata.name, queue]));
  const ledger = openLedger(input.queues);
  const hall: Hall = {
    ...input,
    ledger,
    children: Map.groupBy(input.queues, parentOf),
    lineFor: (group) => lineOf(queueOfGroup(group), queues),
    isNominated: ({ metadata }) => input.nominated?.has(metadata.uid) === true,
  };
  for (const group of input.groups) {
    if (holdsRoom(group)) enter(ledger, hall.lineFor(group), heldIn(hall, group));
    else if (hall.isNominated(group)) enter(ledger, hall.lineFor(group), needIn(hall, group));
  }
  return hall;
};

/** Returns the groups whose pods get room of bounded queues: those that enter, and admitted ones that want more or state no room. */
const contendersIn = (hall: Hall, verdicts: readonly Verdict[], blocked: ReadonlySet<string>): readonly Contender[] => {
  const { usage, priorities } = hall;
  if (usage === undefined) return [];
  const entering = verdicts.filter(({ enters }) => enters).map(({ group }) => group);
  const admitted = hall.groups.filter((group) => holdsRoom(group) && asksForRoom(group));
  return [...entering, ...admitted].flatMap((group): readonly Contender[] => {
    const line = hall.lineFor(group);
    const tasks = usage.tasksOf(group);
    if (tasks === undefined || (roomOf(group) === undefined && !line.some(isBounding))) return [];
    const [own] = line;
    const rank = [-numberOf(own === undefined ? 0 : specOf(own)["priority"]), ...rankedInQueue(group, priorities).rank];
    const name = queueOfGroup(group);
    const closed = blocked.has(name) ? `others come before them in queue ${name}` : undefined;
    return [{ group, line, tasks, closed, rank: rank.slice(0, 2) }];
  });
};

export type Admission = {
  /** A verdict for every waiting group, in their order. */
  readonly verdicts: readonly Verdict[];
  /** The room for the pods of groups that enter, and of others that have asked for more. */
  readonly growths: readonly Growth[];
};

/** Decides about every waiting group, in their order, then about room. In a `fifo` queue no group passes one before it. */
export const admissionOf = (input: AdmissionInput): Admission => {
  const hall = open(input);
  const { ledger, isNominated } = hall;
  const queues = new Map(hall.queues.map((queue) => [queue.metadata.name, queue]));
  const blocked = new Set<string>();
  const answerTo = (group: Stored): Answer => {
    const name = queueOfGroup(group);
    const isPassed = blocked.has(name) && !isNominated(group);
    const why = isPassed ? `others come before it in queue ${name}` : obstacle(hall, group);
    if (why !== undefined) return { enters: false, why };
    return hall.ground?.ask(group) ?? { enters: true, places: [] };
  };
  const waiting = inTurn(hall.groups.filter(isWaiting), queues, hall.priorities, ledger);
  const verdicts = Array.from(waiting, (group): Verdict => {
    const name = queueOfGroup(group);
    const answer = answerTo(group);
    if (answer.enters && !isNominated(group)) enter(ledger, hall.lineFor(group), needIn(hall, group));
    else if (!answer.enters && isFifo(queues.get(name))) blocked.add(name);
    return { group, ...answer };
  });
  return { verdicts, growths: growthsOf(ledger, contendersIn(hall, verdicts, blocked)) };
};
