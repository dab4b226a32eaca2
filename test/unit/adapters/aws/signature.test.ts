/** Signatures equal those of AWS's own signer; credentials are read from texts, and errors are reported. */
import assert from "node:assert/strict";
import { createHash, createHmac } from "node:crypto";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { describe, test } from "node:test";
import { SignatureV4 } from "@smithy/signature-v4";
import { type Credentials, signedHeaders, storedText, tokenOf } from "../../../../shared/adapters/aws.ts";
import { ApiError } from "../../../../shared/core/http.ts";
import { listening } from "../dynamodb/serving.ts";

const now = Date.UTC(2026, 10, 2, 9, 5, 7);

type Hashed = string | ArrayBuffer | ArrayBufferView;

const bytesOf = (data: Hashed): Buffer =>
  typeof data === "string"
    ? Buffer.from(data)
    : ArrayBuffer.isView(data)
      ? Buffer.from(data.buffer, data.byteOffset, data.byteLength)
      : Buffer.from(data);

/** SHA-256 and its HMAC in the form that AWS's signer expects. */
class Sha256 {
  readonly #hash: ReturnType<typeof createHash> | ReturnType<typeof createHmac>;

  constructor(secret?: Hashed) {
    this.#hash = secret === undefined ? createHash("sha256") : createHmac("sha256", bytesOf(secret));
  }

  update(data: Hashed): void {
    this.#hash.update(bytesOf(data));
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {}
}

const theirs = (credentials: Credentials, region: string, service: string) => {
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;
  const plain = { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
  return new SignatureV4({ credentials: plain, region, service, sha256: Sha256, applyChecksum: false });
};

const people: Readonly<Record<string, Credentials>> = {
  "of a user": { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" },
  "of a role": { accessKeyId: "ASIAEXAMPLE", secretAccessKey: "s/e+c=r", sessionToken: "FwoG/+=!'()* ~x" },
};

const urlIn = (token: string): URL => {
  assert.ok(token.startsWith("k8s-aws-v1."));
  assert.doesNotMatch(token, /=$/);
  return new URL(Buffer.from(token.slice("k8s-aws-v1.".length), "base64url").toString());
};

describe("an EKS token", () => {
  for (const [who, credentials] of Object.entries(people)) {
    for (const region of ["eu-west-1", "cn-north-1"]) {
      test(`${who} in ${region} equals the token that AWS's signer makes`, async () => {
        const url = urlIn(tokenOf({ name: "prod cluster", region }, credentials, now));
        const request = {
          ...{ method: "GET", protocol: "https:", hostname: url.hostname, path: "/" },
          headers: { host: url.hostname, "x-k8s-aws-id": "prod cluster" },
          query: { Action: "GetCallerIdentity", Version: "2011-06-15" },
        };
        const { query } = await theirs(credentials, region, "sts").presign(request, {
          ...{ expiresIn: 60, signingDate: new Date(now) },
          unhoistableHeaders: new Set(["x-k8s-aws-id"]),
        });
        assert.deepEqual(Object.fromEntries(url.searchParams), query);
      });
    }
  }

  test("calls STS of the cluster's region", () => {
    const [credentials = { accessKeyId: "", secretAccessKey: "" }] = Object.values(people);
    const hosts = ["eu-west-1", "cn-north-1"].map(
      (region) => urlIn(tokenOf({ name: "a", region }, credentials, now)).host,
    );
    assert.deepEqual(hosts, ["sts.eu-west-1.amazonaws.com", "sts.cn-north-1.amazonaws.com.cn"]);
  });
});

describe("a signed call", () => {
  for (const [who, credentials] of Object.entries(people)) {
    test(`${who} carries the headers that AWS's signer makes`, async () => {
      const given = { "content-type": "application/x-amz-json-1.1", "x-amz-target": "a.B" };
      const signing = { credentials, region: "eu-west-1", service: "ssm", now };
      const ours = signedHeaders(signing, "ssm.eu-west-1.amazonaws.com", given, '{"ü":1}');
      const hostname = "ssm.eu-west-1.amazonaws.com";
      const headers = { ...given, host: hostname };
      const request = { method: "POST", protocol: "https:", hostname, path: "/", headers, body: '{"ü":1}' };
      const signed = await theirs(credentials, "eu-west-1", "ssm").sign(request, { signingDate: new Date(now) });
      assert.deepEqual(ours, signed.headers);
    });
  }
});

const arns = {
  secret: "arn:aws:secretsmanager:eu-west-1:123456789012:secret:rekindle/prod-AbCdEf",
  parameter: "arn:aws:ssm:eu-west-1:123456789012:parameter/rekindle/prod",
};

type Asked = { readonly target: unknown; readonly body: unknown; readonly signed: boolean };

const withServer = async (
  status: number,
  answer: object,
  act: (env: Record<string, string>, asked: readonly Asked[]) => Promise<void>,
): Promise<void> => {
  const asked: Asked[] = [];
  const server = createServer(async (incoming, response) => {
    const { headers } = incoming;
    const signed = String(headers.authorization).startsWith("AWS4-HMAC-SHA256 Credential=AK/20261102/eu-west-1/");
    asked.push({ target: headers["x-amz-target"], body: JSON.parse(await text(incoming)), signed });
    response.writeHead(status).end(JSON.stringify(answer));
  });
  const { endpoint, stop } = await listening(server);
  const keys = { AWS_ACCESS_KEY_ID: "AK", AWS_SECRET_ACCESS_KEY: "SK" };
  await act({ ...keys, AWS_ENDPOINT_URL_SSM: endpoint, AWS_ENDPOINT_URL_SECRETS_MANAGER: endpoint }, asked);
  await stop();
};

describe("a stored text", () => {
  test("of Secrets Manager is read by its ARN", () =>
    withServer(200, { SecretString: "x" }, async (env, asked) => {
      assert.equal(await storedText(arns.secret, env, now), "x");
      const [one] = asked;
      assert.deepEqual(one, { target: "secretsmanager.GetSecretValue", body: { SecretId: arns.secret }, signed: true });
    }));

  test("of Parameter Store is read by its ARN, decrypted", () =>
    withServer(200, { Parameter: { Value: "x" } }, async (env, asked) => {
      assert.equal(await storedText(arns.parameter, env, now), "x");
      const body = { Name: arns.parameter, WithDecryption: true };
      assert.deepEqual(asked, [{ target: "AmazonSSM.GetParameter", body, signed: true }]);
    }));

  const refusals: readonly (readonly [type: string, expected: RegExp])[] = [
    ["AccessDeniedException", /ssm GetParameter arn:.*: no permission: allow ssm:GetParameter on it/],
    ["ParameterNotFound", /it does not exist: correct the ARN/],
    ["com.amazon#UnrecognizedClientException", /AWS does not accept the credentials/],
    ["Odd", /: HTTP 400$/],
  ];
  for (const [type, expected] of refusals) {
    test(`that is refused as ${type} leads to an error that names the repair`, () =>
      withServer(400, { __type: type }, async (env) => {
        const error = await storedText(arns.parameter, env, now).catch((cause: unknown) => cause);
        assert.ok(error instanceof ApiError);
        assert.match(error.message, expected);
      }));
  }
});
