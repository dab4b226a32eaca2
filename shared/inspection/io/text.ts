/**
 * Words, columns and colours of the command line. Colours mark states and warnings, on a terminal or where FORCE_COLOR
 * asks for them.
 */

import { visible } from "../../core/text.ts";
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

/** The three meanings that a colour has: all is well, something went wrong, something is waited for. */
export type Tone = "good" | "bad" | "wait";

/** Gives a text its colour, or leaves it as it is. */
export type Paint = (tone: Tone, text: string) => string;

const codes: Readonly<Record<Tone, number>> = { good: 32, bad: 31, wait: 33 };

export const plain: Paint = (_, text) => text;

const coloured: Paint = (tone, text) => (text === "" ? "" : `\u001b[${codes[tone]}m${text}\u001b[39m`);

/** True where output is to be coloured. NO_COLOR wins over FORCE_COLOR; a dumb terminal has colours only by force. */
export const wantsColour = (env: Readonly<Record<string, string | undefined>>, isTerminal: boolean): boolean => {
  const forced = (env["FORCE_COLOR"] ?? "0") !== "0" && env["FORCE_COLOR"] !== "";
  return (env["NO_COLOR"] ?? "") === "" && ((isTerminal && env["TERM"] !== "dumb") || forced);
};

/** Matches the escape sequences that `coloured` writes, and no other. */
const colours = /(\u001b\[(?:31|32|33|39)m)/;

/** Escapes the characters that steer a terminal; keeps the colours of `coloured` where `hasColours`. */
export const printable = (text: string, hasColours: boolean): string =>
  hasColours
    ? text
        .split(colours)
        .map((part, at) => (at % 2 === 1 ? part : visible(part)))
        .join("")
    : visible(text);

export const paintFor = (wanted: boolean): Paint => (wanted ? coloured : plain);

/** The tone of a state of any kind, by its word. */
export const toneOf = (state: string): Tone => {
  if (/fail|abort|terminat|unknown|invalid|gone|closed/i.test(state)) return "bad";
  return /^(completed|succe|running|ready|active|scheduled|open)/i.test(state) ? "good" : "wait";
};
