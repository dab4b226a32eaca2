/** `rekindle docs`: finds sections of the documentation by words. The pages are those of the package; no cluster is asked. */
import { Command } from "commander";
import { Refused } from "../../inspection/io/refusal.ts";
import { countFrom } from "../io/options.ts";
import type { Page, Tools } from "../io/tools.ts";

export type Section = {
  /** Page and anchor, as a link names them. */
  readonly at: string;
  /** The headings above it and its own, from the page's title on. */
  readonly headings: readonly string[];
  readonly text: string;
};

/** The longest line that the list of sections shows, characters. */
const shown = 160;

/** The anchor that viewers of Markdown give a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\- ]/gu, "")
    .replaceAll(" ", "-");

const plain = (line: string): string =>
  line
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/<!--.*?-->/g, "")
    .replaceAll(/[`*]/g, "")
    .trim();

/** Splits a page at its headings. Lines of code are no headings. */
export const sectionsIn = ({ path, text }: Page): readonly Section[] => {
  const sections: { at: string; headings: readonly string[]; lines: string[] }[] = [];
  let headings: readonly string[] = [];
  let isCode = false;
  for (const line of text.split("\n")) {
    if (line.startsWith("```")) isCode = !isCode;
    const [, marks = "", title = ""] = isCode ? [] : (/^(#{1,6}) (.+)$/.exec(line) ?? []);
    if (marks === "") sections.at(-1)?.lines.push(line);
    else {
      headings = [...headings.slice(0, marks.length - 1), plain(title)];
      sections.push({ at: marks === "#" ? path : `${path}#${anchorOf(plain(title))}`, headings, lines: [] });
    }
  }
  return sections.map(({ lines, ...section }) => ({ ...section, text: lines.join("\n").trim() }));
};

const holds = (text: string, word: string): boolean => text.toLowerCase().includes(word);

/** How near a section is to the words: headings before text, and its own heading before those above it. */
const rankOf = ({ headings, text }: Section, words: readonly string[]): number =>
  words.reduce((sum, word) => {
    if (holds(headings.at(-1) ?? "", word)) return sum + 4;
    if (headings.some((heading) => holds(heading, word))) return sum + 2;
    return holds(text, word) ? sum + 1 : Number.NEGATIVE_INFINITY;
  }, 0);

/** Returns the sections that have every word, the nearest first. */
export const foundIn = (sections: readonly Section[], words: readonly string[]): readonly Section[] =>
  sections
    .map((section) => ({ section, rank: rankOf(section, words) }))
    .filter(({ rank }) => rank > 0)
    .toSorted((a, b) => b.rank - a.rank)
    .map(({ section }) => section);

/** The part of the first line with one of the words, around that word. */
const excerptOf = ({ text }: Section, words: readonly string[]): string => {
  const lines = text.split("\n").map(plain);
  const line = lines.find((one) => words.some((word) => holds(one, word))) ?? lines.find((one) => one !== "") ?? "";
  const places = words.map((word) => line.toLowerCase().indexOf(word)).filter((place) => place >= 0);
  const from = line.length <= shown ? 0 : Math.max(0, Math.min(...places, line.length) - shown / 2);
  const part = line.slice(from, from + shown);
  return `${from > 0 ? "…" : ""}${part}${from + shown < line.length ? "…" : ""}`;
};

type Options = { readonly limit: number; readonly whole?: true };

const search = async (tools: Tools, given: readonly string[], { limit, whole }: Options): Promise<void> => {
  const sections = (await tools.pages()).flatMap(sectionsIn);
  const words = given.flatMap((one) => one.toLowerCase().split(/\s+/)).filter((word) => word !== "");
  if (words.length === 0) {
    const titles = sections.filter(({ at }) => !at.includes("#"));
    return tools.print(titles.map(({ at, headings }) => `${at}  ${headings[0]}`).join("\n"));
  }
  const found = foundIn(sections, words);
  const [first] = found;
  if (first === undefined)
    throw new Refused(`no section has ${words.join(" and ")}; try fewer words, or list the pages: rekindle docs`);
  if (whole) return tools.print(`${first.at}\n${first.headings.join(" › ")}\n\n${first.text}`);
  const rows = found.slice(0, limit).map((one) => {
    const excerpt = excerptOf(one, words);
    return `${one.at}\n  ${one.headings.join(" › ")}${excerpt === "" ? "" : `\n  ${excerpt}`}`;
  });
  const more = found.length - rows.length;
  tools.print([...rows, ...(more > 0 ? [`${more} more: -n ${found.length} shows all`] : [])].join("\n\n"));
};

export const docs = (tools: Tools): Command =>
  new Command("docs")
    .description("Finds sections of the documentation that have all words; without words it lists the pages.")
    .argument("[words...]", "words to find, in any order")
    .option("-n, --limit <count>", "sections to show", countFrom(1), 8)
    .option("--whole", "print the text of the nearest section")
    .action((words: readonly string[], options: Options) => search(tools, words, options));
