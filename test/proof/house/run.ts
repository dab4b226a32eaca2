/**
 * `npm run house`: prints a map of the sources for newcomers: the core and the rooms beside it, the largest folders, import
 * cycles, and the uses of the glossary's words. `-- --words` prints every text that people may read instead, `-- --packages`
 * the packages with the files that import them, `-- --kind NAME` the places that name a kind outside its family's code.
 */
import { parseArgs } from "node:util";
import { circlesOf } from "./circles.ts";
import { filesOf, kindNames, kindText } from "./kinds.ts";
import { packagesText } from "./packages.ts";
import { roomSizes } from "./rooms.ts";
import { read, sourcesUnder } from "./sources.ts";
import { allWords } from "./words.ts";

const help = `npm run house [-- --kind NAME | --kinds | --packages | --words [PART…]]

  --kind      every place of the product that names this kind outside its family's code, tests and generated files
  --kinds     the number of files with such places, for each kind
  --packages  every package: why it is there, and the files of the product that import it for its work
  --words     every text that people may read: events, states, errors, help, the installation; PART: only files whose path contains it`;

type Row = readonly (string | number)[];

const table = (rows: readonly Row[]): string => {
  const widths = rows.reduce<readonly number[]>(
    (most, row) => row.map((cell, at) => Math.max(most[at] ?? 0, String(cell).length)),
    [],
  );
  const cell = (value: string | number, at: number): string =>
    typeof value === "number" ? String(value).padStart(widths[at] ?? 0) : value.padEnd(widths[at] ?? 0);
  return rows.map((row) => `  ${row.map(cell).join("  ").trimEnd()}`).join("\n");
};

const linesOf = (files: readonly string[]): number =>
  files.reduce((sum, file) => sum + read(file).split("\n").length - 1, 0);

/** Groups files by the first `depth` folders of their paths. */
const by = (files: readonly string[], depth: number): readonly (readonly [string, readonly string[]])[] => [
  ...Map.groupBy(files, (file) => file.split("/").slice(0, -1).slice(0, depth).join("/")),
];

const rooms = (files: readonly string[]): string =>
  table([
    ["folder", "files", "lines"],
    ...by(files, 2).map(([room, of]) => [room, of.length, linesOf(of)]),
    ["all", files.length, linesOf(files)],
  ]);

/** The core and the rooms beside it, with the number of files by which other rooms enter each. */
const coreText = (): string =>
  table([
    ["", "files", "lines", "doors"],
    ...roomSizes().map(({ room, files, lines, doors }) => [room, files, lines, room === "core" ? "" : doors]),
  ]);

const largest = (files: readonly string[]): string =>
  table([
    ["folder", "files", "lines"],
    ...by(files, 9)
      .toSorted(([, a], [, b]) => b.length - a.length)
      .slice(0, 10)
      .map(([folder, of]) => [folder, of.length, linesOf(of)]),
  ]);

/** Returns the words of the glossary's first table: those of our own. */
export const ownWords = (): readonly string[] =>
  (read("shared/docs/glossary.md").split("\n## ")[1] ?? "")
    .split("\n")
    .flatMap((line) => /^\| ([a-z, -]+) \| [A-Z]/.exec(line)?.[1]?.split(", ") ?? []);

const uses = (files: readonly string[]): string => {
  const text = files.map(read).join("\n");
  const count = (word: string): number => text.match(new RegExp(`\\b${word}s?\\b`, "gi"))?.length ?? 0;
  return table([["word", "uses"], ...ownWords().map((word) => [word, count(word)])]);
};

const wordsText = (parts: readonly string[]): string =>
  allWords()
    .filter(({ file }) => parts.length === 0 || parts.some((part) => file.includes(part)))
    .map(({ file, line, text }) => `${file}:${line}  ${text}`)
    .join("\n");

const mapText = (): string => {
  const found = circlesOf(sourcesUnder("functions", "shared"));
  const files = sourcesUnder("functions", "shared", "infra");
  return [
    `The core, and the rooms beside it (test/proof/house/rooms.ts)\n${coreText()}`,
    `Folders\n${rooms(files)}`,
    `Largest folders\n${largest(files)}`,
    [
      "Circles of imports, type imports included",
      `  among files: ${found.files}`,
      `  among folders: ${found.folders.length}`,
    ]
      .concat(found.folders.map((one) => `    ${one}`))
      .join("\n"),
    `Words of our own (shared/docs/glossary.md), uses under shared/\n${uses(sourcesUnder("shared"))}`,
  ].join("\n\n");
};

const main = (): void => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      kind: { type: "string" },
      kinds: { type: "boolean" },
      packages: { type: "boolean" },
      words: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) console.log(help);
  else if (values.kind !== undefined) console.log(kindText(values.kind));
  else if (values.kinds) console.log(table(kindNames.map((kind) => [kind, filesOf(kind).length])));
  else if (values.packages) console.log(packagesText());
  else console.log(values.words ? wordsText(positionals) : mapText());
};

if (import.meta.main) main();
