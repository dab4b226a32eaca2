/**
 * The order in which an admission round looks at waiting groups. As volcano's allocate, one group at a time: each group
 * that enters raises the share of its queue, so queues that hold less of what they deserve come next.
 */
import type { Stored } from "../../core/object.ts";
import { instantOf } from "../../core/time.ts";
import { lineOf, queueOfGroup, specOf } from "../queue/state/tree.ts";
import { type Ledger, shareOf } from "./ledger.ts";

type Ranked = { readonly group: Stored; readonly rank: readonly number[] };

/** The groups that wait in one queue, in their order; `at` is the index of the next. */
type Waiting = { readonly line: readonly Stored[]; readonly groups: readonly Ranked[]; readonly at: number };

/** The next group of a queue, ranked among those of all queues. */
type Head = Waiting & { readonly next: Ranked };

const numberOf = (value: unknown): number => (typeof value === "number" ? value : 0);

const comparing = (a: Ranked, b: Ranked): number => {
  const at = a.rank.findIndex((one, index) => one !== b.rank[index]);
  if (at >= 0) return (a.rank[at] ?? 0) - (b.rank[at] ?? 0);
  return a.group.metadata.name < b.group.metadata.name ? -1 : 1;
};

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
    if (other !== undefined && comparing(other.next, head.next) < 0) low = middle + 1;
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
export function* inTurn(
  groups: readonly Stored[],
  queues: ReadonlyMap<string, Stored>,
  priorities: ReadonlyMap<string, number>,
  ledger: Ledger,
): Generator<Stored, void> {
  const ranked = groups
    .map((group): Ranked => {
      const own = priorities.get(String(specOf(group)["priorityClassName"] ?? "")) ?? 0;
      return { group, rank: [-own, instantOf(group.metadata.creationTimestamp) ?? 0] };
    })
    .sort(comparing);
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
