/** A zod schema as the structural OpenAPI schema that a CustomResourceDefinition takes. */
import * as z from "zod";

export type Schema = { readonly [keyword: string]: unknown };

const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const schemasIn = (value: unknown): readonly (readonly [string, Schema])[] =>
  isSchema(value)
    ? Object.entries(value).flatMap(([name, item]) => (isSchema(item) ? [[name, item] as const] : []))
    : [];

const preserve = "x-kubernetes-preserve-unknown-fields";

/** The format of an integer, derived from its bounds. */
const formatOf = (schema: Schema): Schema => {
  if (schema["type"] !== "integer") return {};
  return { format: schema["minimum"] === -(2 ** 31) || schema["maximum"] === 2 ** 31 - 1 ? "int32" : "int64" };
};

const boundsOf = (schema: Schema): Schema => {
  const { minimum, maximum } = schema;
  return {
    ...(typeof minimum === "number" && minimum > -(2 ** 31) ? { minimum } : {}),
    ...(typeof maximum === "number" && maximum < 2 ** 31 - 1 ? { maximum } : {}),
  };
};

const kept = [
  "type",
  "format",
  "enum",
  "pattern",
  "minLength",
  "maxLength",
  "nullable",
  "description",
  preserve,
] as const;

const plain = (schema: Schema): Schema =>
  Object.fromEntries(kept.flatMap((keyword) => (schema[keyword] === undefined ? [] : [[keyword, schema[keyword]]])));

/** A union of integer and text is int-or-string in Kubernetes; other unions have no structural form. */
const unionOf = (schema: Schema): Schema | undefined => {
  const branches = Array.isArray(schema["anyOf"]) ? schema["anyOf"].filter(isSchema) : [];
  if (branches.length === 0) return undefined;
  const types = branches.map((branch) => branch["type"]).sort();
  if (types.join() !== "integer,string") throw new Error(`no structural form for ${JSON.stringify(schema)}`);
  return { "x-kubernetes-int-or-string": true };
};

/** Objects: with named fields, unknown ones are pruned as upstream prunes them; with none, everything is kept. */
const objectOf = (schema: Schema): Schema => {
  const properties = schemasIn(schema["properties"]);
  const values = schema["additionalProperties"];
  const open = isSchema(values) && Object.keys(values).length > 0;
  if (properties.length === 0) return open ? { additionalProperties: structural(values) } : { [preserve]: true };
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  return {
    properties: Object.fromEntries(properties.map(([name, item]) => [name, structural(item)])),
    ...(required.length === 0 ? {} : { required: [...required].sort() }),
  };
};

const structural = (schema: Schema): Schema => {
  const union = unionOf(schema);
  if (union !== undefined) return union;
  const { items } = schema;
  return {
    ...formatOf(schema),
    ...plain(schema),
    ...boundsOf(schema),
    ...(isSchema(items) ? { items: structural(items) } : {}),
    ...(schema["type"] === "object" ? objectOf(schema) : {}),
  };
};

/** The structural schema of the zod schema's input. */
export const structuralOf = (schema: z.ZodType): Schema => {
  const json: unknown = z.toJSONSchema(schema, { target: "openapi-3.0", io: "input", unrepresentable: "any" });
  return isSchema(json) ? structural(json) : {};
};
