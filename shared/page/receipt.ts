/** The cost of an application: the requests of its pods times the time that they ran. Pure. */
import { completedRuns } from "./timeline.ts";
import type { Detail, Lane, Prices } from "./wire.ts";

export type Share = {
  readonly of: "good" | "failed" | "lost";
  readonly title: string;
  readonly coreHours: number;
  readonly gibHours: number;
  /** Money; 0 without prices. */
  readonly cost: number;
};

export type Receipt = {
  readonly shares: readonly Share[];
  readonly coreHours: number;
  readonly gibHours: number;
  readonly cost: number;
  /** Pods at the usual price, because the price depends on their node, which is not known. */
  readonly assumed: number;
  /** Pods that are not counted, because their start or their requests are not known here. */
  readonly unknown: number;
};

const hourMs = 3_600_000;

const titles: Readonly<Record<Share["of"], string>> = {
  good: "good work",
  failed: "failed attempts",
  lost: "lost executors, at most",
};

type Known = Pick<Detail, "lanes" | "group" | "now" | "runs" | "prices">;

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

type Part = Omit<Share, "title"> & { readonly isAssumed: boolean };

/** Money for the hours of a pod. */
const costOf = (prices: Prices | undefined, node: string, coreHours: number, gibHours: number) => {
  const known = prices?.nodes[node];
  const [core, gib] = known ?? prices?.usual ?? [0, 0];
  return { cost: core * coreHours + gib * gibHours, isAssumed: prices?.isByNode === true && known === undefined };
};

const partsOf = (known: Known): readonly Part[] => {
  const { lanes, now, prices } = known;
  const isFailed = failing(known);
  return lanes.flatMap((lane) => {
    const { up, end = now, cores, gib, node = "" } = lane;
    if (up === undefined || cores === undefined || gib === undefined) return [];
    const hours = Math.max(0, end - up) / hourMs;
    const used = { coreHours: hours * cores, gibHours: hours * gib };
    const of = shareOf(lane, isFailed(lane.attempt));
    return [{ of, ...used, ...costOf(prices, node, used.coreHours, used.gibHours) }];
  });
};

const sum = (parts: readonly Part[], of: "coreHours" | "gibHours" | "cost"): number =>
  parts.reduce((total, part) => total + part[of], 0);

const summed = (parts: readonly Part[]) => ({
  coreHours: sum(parts, "coreHours"),
  gibHours: sum(parts, "gibHours"),
  cost: sum(parts, "cost"),
});

export const receiptOf = (detail: Known): Receipt => {
  const parts = partsOf(detail);
  // A pod whose request was seen, and no start, has not run.
  const ran = detail.lanes.filter(
    ({ requestedAt, up, end }) => up !== undefined || (end !== undefined && requestedAt === undefined),
  ).length;
  const shares = (["good", "failed", "lost"] as const).flatMap((of): readonly Share[] => {
    const own = parts.filter((part) => part.of === of);
    return own.length === 0 ? [] : [{ of, title: titles[of], ...summed(own) }];
  });
  const assumed = parts.filter(({ isAssumed }) => isAssumed).length;
  return { shares, ...summed(parts), assumed, unknown: ran - parts.length };
};

type Quota = Pick<Detail, "lanes" | "now" | "quota">;

/** Hours of executors: granted by Kueue, used of that, and waited for; undefined where these are not known. */
export type QuotaReceipt = {
  readonly granted: number;
  readonly used: number;
  readonly waited: number;
  /** Executors of these runs that ran unseen here, so that more was used. */
  readonly unknown: number;
};

export const quotaReceiptOf = ({ lanes, now, quota = [] }: Quota): QuotaReceipt | undefined => {
  if (quota.length === 0) return undefined;
  const attempts = new Set(quota.map(({ attempt }) => attempt));
  const own = lanes.filter(({ role, attempt }) => role === "executor" && attempts.has(attempt));
  const used = own.reduce((sum, { up, end = now }) => sum + (up === undefined ? 0 : Math.max(0, end - up)), 0);
  const total = (of: "granted" | "waited"): number => quota.reduce((sum, one) => sum + one[of], 0);
  return {
    ...{ granted: total("granted"), waited: total("waited"), used: used / hourMs },
    unknown: own.filter(
      ({ up, end, requestedAt }) => up === undefined && end !== undefined && requestedAt === undefined,
    ).length,
  };
};

/** The receipt of quota in one line. */
export const quotaText = ({ granted, used, waited, unknown }: QuotaReceipt): string =>
  [
    `${hoursText(granted)} executor-h granted by Kueue`,
    `${unknown === 0 ? "" : "at least "}${hoursText(used)} used`,
    `${hoursText(waited)} waited for`,
  ].join(", ");

/** Hours, or money, with three digits that count. */
export const hoursText = (hours: number): string => {
  const digits = hours >= 100 ? 0 : hours >= 10 ? 1 : hours >= 1 ? 2 : 3;
  return hours.toFixed(digits);
};

/** Money, if prices are set, and hours. */
export const usedText = (
  { cost, coreHours, gibHours }: Pick<Receipt, "cost" | "coreHours" | "gibHours">,
  prices: Prices | undefined,
): string =>
  [
    ...(prices === undefined ? [] : [`${hoursText(cost)} ${prices.currency}`]),
    `${hoursText(coreHours)} core-h`,
    `${hoursText(gibHours)} GiB-h`,
  ].join(", ");
