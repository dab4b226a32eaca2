/** Structured lines of a process, through pino. Functions write plain JSON lines instead, to keep their bundle small. */
import pino from "pino";
import type { Report } from "../../engine/ports.ts";

/** Reports to standard error, one JSON object a line, so that standard output stays a command's own. */
export const pinoReport = (level: string): Report => {
  const words = { formatters: { level: (label: string) => ({ level: label }) } };
  const logger = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, ...words }, pino.destination(2));
  return (at, message, fields) => logger[at](fields ?? {}, message);
};
