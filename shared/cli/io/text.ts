/** Words and columns of the command line. */
import { timeText } from "../../core/time.ts";

/** Colours a cell that has its width already; `row` 0 is the heads. */
export type PaintCell = (cell: string, row: number, column: number) => string;

/** Rows under their heads, each column as wide as its widest cell. A cell is one line: no text in it begins a row of its own. */
export const columns = (given: readonly (readonly string[])[], paint: PaintCell = (cell) => cell): string => {
  const rows = given.map((row) => row.map((cell) => cell.replaceAll("\n", " ")));
  const widths = rows.reduce<readonly number[]>(
    (known, row) => row.map((cell, at) => Math.max(known[at] ?? 0, cell.length)),
    [],
  );
  return rows
    .map((row, index) =>
      row
        .map((cell, at) => paint(at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0), index, at))
        .join("   ")
        .trimEnd(),
    )
    .join("\n");
};

const units = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
] as const;

/** A span as kubectl writes it, to two units: `3m20s`. */
export const spanText = (ms: number): string => {
  const parts: string[] = [];
  let left = Math.max(0, Math.round(ms / 1_000) * 1_000);
  for (const [unit, size] of units) {
    const amount = Math.floor(left / size);
    left -= amount * size;
    if (amount > 0) parts.push(`${amount}${unit}`);
  }
  return parts.slice(0, 2).join("") || "0s";
};

/** An instant and how far away it is. */
export const whenText = (at: number, now: number): string =>
  `${timeText(at)} (${at <= now ? `${spanText(now - at)} ago` : `in ${spanText(at - now)}`})`;
