/** Parses Java's properties format, as the driver reads `spark.properties` and spark-submit its properties files. */

const escapes: Readonly<Record<string, string>> = { t: "\t", n: "\n", r: "\r", f: "\f" };

const plain = (text: string): string =>
  text.replace(/\\(u[0-9a-fA-F]{4}|[\s\S])/g, (_, code: string) =>
    code.length === 5 ? String.fromCharCode(Number.parseInt(code.slice(1), 16)) : (escapes[code] ?? code),
  );

/** Splits a text into lines; a line that ends in an odd number of backslashes continues in the next. */
const logicalLines = (text: string): readonly string[] =>
  text
    .replace(/(?<!\\)((?:\\\\)*)\\\r?\n[ \t\f]*/g, "$1")
    .split(/\r?\n/)
    .map((line) => line.replace(/^[ \t\f]+/, ""))
    .filter((line) => line !== "" && !/^[#!]/.test(line));

const pairOf = (line: string): readonly [string, string] => {
  const match = /^((?:\\[\s\S]|[^\\ \t\f=:])*)(?:[ \t\f]*[=:][ \t\f]*|[ \t\f]+|$)([\s\S]*)$/.exec(line);
  return [plain(match?.[1] ?? line), plain(match?.[2] ?? "")];
};

export const parseProperties = (text: string): Record<string, string> =>
  Object.fromEntries(logicalLines(text).map(pairOf));
