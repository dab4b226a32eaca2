/**
 * Deployments with a missing right: each error is one line that names the required change. On DynamoDB Local by `npm
 * run store`.
 */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { storedText } from "../../../shared/adapters/aws/stored-text.ts";
import { tableCheckpoints } from "../../../shared/adapters/dynamodb/checkpoints.ts";
import { openSqs } from "../../../shared/adapters/sqs/client.ts";
import { sqsSender } from "../../../shared/adapters/sqs/queue.ts";
import { whyUnkept } from "../../../shared/deployments/common/records.ts";
import { openSimulator } from "../../../shared/simulator/open.ts";
import { key, record } from "../../unit/adapters/checkpoints/suite.ts";
import { openTable } from "../../unit/adapters/dynamodb/table.ts";
import { account, arnOf } from "./account.ts";
import { openGuard } from "./guard.ts";
import type { Statement } from "./stack.ts";

const secret = arnOf("secretsmanager", "secret:rekindle/e2e-AbCdEf");

/** Opens a role with all rights but `lacking`, and an AWS whose clock is `aheadMs` ahead. */
const open = async (lacking: string, aheadMs = 0) => {
  const { table } = await openTable();
  const dynamodb = process.env["AWS_ENDPOINT_URL_DYNAMODB"] ?? "";
  const guard = await openGuard({ sqs: "http://127.0.0.1:9", dynamodb }, () => Date.now() + aheadMs);
  after(() => guard.close());
  const actions = [
    "dynamodb:GetItem",
    "dynamodb:PutItem",
    "dynamodb:Query",
    "sqs:SendMessage",
    "secretsmanager:GetSecretValue",
  ];
  const granted: Statement = { Effect: "Allow", Action: actions.filter((one) => one !== lacking), Resource: ["*"] };
  guard.admit("test", [granted]);
  for (const service of ["DYNAMODB", "SQS", "SECRETS_MANAGER"])
    process.env[`AWS_ENDPOINT_URL_${service}`] = guard.endpoint;
  const queue = `${guard.endpoint}/${account}/keys.fifo`;
  const records = tableCheckpoints({ table, cluster: "here" });
  return {
    load: () => records.load(key),
    save: () => records.save(key, record(1), undefined),
    page: () => records.hints([]),
    send: () => sqsSender(queue, openSqs())({ ...key, reason: "test" }, "id"),
    read: () => storedText(secret),
  };
};

type Acts = Awaited<ReturnType<typeof open>>;

describe("a role that lacks a right", () => {
  const rows: readonly (readonly [right: string, act: keyof Acts])[] = [
    ["dynamodb:GetItem", "load"],
    ["dynamodb:PutItem", "save"],
    ["dynamodb:Query", "page"],
    ["sqs:SendMessage", "send"],
    ["secretsmanager:GetSecretValue", "read"],
  ];
  for (const [right, act] of rows) {
    test(`${right}: the right is named, and whom it is to be granted to`, async () => {
      const acts = await open(right);
      await assert.rejects(
        acts[act](),
        new RegExp(`no permission: allow ${right} on it to the role that this runs as$`),
      );
    });
  }
});

describe("a clock that is off by ten minutes", () => {
  for (const act of ["load", "save", "send", "read"] as const) {
    test(`is named when somebody wants to ${act}`, async () => {
      const acts = await open("nothing", 600_000);
      await assert.rejects(acts[act](), /\bclock\b/);
    });
  }
});

describe("a table that a host is told of", () => {
  const { transport } = openSimulator({ crds: [] });
  const why = (table: string) => whyUnkept({ in: "dynamodb", table }, { transport, cluster: "here" });

  test("is no reason not to start when it can be used", async () => {
    const { table } = await openTable();
    assert.equal(await why(table), undefined);
  });

  test("is one when it is not there, or has another key", async () => {
    const { table } = await openTable("id", "sort");
    assert.match(
      (await why(table)) ?? "",
      /it has other keys: the partition key `cluster` and the sort key `key` are needed/,
    );
    assert.match((await why("nowhere")) ?? "", /there is no such table in this region: create it/);
  });
});
