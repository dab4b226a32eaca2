/** The part of DynamoDB that the store uses, in this process. `npm run store` runs the same tests on DynamoDB Local. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import * as z from "zod";
import { listening, type Serving } from "./serving.ts";

type Fields = Readonly<Record<string, unknown>>;
type Table = { readonly keys: readonly string[]; readonly items: Map<string, Fields> };

const ask = z.looseObject({
  TableName: z.string(),
  KeySchema: z.array(z.object({ AttributeName: z.string() })).default([]),
  Item: z.record(z.string(), z.unknown()).default({}),
  Key: z.record(z.string(), z.unknown()).default({}),
  ConditionExpression: z.string().optional(),
  ProjectionExpression: z.string().optional(),
  KeyConditionExpression: z.string().default(""),
  ExpressionAttributeNames: z.record(z.string(), z.string()).default({}),
  ExpressionAttributeValues: z.record(z.string(), z.unknown()).default({}),
  ExclusiveStartKey: z.record(z.string(), z.unknown()).optional(),
  ReturnValuesOnConditionCheckFailure: z.string().optional(),
});

type Ask = z.infer<typeof ask>;

/** An error of DynamoDB. */
class Refusal extends Error {
  override readonly name = "Refusal";
  readonly type: string;
  readonly more: Fields;

  constructor(type: string, message: string, more: Fields = {}) {
    super(message);
    this.type = type;
    this.more = more;
  }
}

const pageBytes = 1 << 20;
const itemBytes = 400 * 1_024;

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
const textIn = (value: unknown): string => z.object({ S: z.string() }).safeParse(value).data?.S ?? "";

const placeIn = ({ keys }: Table, fields: Fields): string => {
  if (keys.some((key) => fields[key] === undefined))
    throw new Refusal("ValidationException", "One of the required keys was not given a value");
  return JSON.stringify(keys.map((key) => fields[key]));
};

/** Evaluates the two conditions that the store uses. */
const holds = (asked: Ask, existing: Fields | undefined): boolean => {
  if (asked.ConditionExpression === undefined) return true;
  if (asked.ConditionExpression.startsWith("attribute_not_exists")) return existing === undefined;
  const [name = "", value = ""] = asked.ConditionExpression.split(" = ");
  return same(existing?.[asked.ExpressionAttributeNames[name] ?? name], asked.ExpressionAttributeValues[value]);
};

const checked = (asked: Ask, existing: Fields | undefined): void => {
  if (holds(asked, existing)) return;
  const more = asked.ReturnValuesOnConditionCheckFailure === "ALL_OLD" && existing !== undefined;
  const type = "ConditionalCheckFailedException";
  throw new Refusal(type, "The conditional request failed", more ? { Item: existing } : {});
};

const put = (table: Table, asked: Ask): Fields => {
  if (JSON.stringify(asked.Item).length > itemBytes * 1.4)
    throw new Refusal("ValidationException", "Item size has exceeded the maximum allowed size");
  const place = placeIn(table, asked.Item);
  checked(asked, table.items.get(place));
  table.items.set(place, asked.Item);
  return {};
};

const get = (table: Table, asked: Ask): Fields => {
  const Item = table.items.get(placeIn(table, asked.Key));
  return Item === undefined ? {} : { Item };
};

const remove = (table: Table, asked: Ask): Fields => {
  const place = placeIn(table, asked.Key);
  checked(asked, table.items.get(place));
  table.items.delete(place);
  return {};
};

const projected = (asked: Ask, item: Fields): Fields => {
  const names = asked.ProjectionExpression?.split(", ").map((name) => asked.ExpressionAttributeNames[name] ?? name);
  return names === undefined
    ? item
    : Object.fromEntries(names.flatMap((name) => (name in item ? [[name, item[name]]] : [])));
};

const query = (table: Table, asked: Ask): Fields => {
  const [partition = "", sort = ""] = table.keys;
  const { ":cluster": cluster, ":prefix": prefix } = asked.ExpressionAttributeValues;
  const found = [...table.items.values()]
    .filter((item) => same(item[partition], cluster) && textIn(item[sort]).startsWith(textIn(prefix)))
    .filter((item) => textIn(item[sort]) > textIn(asked.ExclusiveStartKey?.[sort]))
    .sort((a, b) => (textIn(a[sort]) < textIn(b[sort]) ? -1 : 1));
  let left = pageBytes;
  const page = found.filter((item) => {
    const fits = left > 0;
    left -= JSON.stringify(item).length;
    return fits;
  });
  const last = page.at(-1);
  const more = page.length < found.length && last !== undefined;
  const LastEvaluatedKey = more ? Object.fromEntries(table.keys.map((key) => [key, last[key]])) : undefined;
  return { Items: page.map((item) => projected(asked, item)), LastEvaluatedKey };
};

const acts: Readonly<Record<string, (table: Table, asked: Ask) => Fields>> = {
  GetItem: get,
  PutItem: put,
  DeleteItem: remove,
  Query: query,
};

const answering = (tables: Map<string, Table>, act: string, asked: Ask): Fields => {
  if (act === "CreateTable") {
    tables.set(asked.TableName, { keys: asked.KeySchema.map((key) => key.AttributeName), items: new Map() });
    return {};
  }
  const table = tables.get(asked.TableName);
  if (table === undefined)
    throw new Refusal("ResourceNotFoundException", "Cannot do operations on a non-existent table");
  return acts[act]?.(table, asked) ?? {};
};

const told = (cause: unknown): { readonly status: number; readonly body: Fields } => {
  if (!(cause instanceof Refusal)) throw cause;
  const { type, message, more } = cause;
  return { status: 400, body: { __type: `com.amazonaws.dynamodb.v20120810#${type}`, message, ...more } };
};

/** Starts the fake on 127.0.0.1, with no table. */
export const startFake = (): Promise<Serving> => {
  const tables = new Map<string, Table>();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const act = String(request.headers["x-amz-target"]).split(".")[1] ?? "";
    const asked = ask.parse(JSON.parse((await buffer(request)).toString("utf8")));
    let outcome: ReturnType<typeof told>;
    try {
      outcome = { status: 200, body: answering(tables, act, asked) };
    } catch (cause) {
      outcome = told(cause);
    }
    response.writeHead(outcome.status, { "content-type": "application/x-amz-json-1.0" });
    response.end(JSON.stringify(outcome.body));
  };
  return listening(createServer((request, response) => void answer(request, response)));
};
