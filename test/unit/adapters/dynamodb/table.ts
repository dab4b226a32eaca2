/** A table for tests: in this process, or on the server that `npm run store` names. */
import { randomUUID } from "node:crypto";
import { CreateTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { startFake } from "./fake.ts";
import { serverVariable } from "./serving.ts";
import { openWire, type Wire } from "./wire.ts";

const endpoint = process.env[serverVariable] ?? (await startFake()).endpoint;

const string = (AttributeName: string) => ({ AttributeName, AttributeType: "S" }) as const;

const create = async (at: string, table: string, partition: string, sort: string): Promise<void> => {
  const client = new DynamoDBClient({ endpoint: at });
  await client.send(
    new CreateTableCommand({
      TableName: table,
      BillingMode: "PAY_PER_REQUEST",
      AttributeDefinitions: [string(partition), string(sort)],
      KeySchema: [
        { AttributeName: partition, KeyType: "HASH" },
        { AttributeName: sort, KeyType: "RANGE" },
      ],
    }),
  );
  client.destroy();
};

export type TestTable = { readonly table: string; readonly wire: Wire };

/** Creates a table and points every client of this process to it, through a proxy that can lose answers. */
export const openTable = async (partition = "cluster", sort = "key"): Promise<TestTable> => {
  Object.assign(process.env, {
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "test",
    AWS_SECRET_ACCESS_KEY: "test",
    AWS_EC2_METADATA_DISABLED: "true",
  });
  const wire = await openWire(endpoint);
  const table = `t-${randomUUID()}`;
  await create(endpoint, table, partition, sort);
  process.env["AWS_ENDPOINT_URL_DYNAMODB"] = wire.endpoint;
  return { table, wire };
};
