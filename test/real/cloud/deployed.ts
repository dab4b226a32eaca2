/**
 * A deployed stack of the template: queues on ElasticMQ, the table on DynamoDB Local, the bundles as `sam build` cuts
 * them in environments of the real runtime client, and the sources that invoke them, all as in the template. One scale
 * shortens AWS's clocks (visibility timeouts, schedules); the functions' own times are unchanged.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { CreateTableCommand, DynamoDBClient, UpdateTimeToLiveCommand } from "@aws-sdk/client-dynamodb";
import { CreateQueueCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { type Mapping, startMapping } from "../lambda/mapping.ts";
import { deploy, type House, type Lambda } from "../lambda/pool.ts";
import { credentials } from "../lambda/queues.ts";
import { type Schedule, startSchedule } from "../lambda/schedule.ts";
import type { FunctionUrl } from "../lambda/url.ts";
import { command } from "../setup/part.ts";
import { account, region } from "./account.ts";
import { openHttpApi } from "./door.ts";
import { type Guard, grants } from "./guard.ts";
import type { QueueSource, ScheduleSource } from "./sources.ts";
import type { LambdaFunction, Queue, Stack, Table } from "./stack.ts";

export type Site = {
  readonly house: House;
  readonly guard: Guard;
  /** A client of the queue server itself, for AWS's own actions on it. */
  readonly queue: SQSClient;
  /** The endpoint of ElasticMQ itself. */
  readonly sqs: string;
  /** The endpoint of DynamoDB Local itself. */
  readonly dynamodb: string;
  /** Folder of bundles and logs. */
  readonly dir: string;
  /** Seconds of AWS's clocks per second here. */
  readonly scale: number;
};

export type Deployed = {
  /** By logical id in lower case. */
  readonly functions: Readonly<Record<string, Lambda>>;
  readonly mappings: readonly Mapping[];
  readonly door: FunctionUrl;
  /** Stops all invocations, waits for those under way, and ends the environments. Queues, messages and records stay. */
  stop(): Promise<void>;
};

const attributesOf = (queue: Queue, scale: number): Record<string, string> => {
  const { FifoQueue, VisibilityTimeout, MessageRetentionPeriod, RedrivePolicy } = queue;
  const seconds = VisibilityTimeout === undefined ? {} : { VisibilityTimeout: String(VisibilityTimeout / scale) };
  return {
    ...seconds,
    ...(FifoQueue === true ? { FifoQueue: "true", ContentBasedDeduplication: "false" } : {}),
    ...(MessageRetentionPeriod === undefined ? {} : { MessageRetentionPeriod: String(MessageRetentionPeriod) }),
    ...(RedrivePolicy === undefined ? {} : { RedrivePolicy: JSON.stringify(RedrivePolicy) }),
  };
};

/** Creates dead-letter queues first, because other queues refer to them. */
const createQueues = async (stack: Stack, { queue, scale }: Site): Promise<void> => {
  const all = [...stack.queues.values()].sort((a) => (a.RedrivePolicy === undefined ? -1 : 1));
  for (const one of all)
    await queue.send(new CreateQueueCommand({ QueueName: one.QueueName, Attributes: attributesOf(one, scale) }));
};

const createTable = async (table: Table, endpoint: string): Promise<void> => {
  const client = new DynamoDBClient({ endpoint, region, credentials });
  const { TableName, BillingMode, AttributeDefinitions, KeySchema, TimeToLiveSpecification } = table;
  try {
    await client.send(new CreateTableCommand({ TableName, BillingMode, AttributeDefinitions, KeySchema }));
    await client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }));
  } catch (cause) {
    if (!(cause instanceof Error) || cause.name !== "ResourceInUseException") throw cause;
  } finally {
    client.destroy();
  }
};

/** Resolves the values that CloudFormation looks up when it deploys. */
const lookedUp = (value: string, { secrets }: Guard): string =>
  value.replaceAll(/\{\{resolve:secretsmanager:([^}]+)\}\}/g, (_, arn: string) => {
    const text = secrets.get(arn);
    if (text === undefined) throw new Error(`there is no secret ${arn}`);
    return text;
  });

/**
 * Returns the variables that Lambda sets for every function; each function has its own access key, which identifies it.
 */
const platformOf = (one: LambdaFunction, { guard }: Site): Record<string, string> => ({
  AWS_REGION: region,
  AWS_ACCESS_KEY_ID: one.id,
  AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  AWS_SESSION_TOKEN: `a session of ${one.id}`,
  AWS_ENDPOINT_URL_SQS: guard.endpoint,
  AWS_ENDPOINT_URL_DYNAMODB: guard.endpoint,
  AWS_ENDPOINT_URL_SECRETS_MANAGER: guard.endpoint,
});

/** The number of environments per function: more than its sources use at once. */
const environments = 10;

const placed = async (one: LambdaFunction, site: Site): Promise<Lambda> => {
  const taskRoot = join(site.dir, "code", one.id);
  if (!existsSync(taskRoot))
    await command(process.execPath, ["infra/door.mjs", "infra/aws/package.ts", one.id, taskRoot]);
  site.guard.admit(one.id, one.statements);
  const told = Object.entries(one.environment).map(([name, value]) => [name, lookedUp(value, site.guard)]);
  const environment = { ...Object.fromEntries(told), ...platformOf(one, site) };
  const { module, memoryMb, timeoutMs } = one;
  const definition = { name: one.id, taskRoot, module, memoryMb, timeoutMs, environment, logDir: site.dir };
  return deploy(site.house, { ...definition, concurrency: environments });
};

const pollActions = ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"];

const mapped = (one: LambdaFunction, lambda: Lambda, source: QueueSource, { queue, sqs }: Site): Mapping => {
  const lacking = pollActions.filter((action) => !grants(one.statements, action, source.arn));
  if (lacking.length > 0) throw new Error(`${one.name} polls ${source.arn} and may not ${lacking.join(", ")}`);
  const queueUrl = `${sqs}/${account}/${source.arn.split(":").at(-1)}`;
  const { batchSize, concurrency, partial } = source;
  return startMapping({ client: queue, queueUrl, lambda, batchSize, concurrency, partial, waitSeconds: 2 });
};

/** A failed asynchronous invocation is retried twice. */
const again = { retries: 2, retryMs: 1_000 };

const scheduled = (lambda: Lambda, { input, everyMs }: ScheduleSource, { scale }: Site): Schedule => {
  const given = input === undefined ? undefined : JSON.parse(input);
  return startSchedule({ lambda, input: given, everyMs: everyMs / scale, ...again });
};

/** Deploys the stack. Existing queues and tables keep their contents, as in an update of a stack. */
export const deployStack = async (stack: Stack, site: Site): Promise<Deployed> => {
  await createQueues(stack, site);
  if (stack.table !== undefined) await createTable(stack.table, site.dynamodb);
  const placing = stack.functions.map(async (one) => ({ one, lambda: await placed(one, site) }));
  const all = await Promise.all(placing);
  const invoked = all.flatMap(({ one, lambda }) => one.sources.map((source) => ({ one, lambda, source })));
  const mappings = invoked.flatMap(({ one, lambda, source }) =>
    source.from === "queue" && source.enabled ? [mapped(one, lambda, source, site)] : [],
  );
  const schedules = invoked.flatMap(({ lambda, source }) =>
    source.from === "schedule" && source.enabled ? [scheduled(lambda, source, site)] : [],
  );
  const routes = invoked.flatMap(({ lambda, source }) => (source.from === "route" ? [{ ...source, lambda }] : []));
  const door = await openHttpApi(routes);
  const stop = async (): Promise<void> => {
    door.close();
    await Promise.all([...mappings, ...schedules].map((one) => one.stop()));
    await Promise.all(all.map(({ lambda }) => lambda.stop()));
  };
  return { functions: Object.fromEntries(all.map(({ one, lambda }) => [one.id, lambda])), mappings, door, stop };
};
