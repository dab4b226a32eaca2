/**
 * The log of a process, through pino; functions write plain JSON lines instead, to keep their bundle small. During a
 * lasting fault it stays readable: repeated warnings, and more than a few similar ones, go to level debug.
 */
import pino from "pino";
import { visible } from "../../core/text.ts";
import type { Report } from "../../engine/ports.ts";

/** Returns a report to standard error, one JSON object a line; standard output is left to the command. */
export const pinoReport = (level: string): Report => {
  const words = { formatters: { level: (label: string) => ({ level: label }) } };
  const errors = pino.destination(2);
  const shown = { write: (line: string) => errors.write(visible(line)) };
  const logger = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, ...words }, shown);
  return (at, message, fields) => logger[at](fields ?? {}, message);
};

/** Time in which a repeated warning is not shown again, ms. */
const windowMs = 600_000;
/** Warnings of one sort that are shown in that time: they differ in their objects and have the same cause. */
const mostOfSort = 10;

type Fields = Readonly<Record<string, unknown>>;

/** Returns the text that identifies a warning, without its numeric fields. */
const gistOf = (message: string, fields: Fields): string =>
  JSON.stringify([message, Object.entries(fields).filter(([, value]) => typeof value !== "number")]);

const sortOf = (message: string, { reason }: Fields): string => JSON.stringify([message, reason]);

/** The warnings of one sort, with the time of their first showing; older ones than the window are removed. */
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

/** Reports warnings and errors at level debug if they repeat within ten minutes or exceed the number of their sort. */
export const withoutRepeats = (report: Report, now: () => number): Report => {
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
      report(level, `repeated often, from now on at level debug: ${message}`, reason === undefined ? {} : { reason });
    }
  };
};
