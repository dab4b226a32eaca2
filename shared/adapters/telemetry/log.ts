/** The log of a process, through pino. Functions write plain JSON lines instead, to keep their bundle small. */
import pino from "pino";
import { visible } from "../../core/line.ts";
import type { Report } from "../../engine/ports.ts";

/** Returns a report to standard error, one JSON object a line; standard output is left to the command. */
export const pinoReport = (level: string): Report => {
  const words = { formatters: { level: (label: string) => ({ level: label }) } };
  const errors = pino.destination(2);
  const shown = { write: (line: string) => errors.write(visible(line)) };
  const logger = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, ...words }, shown);
  return (at, message, fields) => logger[at](fields ?? {}, message);
};
