/** Every field of a structural schema, each as two values that differ in nothing else. */
import { type Fields, isFields } from "../../infra/crd-comparison.ts";

/** A field and two minimal specs that hold it, with one value and with another. */
export type Field = { readonly path: string; readonly one: unknown; readonly other: unknown };

type Pair = readonly [one: unknown, other: unknown];

/** Values for fields whose schema does not say enough: a whole path, or the end of one → two values. */
export type Samples = Readonly<Record<string, Pair>>;

/** The key of a map's only entry: valid for labels, variables, resources and confs. */
const entry = "spark.k";

const plain = (schema: Fields): Pair => {
  const least = typeof schema["minimum"] === "number" ? schema["minimum"] : 1;
  const byType: Readonly<Record<string, Pair>> = {
    integer: [least, least + 1],
    boolean: [true, false],
    string: ["va", "vb"],
  };
  return byType[`${schema["type"]}`] ?? [{ a: "va" }, { a: "vb" }];
};

const sampleOf = (schema: Fields, path: string, samples: Samples): Pair => {
  const own = Object.entries(samples).find(([end]) => path === end || path.endsWith(`.${end}`))?.[1];
  if (own !== undefined) return own;
  const words = Array.isArray(schema["enum"]) ? schema["enum"] : [];
  if (words.length > 0) return [words[0], words[1]];
  return schema["x-kubernetes-int-or-string"] === true ? [1, 2] : plain(schema);
};

const childrenOf = (schema: Fields): readonly (readonly [name: string, child: Fields])[] =>
  Object.entries(isFields(schema["properties"]) ? schema["properties"] : {}).flatMap(([name, child]) =>
    isFields(child) ? [[name, child] as const] : [],
  );

const join = (path: string, name: string): string => (path === "" ? name : `${path}.${name}`);

/** Returns the required fields of a schema, each with its first value. */
const least = (schema: Fields, path: string, samples: Samples): Fields => {
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  return Object.fromEntries(
    childrenOf(schema)
      .filter(([name]) => required.includes(name))
      .map(([name, child]) => [name, leastValue(child, join(path, name), samples)]),
  );
};

const leastValue = (schema: Fields, path: string, samples: Samples): unknown => {
  if (isFields(schema["items"])) return [];
  return childrenOf(schema).length === 0 ? sampleOf(schema, path, samples)[0] : least(schema, path, samples);
};

const wrapped = (fields: readonly Field[], wrap: (inner: unknown) => unknown): readonly Field[] =>
  fields.map(({ path, one, other }) => ({ path, one: wrap(one), other: wrap(other) }));

/** Lists the leaf fields of a schema: a list by its only item, a map by its only entry. */
export const fieldsOf = (schema: Fields, samples: Samples, path = ""): readonly Field[] => {
  const { items, additionalProperties } = schema;
  if (isFields(items)) return wrapped(fieldsOf(items, samples, `${path}[]`), (item) => [item]);
  if (isFields(additionalProperties))
    return wrapped(fieldsOf(additionalProperties, samples, `${path}.*`), (value) => ({ [entry]: value }));
  const children = childrenOf(schema);
  if (children.length === 0) {
    const [one, other] = sampleOf(schema, path, samples);
    return [{ path, one, other }];
  }
  const beside = least(schema, path, samples);
  return children.flatMap(([name, child]) =>
    wrapped(fieldsOf(child, samples, join(path, name)), (inner) => ({ ...beside, [name]: inner })),
  );
};

/** Merges the second value over the first: objects and lists place by place. */
export const merged = (under: unknown, over: unknown): unknown => {
  if (Array.isArray(under) && Array.isArray(over))
    return [...over.map((item, at) => merged(under[at], item)), ...under.slice(over.length)];
  if (!isFields(under) || !isFields(over)) return over === undefined ? under : over;
  return { ...under, ...Object.fromEntries(Object.entries(over).map(([key, it]) => [key, merged(under[key], it)])) };
};
