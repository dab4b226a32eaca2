/**
 * Evaluates infra/aws/template.yaml for one account: queues, table, functions, their sources and their rights. An
 * unknown part of the template is an error, so that no part stays untested unnoticed.
 */
import * as z from "zod";
import type { Values } from "../../../infra/aws/parameters.ts";
import { type Known, type Resolver, resolverOf } from "../../../infra/aws/resolving.ts";
import { functionsIn, type Template } from "../../../infra/aws/template.ts";
import { account, arnOf, region } from "./account.ts";
import { eventShape, type Source } from "./sources.ts";

const number = z.union([z.number(), z.string().regex(/^\d+$/)]).transform(Number);
const word = z.union([z.string(), z.number(), z.boolean()]).transform(String);

const queueShape = z.strictObject({
  QueueName: z.string(),
  SqsManagedSseEnabled: z.boolean(),
  FifoQueue: z.boolean().optional(),
  DeduplicationScope: z.string().optional(),
  FifoThroughputLimit: z.string().optional(),
  VisibilityTimeout: number.optional(),
  MessageRetentionPeriod: number.optional(),
  RedrivePolicy: z.strictObject({ deadLetterTargetArn: z.string(), maxReceiveCount: number }).optional(),
});

export type Queue = z.infer<typeof queueShape>;

const tableShape = z.strictObject({
  TableName: z.string(),
  BillingMode: z.literal("PAY_PER_REQUEST"),
  AttributeDefinitions: z.array(z.strictObject({ AttributeName: z.string(), AttributeType: z.literal("S") })),
  KeySchema: z.array(z.strictObject({ AttributeName: z.string(), KeyType: z.enum(["HASH", "RANGE"]) })),
  TimeToLiveSpecification: z.strictObject({ AttributeName: z.string(), Enabled: z.boolean() }),
  PointInTimeRecoverySpecification: z.strictObject({ PointInTimeRecoveryEnabled: z.boolean() }),
  SSESpecification: z.strictObject({ SSEEnabled: z.boolean() }),
});

export type Table = z.infer<typeof tableShape>;

const statementShape = z.looseObject({
  Effect: z.literal("Allow"),
  Action: z.union([z.string().transform((one) => [one]), z.array(z.string())]),
  Resource: z.union([z.string().transform((one) => [one]), z.array(z.string())]),
});

export type Statement = z.infer<typeof statementShape>;

const roleShape = z.looseObject({
  Policies: z.array(z.looseObject({ PolicyDocument: z.looseObject({ Statement: z.array(statementShape) }) })),
});

const variables = z.object({ Variables: z.record(z.string(), word).default({}) }).default({ Variables: {} });

const functionShape = z.looseObject({
  FunctionName: z.string(),
  Runtime: z.literal("nodejs24.x"),
  Handler: z.string().regex(/^[a-z]+\.handler$/),
  MemorySize: number,
  Timeout: number,
  Role: z.string(),
  Environment: variables,
  Events: z.record(z.string(), eventShape).default({}),
});

export type LambdaFunction = {
  /** The logical id in lower case, which is the bundle's name. */
  readonly id: string;
  readonly name: string;
  readonly module: string;
  readonly memoryMb: number;
  readonly timeoutMs: number;
  readonly environment: Readonly<Record<string, string>>;
  readonly statements: readonly Statement[];
  readonly sources: readonly Source[];
};

export type Stack = {
  /** By logical id. */
  readonly queues: ReadonlyMap<string, Queue>;
  readonly table: Table | undefined;
  readonly functions: readonly LambdaFunction[];
};

type Resource = Template["Resources"][string];

/** Computes the name and the attributes of a resource from the template alone. */
const namer = (template: Template, parameters: Values, queueUrl: (name: string) => string): Known => {
  const pseudo = { "AWS::Region": region, "AWS::AccountId": account, "AWS::Partition": "aws" };
  const nobody = (id: string): never => {
    throw new Error(`the name of a resource may not hang on ${id}`);
  };
  const plain = resolverOf(template, { parameters, pseudo, ref: nobody, attribute: nobody });
  const resourceOf = (id: string): Resource => {
    const found = template.Resources[id];
    if (found === undefined) throw new Error(`the template has no resource or parameter ${id}`);
    const { Condition } = found;
    if (typeof Condition === "string" && !plain.holds(Condition))
      throw new Error(`${id} is not deployed: ${Condition}`);
    return found;
  };
  const named = (id: string, property: string): string => String(plain.resolve(resourceOf(id).Properties[property]));
  const ref = (id: string): string => {
    const { Type } = resourceOf(id);
    if (Type === "AWS::SQS::Queue") return queueUrl(named(id, "QueueName"));
    if (Type === "AWS::DynamoDB::Table") return named(id, "TableName");
    return id;
  };
  const attribute = (id: string, name: string): string => {
    const { Type } = resourceOf(id);
    if (name === "Arn" && Type === "AWS::SQS::Queue") return arnOf("sqs", named(id, "QueueName"));
    if (name === "Arn" && Type === "AWS::DynamoDB::Table") return arnOf("dynamodb", `table/${named(id, "TableName")}`);
    if (name === "Arn") return `${id}.Arn`;
    throw new Error(`the attribute ${id}.${name} is not known here`);
  };
  return { parameters, pseudo, ref, attribute };
};

const deployed = (template: Template, resolver: Resolver, type: string): readonly (readonly [string, unknown])[] =>
  Object.entries(template.Resources)
    .filter(([, { Type, Condition }]) => Type === type && (typeof Condition !== "string" || resolver.holds(Condition)))
    .map(([id, { Properties }]) => [id, resolver.resolve(Properties)] as const);

const statementsOf = (template: Template, resolver: Resolver, role: string): readonly Statement[] => {
  const { Properties } = template.Resources[role.replace(/\.Arn$/, "")] ?? {};
  return roleShape.parse(resolver.resolve(Properties)).Policies.flatMap((policy) => policy.PolicyDocument.Statement);
};

const functionOf = (template: Template, resolver: Resolver, id: string, own: unknown): LambdaFunction => {
  const globals = z.looseObject({ Environment: variables }).parse(resolver.resolve(template.Globals.Function));
  const { FunctionName, Handler, MemorySize, Timeout, Role, Environment, Events } = functionShape.parse({
    ...globals,
    ...z.looseObject({}).parse(own),
  });
  const environment = { ...globals.Environment.Variables, ...Environment.Variables };
  const bytes = Buffer.byteLength(Object.entries(environment).flat().join(""));
  if (bytes > 4_096) throw new Error(`${id} is told ${bytes} bytes of environment, Lambda takes 4096`);
  return {
    ...{ id: id.toLowerCase(), name: FunctionName, module: Handler.split(".")[0] ?? "" },
    ...{ memoryMb: MemorySize, timeoutMs: Timeout * 1_000, environment },
    statements: statementsOf(template, resolver, Role),
    sources: Object.values(Events),
  };
};

/**
 * Types that are not deployed here: rights are read from the roles, and the rest neither configures nor invokes a
 * function.
 */
const elsewhere: readonly string[] = [
  ...["AWS::IAM::Role", "AWS::Logs::LogGroup", "AWS::Serverless::HttpApi"],
  ...["AWS::CloudWatch::Alarm", "AWS::CloudWatch::Dashboard"],
  // Notices of Spot nodes: `npm run e2e -- --triggers`.
  ...["AWS::Events::Rule", "AWS::Lambda::Permission"],
];
const here: readonly string[] = ["AWS::SQS::Queue", "AWS::DynamoDB::Table", "AWS::Serverless::Function"];

const checkTypes = ({ Resources }: Template): void => {
  const strange = Object.entries(Resources).filter(([, { Type }]) => ![...here, ...elsewhere].includes(Type));
  if (strange.length === 0) return;
  throw new Error(`nobody here knows ${strange.map(([id, { Type }]) => `${id}, ${Type}`).join("; ")}`);
};

/** Evaluates the template. `queueUrl` returns the URL of a queue. */
export const stackOf = (template: Template, parameters: Values, queueUrl: (name: string) => string): Stack => {
  checkTypes(template);
  const resolver = resolverOf(template, namer(template, parameters, queueUrl));
  const queues = deployed(template, resolver, "AWS::SQS::Queue");
  const [[, table] = ["", undefined]] = deployed(template, resolver, "AWS::DynamoDB::Table");
  const functions = deployed(template, resolver, "AWS::Serverless::Function");
  const known = functionsIn(template);
  return {
    queues: new Map(queues.map(([id, own]) => [id, queueShape.parse(own)])),
    table: table === undefined ? undefined : tableShape.parse(table),
    functions: functions.filter(([id]) => known.has(id)).map(([id, own]) => functionOf(template, resolver, id, own)),
  };
};
