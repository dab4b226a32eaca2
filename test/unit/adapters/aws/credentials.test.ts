/**
 * One rule finds the credentials of every call to AWS: each source is tried with each service, against a server that
 * stands in for the services, for STS, for the agent of pod identities, and for the metadata of an instance.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { eksToken } from "../../../../shared/adapters/aws/eks-token.ts";
import { storedText } from "../../../../shared/adapters/aws/stored-text.ts";
import { openS3 } from "../../../../shared/adapters/buckets.ts";
import { openTableReader } from "../../../../shared/adapters/dynamodb/table.ts";
import { sqsSender } from "../../../../shared/adapters/sqs/queue.ts";
import { listening } from "../dynamodb/serving.ts";

const region = "eu-west-1";
const folder = mkdtempSync(join(tmpdir(), "rekindle-credentials-"));

/** Access keys that signed a request since the last call of `signers`. */
let signed: string[] = [];
const signers = (): readonly string[] => {
  const found = [...new Set(signed)];
  signed = [];
  return found;
};

const expiration = "2036-11-02T09:00:00Z";

const keysOf = (id: string) => ({
  AccessKeyId: id,
  SecretAccessKey: "secret",
  Token: "session",
  Expiration: expiration,
});

const assumed = `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult>
<Credentials><AccessKeyId>AKIRSA</AccessKeyId><SecretAccessKey>secret</SecretAccessKey><SessionToken>session</SessionToken>
<Expiration>${expiration}</Expiration></Credentials><AssumedRoleUser><Arn>arn:aws:sts::123456789012:assumed-role/r/s</Arn>
<AssumedRoleId>a:s</AssumedRoleId></AssumedRoleUser></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`;

const metadata: Readonly<Record<string, string>> = {
  "PUT /latest/api/token": "token",
  "GET /latest/meta-data/iam/security-credentials/": "role",
  "GET /latest/meta-data/iam/security-credentials/role": JSON.stringify({ Code: "Success", ...keysOf("AKINSTANCE") }),
};

/** Answers for those that give credentials; undefined for the services, which refuse every request. */
const credentialsFor = async (request: IncomingMessage): Promise<string | undefined> => {
  const { method, url = "", headers } = request;
  if (url === "/pod-identity" && headers.authorization === "pod-token") return JSON.stringify(keysOf("AKPOD"));
  if (headers["content-type"] !== "application/x-www-form-urlencoded") return metadata[`${method} ${url}`];
  const form = new URLSearchParams(await text(request));
  return form.get("Action") === "AssumeRoleWithWebIdentity" && form.get("WebIdentityToken") === "irsa-token"
    ? assumed
    : undefined;
};

const server = createServer(async (request, response) => {
  const answer = await credentialsFor(request);
  const [, id] = /Credential=(\w+)\//.exec(request.headers.authorization ?? "") ?? [];
  if (answer === undefined && id !== undefined) signed.push(id);
  if (answer === undefined) response.writeHead(400).end(JSON.stringify({ __type: "AccessDeniedException" }));
  else response.end(answer);
});
const { endpoint, stop } = await listening(server);

const file = (name: string, content: string): string => {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};

const services = ["SQS", "DYNAMODB", "SECRETS_MANAGER", "SSM", "S3", "STS"];

before(() => {
  for (const name of services) process.env[`AWS_ENDPOINT_URL_${name}`] = endpoint;
});
after(async () => {
  await stop();
  rmSync(folder, { recursive: true });
});

type Source = { readonly name: string; readonly env: Readonly<Record<string, string>>; readonly id: string };

const sources: readonly Source[] = [
  {
    ...{ name: "the environment, as of a Lambda function", id: "AKENV" },
    env: { AWS_ACCESS_KEY_ID: "AKENV", AWS_SECRET_ACCESS_KEY: "secret", AWS_SESSION_TOKEN: "session" },
  },
  {
    ...{ name: "a service account's role (IRSA)", id: "AKIRSA" },
    env: {
      AWS_WEB_IDENTITY_TOKEN_FILE: file("irsa", "irsa-token"),
      AWS_ROLE_ARN: "arn:aws:iam::123456789012:role/r",
    },
  },
  {
    ...{ name: "a pod's identity", id: "AKPOD" },
    env: {
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${endpoint}/pod-identity`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file("pod", "pod-token"),
    },
  },
  {
    ...{ name: "a profile", id: "AKPROFILE" },
    env: {
      AWS_PROFILE: "batch",
      AWS_SHARED_CREDENTIALS_FILE: file(
        "profiles",
        "[batch]\naws_access_key_id = AKPROFILE\naws_secret_access_key = secret\n",
      ),
    },
  },
  {
    ...{ name: "a profile's process", id: "AKPROCESS" },
    env: {
      AWS_PROFILE: "tool",
      AWS_CONFIG_FILE: file(
        "config",
        `[profile tool]\ncredential_process = echo '${JSON.stringify({ Version: 1, ...keysOf("AKPROCESS") })}'\n`,
      ),
    },
  },
  {
    ...{ name: "an instance's role", id: "AKINSTANCE" },
    env: { AWS_EC2_METADATA_SERVICE_ENDPOINT: endpoint },
  },
];

const key = { cluster: "c", kind: "Toy", namespace: "ns", name: "bear", reason: "test" };
const queue = `https://sqs.${region}.amazonaws.com/123456789012/keys.fifo`;
const arnOf = (rest: string): string => `arn:aws:${rest}`;

const callers: Readonly<Record<string, () => Promise<unknown>>> = {
  SQS: () => sqsSender(queue)(key, "id"),
  DynamoDB: () => openTableReader({ table: "t", cluster: "c" }).load(key),
  "Secrets Manager": () => storedText(arnOf(`secretsmanager:${region}:123456789012:secret:a-AbCdEf`)),
  "the Parameter Store": () => storedText(arnOf(`ssm:${region}:123456789012:parameter/a`)),
  S3: async () => {
    const place = { scheme: "s3", bucket: "b", region, endpoint, isPublic: false, pathStyle: true } as const;
    return await (await openS3(place)).find("a");
  },
  "a token of EKS": async () => {
    const token = await eksToken({ name: "prod", region }, Date.now());
    const url = new URL(Buffer.from(token.slice("k8s-aws-v1.".length), "base64url").toString());
    signed.push(url.searchParams.get("X-Amz-Credential")?.split("/")[0] ?? "");
  },
};

for (const { name, env, id } of sources)
  for (const [service, call] of Object.entries(callers))
    test(`credentials of ${name} sign the calls to ${service}`, async () => {
      for (const variable of Object.keys(process.env))
        if (variable.startsWith("AWS_") && !variable.startsWith("AWS_ENDPOINT_URL_")) delete process.env[variable];
      const nowhere = join(folder, "absent");
      const none = { AWS_CONFIG_FILE: nowhere, AWS_SHARED_CREDENTIALS_FILE: nowhere };
      Object.assign(process.env, { AWS_REGION: region, ...none, ...env });
      await call().catch(() => undefined);
      assert.deepEqual(signers(), [id]);
    });

test("a table in no region is refused by what to set", async () => {
  for (const variable of ["AWS_REGION", "AWS_PROFILE", "AWS_DEFAULT_REGION"]) delete process.env[variable];
  await assert.rejects(openTableReader({ table: "t", cluster: "c" }).load(key), {
    reason: "StoreElsewhere",
    message: "DynamoDB GetItem t: no region: set AWS_REGION, or ?region= of the place",
  });
});
