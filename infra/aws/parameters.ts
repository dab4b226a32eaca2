/** A template's parameters as CloudFormation takes them: given values, defaults, and problems. Pure. */
import * as z from "zod";
import type { Template } from "./template.ts";

const text = z.union([z.string(), z.number()]).transform(String);

const declared = z.record(
  z.string(),
  z.object({
    Type: z.enum(["String", "Number", "CommaDelimitedList"]),
    Description: z.string(),
    ConstraintDescription: z.string().optional(),
    Default: text.optional(),
    NoEcho: z.boolean().optional(),
    AllowedPattern: z.string().optional(),
    AllowedValues: z.array(text).optional(),
    MinValue: z.number().optional(),
    MaxValue: z.number().optional(),
  }),
);

type Declared = z.infer<typeof declared>[string];

export type Values = Readonly<Record<string, string | readonly string[]>>;

const outside = (value: string, { MinValue = -Infinity, MaxValue = Infinity }: Declared): boolean =>
  !/^-?\d+(\.\d+)?$/.test(value) || Number(value) < MinValue || Number(value) > MaxValue;

/** The problem of one value, in the template's own words and without a secret; undefined: the value is valid. */
const problemOf = (name: string, value: string, one: Declared): string | undefined => {
  const { Type, AllowedPattern, AllowedValues, MinValue = "", MaxValue = "", NoEcho } = one;
  const said = `${name}${NoEcho === true ? "" : `=${value}`}`;
  if (Type === "Number" && outside(value, one)) return `${said}: a number is needed, ${MinValue} to ${MaxValue}`;
  if (AllowedValues !== undefined && !AllowedValues.includes(value))
    return `${said}: one of ${AllowedValues.join(", ")}`;
  if (AllowedPattern === undefined || new RegExp(AllowedPattern).test(value)) return undefined;
  return `${said}: ${one.ConstraintDescription ?? one.Description} is needed`;
};

const valued = ({ Type }: Declared, value: string): string | readonly string[] =>
  Type === "CommaDelimitedList" ? value.split(",") : value;

/** Every parameter's value, and a line for each that is unknown, missing or wrong. */
export const parametersOf = (
  template: Template,
  given: Readonly<Record<string, string>>,
): { readonly values: Values; readonly problems: readonly string[] } => {
  const known = declared.parse(template["Parameters"]);
  const unknown = Object.keys(given).filter((name) => known[name] === undefined);
  const problems = unknown.map(
    (name) => `${name}: the template has no such parameter (${Object.keys(known).join(", ")})`,
  );
  const values: Record<string, string | readonly string[]> = {};
  for (const [name, one] of Object.entries(known)) {
    const value = given[name] ?? one.Default;
    const problem = value === undefined ? `${name} is missing: ${one.Description}` : problemOf(name, value, one);
    if (problem !== undefined) problems.push(problem);
    if (value !== undefined) values[name] = valued(one, value);
  }
  return { values, problems };
};
