/** The cost of an application: the requests of its pods times the time that they ran. Pure. */
import { completedRuns } from "./timeline.ts";
import type { Detail, Lane } from "./wire.ts";

export type Share = {
  readonly of: "good" | "failed" | "lost";
  readonly title: string;
  readonly coreHours: number;
  readonly gibHours: number;
};

export type Receipt = {
  readonly shares: readonly Share[];
  readonly coreHours: number;
  readonly gibHours: number;
  /** Pods that are not counted, because their start or their requests are not known here. */
  readonly unknown: number;
};

const hourMs = 3_600_000;

const titles: Readonly<Record<Share["of"], string>> = {
  good: "good work",
  failed: "failed attempts",
  lost: "lost executors, at most",
};

type Known = Pick<Detail, "lanes" | "group" | "now" | "runs">;

/** Returns whether an attempt failed: an earlier one, unless the record says that it completed. */
const failing = ({ lanes, group, runs }: Known): ((attempt: number) => boolean) => {
  const newest = Math.max(0, ...lanes.map(({ attempt }) => attempt));
  const completed = completedRuns(runs);
  return (attempt) => (attempt < newest ? !completed.has(attempt) : group === "failed");
};

/** Work of a lost executor may have been kept, in shuffle files or results: all of it is an upper bound of the loss. */
const shareOf = ({ lost }: Lane, isFailed: boolean): Share["of"] => {
  if (isFailed) return "failed";
  return lost === true ? "lost" : "good";
};

type Part = { readonly of: Share["of"]; readonly coreHours: number; readonly gibHours: number };

const partsOf = (known: Known): readonly Part[] => {
  const { lanes, now } = known;
  const isFailed = failing(known);
  return lanes.flatMap((lane) => {
    const { up, end = now, cores, gib } = lane;
    if (up === undefined || cores === undefined || gib === undefined) return [];
    const hours = Math.max(0, end - up) / hourMs;
    return [{ of: shareOf(lane, isFailed(lane.attempt)), coreHours: hours * cores, gibHours: hours * gib }];
  });
};

const sum = (parts: readonly Part[], of: "coreHours" | "gibHours"): number =>
  parts.reduce((total, part) => total + part[of], 0);

export const receiptOf = (detail: Known): Receipt => {
  const parts = partsOf(detail);
  const ran = detail.lanes.filter(({ up, end }) => up !== undefined || end !== undefined).length;
  const shares = (["good", "failed", "lost"] as const).flatMap((of): readonly Share[] => {
    const own = parts.filter((part) => part.of === of);
    const hours = { coreHours: sum(own, "coreHours"), gibHours: sum(own, "gibHours") };
    return own.length === 0 ? [] : [{ of, title: titles[of], ...hours }];
  });
  return { shares, coreHours: sum(parts, "coreHours"), gibHours: sum(parts, "gibHours"), unknown: ran - parts.length };
};

/** Hours with three digits that count. */
export const hoursText = (hours: number): string => {
  const digits = hours >= 100 ? 0 : hours >= 10 ? 1 : hours >= 1 ? 2 : 3;
  return hours.toFixed(digits);
};
