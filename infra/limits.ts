/** Constraints of CRD fields beside their types: defaults, bounds, words. Rekindle's code does its own checks. */
import type { Limits } from "../shared/kube/kind-definition.ts";
import type { Schema } from "./structural.ts";

const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const stepInto = (part: string): readonly [keyword: string, name: string | undefined] => {
  if (part === "[]") return ["items", undefined];
  return part === "{}" ? ["additionalProperties", undefined] : ["properties", part];
};

const within = (schema: unknown, path: readonly string[], keywords: Schema): Schema => {
  const own = isSchema(schema) ? schema : {};
  const [part, ...rest] = path;
  if (part === undefined) return { ...own, ...keywords };
  const [keyword, name] = stepInto(part);
  const inner = own[keyword];
  if (name === undefined) return { ...own, [keyword]: within(inner, rest, keywords) };
  const properties = isSchema(inner) ? inner : {};
  if (properties[name] === undefined) throw new Error(`no field ${name}`);
  return { ...own, [keyword]: { ...properties, [name]: within(properties[name], rest, keywords) } };
};

/** The properties of an object with the limits set. */
export const limited = (properties: Schema, limits: Limits = {}): Schema => {
  const whole = Object.entries(limits).reduce<Schema>(
    (schema, [path, keywords]) => within(schema, path.split("."), keywords),
    { properties },
  );
  return isSchema(whole["properties"]) ? whole["properties"] : properties;
};
