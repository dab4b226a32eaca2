/** A token for EKS is the presigned request that AWS's own tools make. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { tokenOf } from "../../../../shared/adapters/aws/eks-token.ts";

const now = Date.UTC(2026, 10, 2, 9, 5, 7);

const user = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" };
const role = { accessKeyId: "ASIAEXAMPLE", secretAccessKey: "s/e+c=r", sessionToken: "FwoG/+=!'()* ~x" };
const session = "X-Amz-Security-Token=FwoG%2F%2B%3D%21%27%28%29%2A%20~x";

/** Signatures as botocore makes them. */
const rows = [
  {
    ...{ name: "of a user", credentials: user, region: "eu-west-1", host: "sts.eu-west-1.amazonaws.com" },
    signature: "93f47c7dfd86ed903f63ee989454ac37ea06640dc3a88016ba85805819b22f9a",
  },
  {
    ...{ name: "of a user in China", credentials: user, region: "cn-north-1", host: "sts.cn-north-1.amazonaws.com.cn" },
    signature: "f451449d911b8f49abfaede6bf6bde62e0724eacc8e84007e1acb8bf18be74c2",
  },
  {
    ...{ name: "of a role", credentials: role, region: "eu-west-1", host: "sts.eu-west-1.amazonaws.com" },
    signature: "9adf7251e78dffa9bf77b1c45cbd2522e8362be450babeb834e439c0501d4b81",
  },
  {
    ...{ name: "of a role in China", credentials: role, region: "cn-north-1", host: "sts.cn-north-1.amazonaws.com.cn" },
    signature: "41b07bb28cd01309961d4b2b99bf2dca437d7a046a69616fd7e02b2cd64f8aed",
  },
];

for (const { name, credentials, region, host, signature } of rows)
  test(`an EKS token ${name} is a signed request to STS of the cluster's region`, async () => {
    const token = await tokenOf({ name: "prod cluster", region }, credentials, now);
    assert.match(token, /^k8s-aws-v1\.[^=]+$/);
    const url = new URL(Buffer.from(token.slice("k8s-aws-v1.".length), "base64url").toString());
    assert.equal(url.host, host);
    assert.deepEqual(Object.fromEntries(url.searchParams), {
      ...{ Action: "GetCallerIdentity", Version: "2011-06-15", "X-Amz-Algorithm": "AWS4-HMAC-SHA256" },
      "X-Amz-Credential": `${credentials.accessKeyId}/20261102/${region}/sts/aws4_request`,
      ...{ "X-Amz-Date": "20261102T090507Z", "X-Amz-Expires": "60", "X-Amz-SignedHeaders": "host;x-k8s-aws-id" },
      ...(credentials === role ? { "X-Amz-Security-Token": role.sessionToken } : {}),
      "X-Amz-Signature": signature,
    });
  });

test("a token with a session is encoded as AWS reads it", async () => {
  const token = await tokenOf({ name: "prod", region: "eu-west-1" }, role, now);
  assert.ok(Buffer.from(token.slice("k8s-aws-v1.".length), "base64url").toString().includes(session));
});
