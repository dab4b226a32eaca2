/** Spans of the strip and slots of the timeline: which executor came in place of which. Pure. */
import { type Detail, type Group, groups, type Lane, type Row } from "./wire.ts";

export type Span = { readonly from: number; readonly to: number; readonly group: Group };

/** A span that runs takes the colour of its outcome: of the end that follows, or of a failure before another attempt. */
const outcome = (next: Group | undefined): Group => {
  if (next === "completed") return next;
  return next === "failed" || next === "waiting" ? "failed" : "running";
};

/** The spans of a row's life, in epoch seconds; without a record the one that its object tells. */
export const spansOf = (row: Row, now: number): readonly Span[] => {
  const isOver = row.group === "failed" || row.group === "completed";
  const end = isOver ? row.since : now;
  if (row.strip.length === 0) return [{ from: row.createdAt, to: Math.max(end, row.createdAt), group: row.group }];
  const passages = row.strip.map(([from, at]) => ({ from, group: groups[at] ?? "waiting" }));
  return passages.flatMap(({ from, group }, index) => {
    const later = passages.slice(index + 1);
    const following = later[0];
    if (following === undefined && isOver) return [];
    const next = later.find((one) => one.group !== "running")?.group;
    return [{ from, to: following?.from ?? end, group: group === "running" ? outcome(next) : group }];
  });
};

export type StateSpan = Detail["history"][number] & { readonly to: number };

/** The states with their ends; an end of the application takes no time. */
export const passagesOf = (detail: Pick<Detail, "history" | "isOver" | "now">): readonly StateSpan[] =>
  detail.history.map((one, index) => {
    const next = detail.history[index + 1];
    const isEnd = next === undefined && detail.isOver;
    return { ...one, to: next?.at ?? (isEnd ? one.at : detail.now) };
  });

/** A part of a wait within one state. `isWhole`: the state is that wait; else work goes on beside it. */
export type WaitPart = {
  readonly for: string;
  readonly from: number;
  readonly to: number;
  readonly isWhole: boolean;
};

/** The waits in which something was in the way, by the states that they fall into. */
export const waitParts = (detail: Pick<Detail, "history" | "isOver" | "now" | "waits">): readonly WaitPart[] => {
  const passages = passagesOf(detail);
  const spans = passages.length === 0 ? [{ at: 0, to: detail.now, group: "waiting" as const }] : passages;
  return detail.waits
    .filter(({ isUsual }) => !isUsual)
    .flatMap(({ for: reason, from, to = detail.now }) =>
      spans.flatMap(({ at, to: end, group }) => {
        const [first, last] = [Math.max(from, at), Math.min(to, end)];
        return last > first ? [{ for: reason, from: first, to: last, isWhole: group !== "running" }] : [];
      }),
    );
};

export type Attempt = {
  readonly attempt: number;
  readonly from: number;
  readonly to: number;
  /** `submitted`: it goes on, and has not run yet. */
  readonly end: "failed" | "completed" | "running" | "submitted";
};

/** The attempts of past runs that completed. */
export const completedRuns = (runs: Detail["runs"]): ReadonlySet<number> =>
  new Set(runs.flatMap(({ attempt, outcome: how }) => (how === "completed" ? [attempt] : [])));

/** The part of a detail that tells of attempts. */
type Story = Pick<Detail, "history" | "runs" | "isOver" | "now">;

const endOf = (detail: Story, passages: readonly StateSpan[], isLast: boolean): Attempt["end"] => {
  if (!isLast || passages.some(({ group }) => group === "failed")) return "failed";
  if (detail.isOver) return "completed";
  return passages.some(({ group }) => group === "running") ? "running" : "submitted";
};

/** A state in which the attempt is over and the next one is not yet submitted. */
const isBetween = ({ state, group }: StateSpan): boolean =>
  group === "waiting" && state !== "NEW" && state !== "Pending" && state !== "UNKNOWN";

export const attemptsOf = (detail: Story): readonly Attempt[] => {
  const passages = passagesOf(detail);
  const completed = completedRuns(detail.runs);
  const numbers = [...new Set(passages.map(({ attempt }) => attempt))].filter((attempt) => attempt > 0);
  return numbers.flatMap((attempt, index) => {
    const own = passages.filter((one) => one.attempt === attempt);
    const working = own.filter((one) => !isBetween(one));
    const first = own[0];
    const last = (working.length === 0 ? own : working).at(-1);
    if (first === undefined || last === undefined) return [];
    const isLast = index === numbers.length - 1;
    const end = completed.has(attempt) && !isLast ? "completed" : endOf(detail, own, isLast);
    return [{ attempt, from: first.at, to: last.to, end }];
  });
};

const isSame = (a: Lane, b: Lane): boolean =>
  a.role === b.role && a.id === b.id && (a.attempt === b.attempt || a.attempt === 0);

/** The lanes that were seen, after those that only the record tells of. */
export const withRecorded = (seen: readonly Lane[], recorded: readonly Lane[]): readonly Lane[] => [
  ...recorded.filter((one) => !seen.some((lane) => isSame(lane, one))),
  ...seen,
];

/** A line of the timeline: what ran in one place, in every attempt, one after the other. */
export type Slot = { readonly lanes: readonly (Lane & { readonly follows?: number; readonly until?: number })[] };

const begin = ({ requestedAt, up, end }: Lane): number => requestedAt ?? up ?? end ?? 0;
const byBegin = (a: Lane, b: Lane): number => begin(a) - begin(b) || a.id - b.id;

type Placed = Lane & { readonly follows?: number; until?: number };

/**
 * Puts the executors of one attempt into slots. An executor that was requested after a loss goes on in the slot of the
 * earliest loss that nobody has replaced.
 */
const slotsOfAttempt = (lanes: readonly Lane[]): readonly (readonly Placed[])[] => {
  const slots: Placed[][] = [];
  for (const lane of [...lanes].sort(byBegin)) {
    const open = slots
      .filter((slot) => {
        const last = slot.at(-1);
        return (
          last?.lost === true &&
          last.end !== undefined &&
          lane.requestedAt !== undefined &&
          last.end <= lane.requestedAt + 1_000
        );
      })
      .sort((a, b) => (a.at(-1)?.end ?? 0) - (b.at(-1)?.end ?? 0))[0];
    const last = open?.at(-1);
    if (open === undefined || last === undefined) slots.push([lane]);
    else {
      last.until = lane.up ?? lane.requestedAt ?? 0;
      open.push({ ...lane, follows: last.id });
    }
  }
  return slots;
};

/** The slots of all attempts: the first slot of one attempt continues the first of the attempt before. */
export const slotsOf = (lanes: readonly Lane[]): readonly Slot[] => {
  const attempts = [...new Set(lanes.map(({ attempt }) => attempt))].sort((a, b) => a - b);
  const rows: Placed[][] = [];
  for (const attempt of attempts) {
    const placed = slotsOfAttempt(lanes.filter((lane) => lane.attempt === attempt).map((lane) => ({ ...lane })));
    placed.forEach((slot, at) => {
      const row = rows[at];
      if (row === undefined) rows.push([...slot]);
      else row.push(...slot);
    });
  }
  return rows.map((row) => ({ lanes: row }));
};

const mostSlots = 60;

/** The slots to draw, and how many quiet ones are left out. */
export const folded = (slots: readonly Slot[]): { readonly shown: readonly Slot[]; readonly quiet: number } => {
  if (slots.length <= mostSlots) return { shown: slots, quiet: 0 };
  const isLoud = ({ lanes }: Slot): boolean => lanes.some(({ lost }) => lost === true);
  const loud = slots.filter(isLoud).slice(0, mostSlots);
  const rest = slots.filter((slot) => !isLoud(slot)).slice(0, mostSlots - loud.length);
  const chosen = new Set([...loud, ...rest]);
  return { shown: slots.filter((slot) => chosen.has(slot)), quiet: slots.length - chosen.size };
};

const steps = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 21_600, 43_200, 86_400, 604_800,
];

/** Instants of an axis, at round times of the viewer's day, at most `most` of them; ms. */
export const ticks = (from: number, to: number, most: number): readonly number[] => {
  const step = (steps.find((one) => (to - from) / 1_000 / one <= most) ?? 604_800) * 1_000;
  const shift = new Date(from).getTimezoneOffset() * 60_000;
  const first = Math.ceil((from - shift) / step) * step + shift;
  return Array.from({ length: Math.max(0, Math.floor((to - first) / step) + 1) }, (_, at) => first + at * step);
};
