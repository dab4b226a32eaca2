/** A text of several lines as one, for tables and log lines. */

/** Lines are trimmed and joined by a space; empty ones are left out. By hand: an expression would begin again at every blank. */
export const oneLine = (text: string): string =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join(" ");
