/** Access to a cluster whose record is stored elsewhere: read once, and read again only when the server answers 401. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, describe, test } from "node:test";
import { openAccess } from "../../../../shared/deployments/common/cluster-access.ts";
import { endpointIn } from "../../../../shared/deployments/settings/formats.ts";
import { listening } from "../../adapters/dynamodb/serving.ts";

const arn = "arn:aws:ssm:eu-west-1:123456789012:parameter/rekindle/prod";
const request = { method: "GET", path: "/version", headers: {}, timeoutMs: 2_000 } as const;

let known = "one";
const seen: unknown[] = [];
const server = createServer(({ headers }, response) => {
  seen.push(headers.authorization);
  response.writeHead(headers.authorization === `Bearer ${known}` ? 200 : 401).end("{}");
});
const { endpoint, stop } = await listening(server);
after(stop);

const open = (tokens: readonly string[], wall = Date.now) => {
  known = "one";
  seen.length = 0;
  let reads = 0;
  let time = 0;
  const read = async (): Promise<string> => {
    const token = tokens[Math.min(reads, tokens.length - 1)];
    reads += 1;
    return token === undefined ? "nonsense" : JSON.stringify({ server: endpoint, token });
  };
  const transport = openAccess({ arn }, { userAgent: "test", read, wall, now: () => time });
  const pass = (ms: number): void => {
    time += ms;
  };
  return { transport, reads: () => reads, pass };
};

describe("a cluster record that is stored elsewhere", () => {
  test("is read once, at the first request, for all requests that wait for it", async () => {
    const { transport, reads } = open(["one"]);
    assert.equal(reads(), 0);
    const answers = await Promise.all([transport.send(request), transport.send(request), transport.send(request)]);
    assert.deepEqual([answers.map(({ status }) => status), reads()], [[200, 200, 200], 1]);
  });

  test("is read again after a 401, and the request is sent again", async () => {
    const { transport, reads, pass } = open(["one", "two"]);
    await transport.send(request);
    known = "two";
    pass(60_000);
    const answers = await Promise.all([transport.send(request), transport.send(request)]);
    assert.deepEqual([answers.map(({ status }) => status), reads()], [[200, 200], 2]);
    const stream = await transport.stream({ ...request, path: "/watch" });
    assert.equal(stream.status, 200);
    stream.close();
  });

  test("is not read again for each 401 if it is unchanged", async () => {
    const { transport, reads, pass } = open(["old"]);
    assert.equal((await transport.send(request)).status, 401);
    pass(29_000);
    assert.equal((await transport.send(request)).status, 401);
    assert.equal(reads(), 1);
    pass(2_000);
    assert.equal((await transport.send(request)).status, 401);
    assert.equal((await transport.send(request)).status, 401);
    assert.equal(reads(), 2);
  });

  for (const [minutes, words] of [
    [17, "17 minutes ahead of"],
    [-9, "9 minutes behind"],
  ] as const)
    test(`leads to an error if the process's clock is ${words} the server's`, async () => {
      const { transport } = open(["old"], () => Date.now() + minutes * 60_000);
      await assert.rejects(transport.send(request), new RegExp(`this clock is ${words} its: set this clock`));
    });

  test("that is invalid leads to an error that names its place and none of its content", async () => {
    const { transport } = open([]);
    await assert.rejects(transport.send(request), (error) => {
      assert.ok(error instanceof Error);
      assert.equal(error.message, `${arn} holds no cluster record: create it with rekindle cluster add`);
      return true;
    });
  });

  test("may log in to EKS with a token of the process's role", async () => {
    const { auth } = endpointIn(JSON.stringify({ server: endpoint, eks: { name: "prod", region: "eu-west-1" } }));
    assert.ok(auth !== undefined && "provider" in auth);
    Object.assign(process.env, { AWS_ACCESS_KEY_ID: "AK", AWS_SECRET_ACCESS_KEY: "SK" });
    const token = (await auth.provider(false)).token ?? "";
    const url = Buffer.from(token.slice("k8s-aws-v1.".length), "base64url").toString();
    assert.match(url, /^https:\/\/sts\.eu-west-1\.amazonaws\.com\/\?Action=GetCallerIdentity&.*AK%2F.*eu-west-1/);
    assert.ok((auth.ageMs ?? 0) < 14 * 60_000);
  });
});
