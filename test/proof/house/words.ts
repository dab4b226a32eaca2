/**
 * Texts that people may read: string and template literals of the sources that hold a sentence or a part of one, and the
 * texts of the installation.
 */
import { literalsOf, read, sourcesUnder, tracked } from "./sources.ts";

export type Words = { readonly file: string; readonly line: number; readonly text: string };

/** Matches two words in lower case with a space between them: identifiers, paths and formats have none. */
const isSentence = (text: string): boolean =>
  /[a-z]{2,}[ ,:;]+(\S* )*\S*[a-z]{2,}/.test(text) && text.trim().includes(" ");

/** Texts of the template, the alarms and the chart that AWS, Prometheus, Helm or the reader of values shows. */
const installed: readonly (readonly [files: RegExp, text: RegExp])[] = [
  [/^infra\/(aws\/template|grafana\/alerts)\.yaml$/, /^ *(?:\w*Description|summary): "?(.*?)"?$/],
  [/^infra\/helm\/rekindle\/values\.yaml$/, /^ *# (.*)$/],
  [/^infra\/helm\/rekindle\/templates\/NOTES\.txt$/, /^(.*)$/],
];

const wordsOfInstallation = (): readonly Words[] =>
  installed.flatMap(([files, text]) =>
    tracked
      .filter((file) => files.test(file))
      .flatMap((file) =>
        read(file)
          .split("\n")
          .flatMap((line, at) => ({ file, line: at + 1, text: text.exec(line)?.[1] ?? "" })),
      ),
  );

const wordsOfSources = (): readonly Words[] =>
  sourcesUnder("shared", "functions", "infra/dashboards").flatMap((file) =>
    literalsOf(read(file)).map(({ line, text }) => ({ file, line, text: text.replaceAll("\n", "⏎") })),
  );

/** Returns all such texts, except the simulator's, which only users of the demo see. */
export const allWords = (): readonly Words[] =>
  [...wordsOfSources(), ...wordsOfInstallation()].filter(
    ({ file, text }) => !file.startsWith("shared/simulator/") && isSentence(text),
  );
