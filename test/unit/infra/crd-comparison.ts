/**
 * Compares structural schemas field by field, as far as Rekindle's schema is typed: embedded core types are opaque in
 * it.
 */

export type Fields = { readonly [name: string]: unknown };
export type Path = readonly string[];
export type Difference = { readonly path: Path; readonly what: string };

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const at = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((inner, name) => (isFields(inner) ? inner[name] : undefined), value);

/** Returns a part of a CRD's only version. */
export const versionAt = (crd: Fields, path: Path): Fields => {
  const versions = at(crd, ["spec", "versions"]);
  const [version] = Array.isArray(versions) ? versions : [];
  const part: unknown = at(version, path);
  return isFields(part) ? part : { value: part };
};

const compared = ["type", "enum", "pattern", "minimum", "maximum", "nullable", "x-kubernetes-int-or-string"] as const;

const text = (value: unknown): string => JSON.stringify(Array.isArray(value) ? [...value].sort() : value) ?? "none";

const keywords = (mine: Fields, theirs: Fields, path: Path): readonly Difference[] =>
  [...compared, "required"]
    .filter((word) => text(mine[word]) !== text(theirs[word]))
    .map((word) => ({ path, what: `${word} is ${text(mine[word])}, upstream ${text(theirs[word])}` }));

const childrenOf = (mine: Fields, theirs: Fields, path: Path): readonly Difference[] => {
  const own = isFields(mine["properties"]) ? mine["properties"] : {};
  const their = isFields(theirs["properties"]) ? theirs["properties"] : {};
  return [...new Set([...Object.keys(own), ...Object.keys(their)])].flatMap((name) => {
    const [a, b] = [own[name], their[name]];
    if (isFields(a) && isFields(b)) return differences(a, b, [...path, name]);
    return [{ path: [...path, name], what: a === undefined ? "upstream's alone" : "ours alone" }];
  });
};

/**
 * Lists every place where two schemas differ. A field that preserves unknown fields in Rekindle's schema equals any
 * field of the same type.
 */
export const differences = (mine: Fields, theirs: Fields, path: Path = []): readonly Difference[] => {
  if (mine["x-kubernetes-preserve-unknown-fields"] === true) {
    return mine["type"] === (theirs["type"] ?? "object") ? [] : keywords(mine, theirs, path);
  }
  const inner = ["items", "additionalProperties"].flatMap((word) => {
    const [a, b] = [mine[word], theirs[word]];
    return isFields(a) && isFields(b) ? differences(a, b, [...path, `<${word}>`]) : [];
  });
  return [...keywords(mine, theirs, path), ...childrenOf(mine, theirs, path), ...inner];
};
