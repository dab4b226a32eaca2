/** Colours of the command line: states and warnings on a terminal, and nowhere else unless somebody asks for them. */
import { visible } from "../core/line.ts";

/** The three meanings that a colour has: all is well, something went wrong, something is waited for. */
export type Tone = "good" | "bad" | "wait";

/** Gives a text its colour, or leaves it as it is. */
export type Paint = (tone: Tone, text: string) => string;

const codes: Readonly<Record<Tone, number>> = { good: 32, bad: 31, wait: 33 };

export const plain: Paint = (_, text) => text;

const coloured: Paint = (tone, text) => (text === "" ? "" : `\u001b[${codes[tone]}m${text}\u001b[39m`);

/** NO_COLOR and FORCE_COLOR are obeyed, the first before the second; a dumb terminal has no colours. */
export const wantsColour = (env: Readonly<Record<string, string | undefined>>, isTerminal: boolean): boolean => {
  const forced = (env["FORCE_COLOR"] ?? "0") !== "0" && env["FORCE_COLOR"] !== "";
  return (env["NO_COLOR"] ?? "") === "" && ((isTerminal && env["TERM"] !== "dumb") || forced);
};

/** What `coloured` writes, and nothing else that steers a terminal. */
const colours = /(\u001b\[(?:31|32|33|39)m)/;

/** A text as it is printed: characters that steer a terminal are escaped, but for the colours where there are some. */
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
