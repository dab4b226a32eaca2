/** The SAM template as values: the functions, their rights, and their variables. */
import { parse, type ScalarTag } from "yaml";
import * as z from "zod";

const functions = ["Ref", "Sub", "GetAtt", "If", "Equals", "Not", "Join", "And", "Condition"] as const;

/** CloudFormation's short forms, as the long ones that they stand for. */
const customTags = functions.flatMap((name) => {
  const long = name === "Ref" || name === "Condition" ? name : `Fn::${name}`;
  const scalar: ScalarTag = { tag: `!${name}`, resolve: (text) => ({ [long]: text }) };
  const sequence = {
    tag: `!${name}`,
    collection: "seq" as const,
    resolve: (value: { toJSON(): unknown }) => ({ [long]: value.toJSON() }),
  };
  return [scalar, sequence];
});

const texts = z.union([z.string().transform((one) => [one]), z.array(z.string())]);

const statement = z.looseObject({ Effect: z.literal("Allow"), Action: texts, Resource: z.unknown() });

const shape = z.looseObject({
  Globals: z.object({
    Function: z.looseObject({ Environment: z.object({ Variables: z.record(z.string(), z.unknown()) }) }),
  }),
  Resources: z.record(z.string(), z.looseObject({ Type: z.string(), Properties: z.record(z.string(), z.unknown()) })),
});

export type Template = z.infer<typeof shape>;
export type Statement = z.infer<typeof statement>;

/** Reads a template; throws for another text. */
export const readTemplate = (text: string): Template => shape.parse(parse(text, { customTags }));

const isIf = (value: unknown): value is { readonly "Fn::If": readonly [string, unknown, unknown] } =>
  typeof value === "object" && value !== null && "Fn::If" in value;

/** All values that a statement may have, for every outcome of its conditions. */
const unfolded = (value: unknown): readonly unknown[] => {
  if (!isIf(value)) return [value];
  const [, yes, no] = value["Fn::If"];
  return [...unfolded(yes), ...unfolded(no)];
};

const isNothing = (value: unknown): boolean => JSON.stringify(value) === '{"Ref":"AWS::NoValue"}';

const policies = z.array(z.object({ PolicyDocument: z.looseObject({ Statement: z.array(z.unknown()) }) }));

/** Functions by their logical id. */
export const functionsIn = ({ Resources }: Template): ReadonlyMap<string, Template["Resources"][string]> =>
  new Map(Object.entries(Resources).filter(([, { Type }]) => Type === "AWS::Serverless::Function"));

/** The statements of a function's role. */
export const statementsOf = ({ Resources }: Template, id: string): readonly Statement[] => {
  const role = Resources[`${id}Role`]?.Properties["Policies"];
  return policies
    .parse(role)
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
    .flatMap(unfolded)
    .filter((one) => !isNothing(one))
    .map((one) => statement.parse(one));
};

const environment = z.object({ Variables: z.record(z.string(), z.unknown()) }).default({ Variables: {} });

/** Names of a function's environment variables. */
export const variablesOf = (template: Template, id: string): readonly string[] => {
  const own = environment.parse(template.Resources[id]?.Properties["Environment"]).Variables;
  return [...Object.keys(template.Globals.Function.Environment.Variables), ...Object.keys(own)].sort();
};
