/** Texts of the sources that people may read: string and template literals that hold a sentence or a part of one. */
import { literalsOf, read, sourcesUnder } from "./sources.ts";

export type Words = { readonly file: string; readonly line: number; readonly text: string };

/** Matches two words in lower case with a space between them: identifiers, paths and formats have none. */
const isSentence = (text: string): boolean =>
  /[a-z]{2,}[ ,:;]+(\S* )*\S*[a-z]{2,}/.test(text) && text.trim().includes(" ");

/** Returns all such texts under shared/ and functions/, except the simulator's, which only users of the demo see. */
export const allWords = (): readonly Words[] =>
  sourcesUnder("shared", "functions")
    .filter((file) => !file.startsWith("shared/simulator/"))
    .flatMap((file) =>
      literalsOf(read(file))
        .filter(({ text }) => isSentence(text))
        .map(({ line, text }) => ({ file, line, text: text.replaceAll("\n", "⏎") })),
    );
