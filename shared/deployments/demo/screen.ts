/** The demo's output: lines that stay and, on a terminal, a diagram under them that is drawn again. */
import { styleText } from "node:util";
import { wantsColour } from "../../cli/io/colour.ts";
import type { Said, Tone } from "./narration.ts";

export type Colour = "red" | "green" | "yellow" | "cyan" | "magenta" | "blue" | "dim" | "bold";

/** A piece of a line in one colour. */
export type Piece = readonly [text: string, colour?: Colour | undefined];
export type Row = readonly Piece[];

/** A stream of text: a terminal, or not. */
export type Output = {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
};

export type Screen = {
  /** Columns of a line; infinite where the output is no terminal. */
  width(): number;
  line(row: Row): void;
  /** Replaces the diagram; does nothing where the output is no terminal. */
  picture(rows: readonly Row[]): void;
  /** Removes the diagram, and shows the cursor again. */
  close(): void;
};

const painted = (row: Row, colours: boolean): string =>
  row
    .map(([text, colour]) =>
      colours && colour !== undefined ? styleText(colour, text, { validateStream: false }) : text,
    )
    .join("");

/** Cuts a row to the width of the terminal: a wrapped row could not be erased. */
const cut = (row: Row, width: number): Row => {
  let left = width;
  return row.map(([text, colour]): Piece => {
    const part = [...text].slice(0, left).join("");
    left -= [...part].length;
    return [part, colour];
  });
};

const csi = "\u001b[";
const hideCursor = `${csi}?25l`;
const showCursor = `${csi}?25h`;
const clearBelow = `${csi}J`;

const lively = (output: Output, colours: boolean): Screen => {
  let drawn = 0;
  let shown: readonly Row[] = [];
  const width = (): number => Math.max(40, (output.columns ?? 80) - 1);
  const erase = (): string => (drawn === 0 ? "" : `${csi}${drawn}A\r${clearBelow}`);
  const draw = (before: string): void => {
    const rows = shown.map((row) => `${painted(cut(row, width()), colours)}\n`);
    output.write(`${erase()}${before}${rows.join("")}`);
    drawn = rows.length;
  };
  output.write(hideCursor);
  return {
    width,
    line: (row) => draw(`${painted(row, colours)}\n`),
    picture: (rows) => {
      shown = rows;
      draw("");
    },
    close: () => {
      shown = [];
      draw("");
      output.write(showCursor);
    },
  };
};

const plain = (output: Output, colours: boolean): Screen => ({
  width: () => Number.POSITIVE_INFINITY,
  line: (row) => output.write(`${painted(row, colours)}\n`),
  picture: () => {},
  close: () => {},
});

/** Opens the screen. NO_COLOR and FORCE_COLOR are obeyed; a dumb terminal gets lines only. */
export const openScreen = (output: Output, env: Readonly<Record<string, string | undefined>>): Screen => {
  const terminal = output.isTTY === true && env["TERM"] !== "dumb";
  const colours = wantsColour(env, terminal);
  return terminal ? lively(output, colours) : plain(output, colours);
};

const toneColours: Readonly<Record<Tone, Colour | undefined>> = {
  plain: undefined,
  good: "green",
  bad: "red",
  faint: "dim",
};

const laneColours: Readonly<Record<Said["lane"], Colour>> = {
  demo: "cyan",
  application: "bold",
  checkpoint: "yellow",
  driver: "blue",
  executor: "blue",
  pod: "blue",
  event: "dim",
  function: "magenta",
};

/** Formats ms as seconds, to a tenth. */
export const secondsText = (ms: number): string => `${(ms / 1_000).toFixed(1)}s`;

/** Wraps a text at words to lines of the width; a longer word has a line of its own. */
const wrapped = (text: string, width: number): readonly string[] => {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
};

const margin = 21;

/** Returns an entry of the timeline as rows. */
export const timelineRows = (at: number, { lane, tone, text }: Said, width: number): readonly Row[] =>
  wrapped(text, width - margin).map(
    (line, index): Row => [
      [index === 0 ? `${secondsText(at).padStart(6)}  ` : " ".repeat(8), "dim"],
      [(index === 0 ? lane : "").padEnd(margin - 8), laneColours[lane]],
      [line, toneColours[tone]],
    ],
  );
