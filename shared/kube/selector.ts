/** Label selectors as users write them: `a=b, c!=d, e in (f,g), !h, i`. */

export type Labels = Readonly<Record<string, string>>;
export type Selects = (labels: Labels) => boolean;

const set = /^([^\s!=,()]+)\s+(in|notin)\s*\(([^)]*)\)$/;
const equality = /^([^\s!=,()]+)\s*(==|=|!=)\s*([^\s!=,()]*)$/;
const existence = /^(!?)\s*([^\s!=,()]+)$/;

/** One requirement, as the API writes it. */
export type Expression = {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  readonly values?: readonly string[];
};

const expressionOf = (text: string): Expression | undefined => {
  const [, key = "", how, list = ""] = set.exec(text) ?? [];
  if (how !== undefined)
    return { key, operator: how === "in" ? "In" : "NotIn", values: list.split(",").map((value) => value.trim()) };
  const [, name = "", sign, value = ""] = equality.exec(text) ?? [];
  if (sign !== undefined) return { key: name, operator: sign === "!=" ? "NotIn" : "In", values: [value] };
  const [, not, there = ""] = existence.exec(text) ?? [];
  return not === undefined ? undefined : { key: there, operator: not === "" ? "Exists" : "DoesNotExist" };
};

const parsed = (text: string): readonly Expression[] | undefined => {
  const texts = text.match(/[^,(]+(\([^()]*\))?/g) ?? [];
  const terms = texts.map((term) => term.trim()).filter((term) => term !== "");
  const expressions = terms.map(expressionOf).filter((one) => one !== undefined);
  return expressions.length < terms.length ? undefined : expressions;
};

/** True if labels meet one requirement. */
export const meetsExpression = ({ key, operator, values = [] }: Expression, labels: Labels): boolean => {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  const among = value !== undefined && values.includes(value);
  const answers = { In: among, NotIn: !among, Exists: value !== undefined, DoesNotExist: value === undefined };
  return answers[operator];
};

/** Returns the test of a selector; undefined if the text is none. The empty selector selects everything. */
export const selectorOf = (text: string): Selects | undefined => {
  const expressions = parsed(text);
  return expressions === undefined ? undefined : (labels) => expressions.every((one) => meetsExpression(one, labels));
};

/** Returns the requirements of a selector; none if the text is no selector. */
export const expressionsOf = (text: string): readonly Expression[] => parsed(text) ?? [];
