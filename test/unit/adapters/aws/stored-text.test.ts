/** Texts of Secrets Manager and of the Parameter Store are read by their ARN, and refusals name the repair. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { describe, test } from "node:test";
import { storedText } from "../../../../shared/adapters/aws/stored-text.ts";
import { ApiError } from "../../../../shared/core/http.ts";
import { listening } from "../dynamodb/serving.ts";

const arns = {
  secret: "arn:aws:secretsmanager:eu-west-1:123456789012:secret:rekindle/prod-AbCdEf",
  parameter: "arn:aws:ssm:eu-west-1:123456789012:parameter/rekindle/prod",
};

type Asked = { readonly target: unknown; readonly body: unknown; readonly signed: boolean };

const withServer = async (
  status: number,
  answer: object,
  act: (asked: readonly Asked[]) => Promise<void>,
): Promise<void> => {
  const asked: Asked[] = [];
  const server = createServer(async (incoming, response) => {
    const { headers } = incoming;
    const signed = /Credential=AK\/\d{8}\/eu-west-1\//.test(String(headers.authorization));
    asked.push({ target: headers["x-amz-target"], body: JSON.parse(await text(incoming)), signed });
    response.writeHead(status).end(JSON.stringify(answer));
  });
  const { endpoint, stop } = await listening(server);
  const keys = { AWS_ACCESS_KEY_ID: "AK", AWS_SECRET_ACCESS_KEY: "SK" };
  Object.assign(process.env, { ...keys, AWS_ENDPOINT_URL_SSM: endpoint, AWS_ENDPOINT_URL_SECRETS_MANAGER: endpoint });
  await act(asked).finally(stop);
};

describe("a stored text", () => {
  test("of Secrets Manager is read by its ARN", () =>
    withServer(200, { SecretString: "x" }, async (asked) => {
      assert.equal(await storedText(arns.secret), "x");
      const [one] = asked;
      assert.deepEqual(one, { target: "secretsmanager.GetSecretValue", body: { SecretId: arns.secret }, signed: true });
    }));

  test("of Parameter Store is read by its ARN, decrypted", () =>
    withServer(200, { Parameter: { Value: "x" } }, async (asked) => {
      assert.equal(await storedText(arns.parameter), "x");
      const body = { Name: arns.parameter, WithDecryption: true };
      assert.deepEqual(asked, [{ target: "AmazonSSM.GetParameter", body, signed: true }]);
    }));

  const refusals: readonly (readonly [type: string, expected: RegExp])[] = [
    ["AccessDeniedException", /ssm GetParameter arn:.*: no permission: allow ssm:GetParameter on it/],
    ["ParameterNotFound", /it does not exist: correct the ARN/],
    ["com.amazon#UnrecognizedClientException", /AWS does not accept the credentials/],
    ["Odd", /: it said so$/],
  ];
  for (const [type, expected] of refusals) {
    test(`that is refused as ${type} leads to an error that names the repair`, () =>
      withServer(400, { __type: type, message: "it said so" }, async () => {
        const error = await storedText(arns.parameter).catch((cause: unknown) => cause);
        assert.ok(error instanceof ApiError);
        assert.match(error.message, expected);
      }));
  }

  test("that is binary leads to an error that names the repair", () =>
    withServer(200, { SecretBinary: "eA==" }, async () => {
      await assert.rejects(storedText(arns.secret), /GetSecretValue arn:.*: it holds no text: store one$/);
    }));

  test("of a service without an answer leads to an error that names the endpoint to create", async () => {
    process.env["AWS_ENDPOINT_URL_SSM"] = "http://127.0.0.1:1";
    await assert.rejects(storedText(arns.parameter), /no answer \(from a VPC, an endpoint of ssm is needed\)$/);
  });
});
