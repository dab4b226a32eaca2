/** Keeps a log readable while something stays broken: a warning is given once, and again when it has lasted. */
import type { Report } from "../../engine/ports.ts";

const againMs = 600_000;
/** More different warnings than this at once are all given: nobody reads that many anyway. */
const most = 2_000;

/** Figures differ from one time to the next, what they are about does not. */
const gist = (message: string, fields: Readonly<Record<string, unknown>>): string =>
  JSON.stringify([message, Object.entries(fields).filter(([, value]) => typeof value !== "number")]);

/** Warnings and errors that were given within ten minutes are told again at level debug only. */
export const calm = (report: Report, now: () => number): Report => {
  const given = new Map<string, number>();
  const isNews = (id: string): boolean => {
    const time = now();
    if (time - (given.get(id) ?? Number.NEGATIVE_INFINITY) < againMs) return false;
    given.delete(id);
    for (const [old, at] of given) {
      if (time - at < againMs && given.size < most) break;
      given.delete(old);
    }
    given.set(id, time);
    return true;
  };
  return (level, message, fields = {}) => {
    const repeated = (level === "warn" || level === "error") && !isNews(gist(message, fields));
    report(repeated ? "debug" : level, message, fields);
  };
};
