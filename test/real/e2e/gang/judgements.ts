/** The judgements of the gang family, over the changes of pods that the API has shown. */

/** A change of one pod. */
export type PodChange = {
  /** Epoch ms. */
  readonly at: number;
  readonly job: string;
  readonly pod: string;
  readonly uid: string;
  /** The node that the pod is bound to. */
  readonly node?: string;
  readonly state: "alive" | "over" | "gone";
};

type Present = ReadonlyMap<string, PodChange>;

const isBound = ({ node }: PodChange): boolean => node !== undefined;

/** Calls `look` with the existing pods after each change. */
const eachMoment = (changes: readonly PodChange[], look: (at: number, present: Present) => void): void => {
  const present = new Map<string, PodChange>();
  for (const change of changes) {
    if (change.state === "gone") present.delete(change.uid);
    else present.set(change.uid, change);
    look(change.at, present);
  }
};

/**
 * Returns the longest time, ms, for which unfinished pods of a gang had nodes and its minimum had not. A gang that was whole
 * stays so until no pod of it is bound. A finished pod holds no place on its node.
 */
export const longestHalf = (changes: readonly PodChange[], job: string, least: number, end: number): number => {
  let [since, longest, wasWhole]: [number | undefined, number, boolean] = [undefined, 0, false];
  const close = (at: number): void => {
    if (since !== undefined) longest = Math.max(longest, at - since);
    since = undefined;
  };
  const own = changes.filter((change) => change.job === job);
  eachMoment(own, (at, present) => {
    const bound = [...present.values()].filter(isBound);
    wasWhole = bound.length >= least || (wasWhole && bound.length > 0);
    if (wasWhole || bound.every(({ state }) => state === "over")) close(at);
    else since ??= at;
  });
  close(end);
  return longest;
};

/** True if two gangs had unfinished pods at the same time. */
export const wereTogether = (changes: readonly PodChange[], one: string, other: string): boolean => {
  let together = false;
  eachMoment(changes, (_, present) => {
    const alive = new Set([...present.values()].filter(({ state }) => state === "alive").map(({ job }) => job));
    together ||= alive.has(one) && alive.has(other);
  });
  return together;
};

/** Returns the largest number of gangs that had an unfinished pod with a node at the same time. */
export const mostTogether = (changes: readonly PodChange[]): number => {
  let most = 0;
  eachMoment(changes, (_, present) => {
    const holding = [...present.values()].filter((pod) => pod.state === "alive" && isBound(pod));
    most = Math.max(most, new Set(holding.map(({ job }) => job)).size);
  });
  return most;
};

/** Returns the pods whose names were created more often than `starts` says of their gang. */
export const createdTooOften = (changes: readonly PodChange[], starts: (job: string) => number): readonly string[] => {
  const bodies = Map.groupBy(changes, ({ pod }) => pod);
  return [...bodies].flatMap(([pod, own]) => {
    const count = new Set(own.map(({ uid }) => uid)).size;
    const most = starts(own[0]?.job ?? "");
    return count > most ? [`${pod} was created ${count} times, expected ${most}`] : [];
  });
};
