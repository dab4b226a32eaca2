/** Label selectors as users write them: `a=b, c!=d, e in (f,g), !h, i`. */

export type Labels = Readonly<Record<string, string>>;
export type Selects = (labels: Labels) => boolean;

const set = /^([^\s!=,()]+)\s+(in|notin)\s*\(([^)]*)\)$/;
const equality = /^([^\s!=,()]+)\s*(==|=|!=)\s*([^\s!=,()]*)$/;
const existence = /^(!?)\s*([^\s!=,()]+)$/;

const termOf = (text: string): Selects | undefined => {
  const [, key = "", how, list = ""] = set.exec(text) ?? [];
  if (how !== undefined) {
    const values = new Set(list.split(",").map((value) => value.trim()));
    return (labels) => values.has(labels[key] ?? "\0") === (how === "in");
  }
  const [, name = "", sign, value] = equality.exec(text) ?? [];
  if (sign !== undefined) return (labels) => (labels[name] === value) === (sign !== "!=");
  const [, not, there = ""] = existence.exec(text) ?? [];
  return not === undefined ? undefined : (labels) => Object.hasOwn(labels, there) === (not === "");
};

/** What the selector selects; undefined when it is none. The empty selector selects everything. */
export const selectorOf = (text: string): Selects | undefined => {
  const texts = text.match(/[^,(]+(\([^)]*\))?/g) ?? [];
  const terms = texts.map((term) => term.trim()).filter((term) => term !== "");
  const tests = terms.map(termOf);
  const parsed = tests.filter((test) => test !== undefined);
  return parsed.length < tests.length ? undefined : (labels) => parsed.every((test) => test(labels));
};
