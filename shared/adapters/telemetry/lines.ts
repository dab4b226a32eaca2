/** The log of a function: one JSON object a line on standard output, which the platform collects. */
import { visible } from "../../core/text.ts";
import type { Report } from "../../engine/ports.ts";

const ranks = { debug: 0, info: 1, warn: 2, error: 3 } as const;

export const lineReport =
  (level: keyof typeof ranks): Report =>
  (at, message, fields) => {
    if (ranks[at] < ranks[level]) return;
    // The line has a `message` already; a field of the same name becomes `why`.
    const { message: why, ...others } = fields ?? {};
    console.log(visible(JSON.stringify({ level: at, message, ...others, ...(why === undefined ? {} : { why }) })));
  };
