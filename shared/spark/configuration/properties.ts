/** Java's properties format, as `java.util.Properties` writes it: the driver reads its confs in this format. */

const named: Readonly<Record<string, string>> = { "\t": "\\t", "\n": "\\n", "\r": "\\r", "\f": "\\f" };

const telling = /[\t\n\r\f\\=:#! ]/g;

const escaped = (text: string, spaces: boolean): string =>
  text.replace(telling, (character, at: number) =>
    character === " " && !spaces && at > 0 ? " " : (named[character] ?? `\\${character}`),
  );

/** Writes a map, sorted by key so that equal maps give equal texts. */
export const propertiesText = (title: string, values: ReadonlyMap<string, string>): string =>
  [
    `#${title}`,
    ...[...values]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, value]) => `${escaped(key, true)}=${escaped(value, false)}`),
    "",
  ].join("\n");
