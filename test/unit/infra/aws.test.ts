/** The template against the functions: the test reports a right or a variable that only one of them has. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as z from "zod";
import { differencesIn } from "../../../infra/aws/agreement.ts";
import { handlerParts } from "../../../infra/aws/rights.ts";
import { readTemplate, statementsOf } from "../../../infra/aws/template.ts";
import { template, templateText as text } from "../../support/aws-template.ts";

const handlers = await handlerParts([
  "reconcile",
  "wake",
  "deliver",
  "forward",
  "resync",
  "api",
  "admission",
  "bell",
  "submitter",
]);

/** Returns the template with the first `from` after the beginning of a resource replaced by `to`. */
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
    "Action: [secretsmanager:GetSecretValue, ssm:GetParameter]",
    "Action: [secretsmanager:ListSecrets, ssm:GetParameter]",
    [
      "Resync sends secretsmanager:GetSecretValue and may not",
      "Resync may secretsmanager:ListSecrets and never sends it",
    ],
  ],
  [
    "DeliverRole",
    "Resource: !Ref ClusterRecord",
    'Resource: "*"',
    ["Deliver may secretsmanager:GetSecretValue, ssm:GetParameter on more than is named"],
  ],
  ["Forward", "REKINDLE_WINDOW:", "REKINDLE_WINDOWS:", ["Forward is told REKINDLE_WINDOWS, which no function reads"]],
];

describe("the AWS template", () => {
  test("grants what the functions send, and tells them what they read", () => {
    assert.deepEqual(differencesIn(template, handlers), []);
  });

  for (const [resource, from, to, expected] of rows) {
    test(`with ${JSON.stringify(to)} for ${JSON.stringify(from)} in ${resource} is not that`, () => {
      assert.deepEqual(differencesIn(readTemplate(changed(resource, from, to)), handlers), expected);
    });
  }
});

describe("the role of a forwarder in the cluster", () => {
  const issuer = "oidc.eks.eu-west-1.amazonaws.com/id/0123";

  test("is only for the account rekindle-forward of the cluster that the issuer speaks for", () => {
    const properties = z.object({ AssumeRolePolicyDocument: z.object({ "Fn::Sub": z.string() }) });
    const role = properties.parse(template.Resources["ForwarderRole"]?.Properties).AssumeRolePolicyDocument;
    const values = new Map([
      ["AWS::Partition", "aws"],
      ["AWS::AccountId", "1"],
      ["ClusterIssuer", issuer],
      ["ForwarderNamespace", "rekindle"],
    ]);
    const filled = role["Fn::Sub"].replaceAll(/\$\{([\w:]+)\}/g, (_, name: string) => values.get(name) ?? "");
    const { Statement } = z.object({ Statement: z.array(z.looseObject({})) }).parse(JSON.parse(filled));
    const subject = "system:serviceaccount:rekindle:rekindle-forward";
    assert.deepEqual(Statement, [
      {
        ...{ Effect: "Allow", Action: "sts:AssumeRoleWithWebIdentity" },
        Principal: { Federated: `arn:aws:iam::1:oidc-provider/${issuer}` },
        Condition: { StringEquals: { [`${issuer}:aud`]: "sts.amazonaws.com", [`${issuer}:sub`]: subject } },
      },
    ]);
  });

  test("may what the function may, but for its log and the cluster's record, which a pod has not", () => {
    const sends = (id: string): readonly string[] => statementsOf(template, id).flatMap(({ Action }) => Action);
    const inPod = sends("Forward").filter((action) => !/^(logs|secretsmanager|ssm|kms|ec2):/.test(action));
    assert.ok(inPod.length > 1);
    assert.deepEqual(sends("Forwarder"), inPod);
  });
});
