/** Structured lines of a process, through pino. Functions write plain JSON lines instead, to keep their bundle small. */
import pino from "pino";
import { visible } from "../../core/line.ts";
import type { Report } from "../../engine/ports.ts";

/** Reports to standard error, one JSON object a line, so that standard output stays a command's own. */
export const pinoReport = (level: string): Report => {
  const words = { formatters: { level: (label: string) => ({ level: label }) } };
  const errors = pino.destination(2);
  const shown = { write: (line: string) => errors.write(visible(line)) };
  const logger = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, ...words }, shown);
  return (at, message, fields) => logger[at](fields ?? {}, message);
};
