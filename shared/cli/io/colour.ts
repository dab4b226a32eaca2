/** Colours of the command line: for states and warnings, on a terminal or where FORCE_COLOR asks for them. */
import { visible } from "../../core/line.ts";

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
