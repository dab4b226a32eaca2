/** Keeps a log readable while something stays broken: what is repeated is not, and of many alike a few are told. */
import type { Report } from "../../engine/ports.ts";

/** How long a warning stands before it is given again. */
const windowMs = 600_000;
/** So many of a sort are given at a time: they differ in their objects, and have their cause in common. */
const mostOfSort = 10;

type Fields = Readonly<Record<string, unknown>>;

/** Figures differ from one time to the next, what they are about does not. */
const gistOf = (message: string, fields: Fields): string =>
  JSON.stringify([message, Object.entries(fields).filter(([, value]) => typeof value !== "number")]);

const sortOf = (message: string, { reason }: Fields): string => JSON.stringify([message, reason]);

/** Different warnings by when they were given first; what is older than the window is forgotten. */
type Sort = { readonly given: Map<string, number>; silencedAt: number };

type Verdict = "give" | "hold" | "give no more";

const judge = (sort: Sort, gist: string, time: number): Verdict => {
  for (const [old, at] of sort.given) {
    if (time - at < windowMs) break;
    sort.given.delete(old);
  }
  if (sort.given.has(gist)) return "hold";
  if (sort.given.size < mostOfSort) {
    sort.given.set(gist, time);
    return "give";
  }
  if (time - sort.silencedAt < windowMs) return "hold";
  sort.silencedAt = time;
  return "give no more";
};

/** Warnings and errors that are repeated within ten minutes, or are too many of a sort, are told at level debug only. */
export const calm = (report: Report, now: () => number): Report => {
  const sorts = new Map<string, Sort>();
  const verdictOn = (message: string, fields: Fields): Verdict => {
    const name = sortOf(message, fields);
    const sort = sorts.get(name) ?? { given: new Map(), silencedAt: Number.NEGATIVE_INFINITY };
    sorts.set(name, sort);
    return judge(sort, gistOf(message, fields), now());
  };
  return (level, message, fields = {}) => {
    const verdict = level === "warn" || level === "error" ? verdictOn(message, fields) : "give";
    report(verdict === "give" ? level : "debug", message, fields);
    if (verdict === "give no more") {
      const { reason } = fields;
      report(level, `more of the same, shown at level debug: ${message}`, reason === undefined ? {} : { reason });
    }
  };
};
