/** The template against the functions: a right or a variable that one side alone knows is told. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { differencesIn } from "../../infra/aws/agreement.ts";
import { handlerParts } from "../../infra/aws/rights.ts";
import { readTemplate } from "../../infra/aws/template.ts";

const text = readFileSync(new URL("../../infra/aws/template.yaml", import.meta.url), "utf8");

const handlers = await handlerParts([
  "reconcile",
  "wake",
  "deliver",
  "forward",
  "resync",
  "api",
  "admission",
  "submitter",
]);

/** The first place after the beginning of a resource. */
const changed = (resource: string, from: string, to: string): string => {
  const at = text.indexOf(from, text.indexOf(`\n  ${resource}:\n`));
  assert.ok(at > 0, `${from} is not in ${resource}`);
  return text.slice(0, at) + to + text.slice(at + from.length);
};

const rows: readonly (readonly [resource: string, from: string, to: string, expected: readonly string[]])[] = [
  [
    "WakeRole",
    "Action: sqs:SendMessage",
    "Action: sqs:PurgeQueue",
    ["Wake sends sqs:SendMessage and may not", "Wake may sqs:PurgeQueue and never sends it"],
  ],
  ["ForwardRole", ", dynamodb:Query]", "]", ["Forward sends dynamodb:Query and may not"]],
  [
    "ApiRole",
    "Action: sqs:SendMessage",
    "Action: [sqs:SendMessage, dynamodb:PutItem]",
    ["Api may dynamodb:PutItem and never sends it"],
  ],
  [
    "ApiRole",
    "Action: dynamodb:GetItem",
    "Action: dynamodb:Query",
    ["Api sends dynamodb:GetItem and may not", "Api may dynamodb:Query and never sends it"],
  ],
  ["ReconcileRole", "sqs:ReceiveMessage, ", "", ["Reconcile sends sqs:ReceiveMessage and may not"]],
  [
    "ResyncRole",
    "Action: secretsmanager:GetSecretValue",
    "Action: secretsmanager:ListSecrets",
    [
      "Resync sends secretsmanager:GetSecretValue and may not",
      "Resync may secretsmanager:ListSecrets and never sends it",
    ],
  ],
  [
    "DeliverRole",
    "Resource: !Ref ClusterRecord",
    'Resource: "*"',
    ["Deliver may secretsmanager:GetSecretValue on more than is named"],
  ],
  ["Forward", "REKINDLE_WINDOW:", "REKINDLE_WINDOWS:", ["Forward is told REKINDLE_WINDOWS, which no function reads"]],
];

describe("the AWS template", () => {
  test("grants what the functions send, and tells them what they read", () => {
    assert.deepEqual(differencesIn(readTemplate(text), handlers), []);
  });

  for (const [resource, from, to, expected] of rows) {
    test(`with ${JSON.stringify(to)} for ${JSON.stringify(from)} in ${resource} is not that`, () => {
      assert.deepEqual(differencesIn(readTemplate(changed(resource, from, to)), handlers), expected);
    });
  }
});
