/** Signed calls to a service of AWS: signer, endpoint, tries and errors. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { type Call, openCalls } from "../../../../shared/adapters/aws.ts";
import { listening } from "../../../support/port.ts";

type Answer = { readonly status: number; readonly body: object } | "hang up" | "silence";
type Asked = { readonly url: string; readonly headers: Readonly<Record<string, unknown>> };

const inEnvironment = { AWS_ACCESS_KEY_ID: "AKIDENV", AWS_SECRET_ACCESS_KEY: "secret", AWS_REGION: "eu-west-1" };

/** Opens a service that gives these answers in turn, and the last one for ever. */
const opened = async (
  answers: readonly [Answer, ...Answer[]],
  act: (call: (more?: Partial<Call>) => Promise<unknown>, asked: readonly Asked[]) => Promise<void>,
  { env = inEnvironment, signer = "none" }: { env?: Readonly<Record<string, string>>; signer?: string } = {},
): Promise<void> => {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    asked.push({ url: request.url ?? "", headers: request.headers });
    const answer = answers[Math.min(asked.length, answers.length) - 1];
    if (answer === "hang up") request.socket.destroy();
    if (typeof answer === "object") response.writeHead(answer.status).end(JSON.stringify(answer.body));
  });
  const endpoint = `http://127.0.0.1:${await listening(server)}/0/keys.fifo`;
  const client = async () => ({
    credentials: async () => ({ accessKeyId: signer, secretAccessKey: "other" }),
    region: async () => "us-east-1",
  });
  const calls = openCalls({ name: "sqs", target: "AmazonSQS", client, env });
  const call = (more: Partial<Call> = {}) =>
    calls({ action: "SendMessage", endpoint, input: {}, tryMs: 300, callMs: 5_000, ...more });
  try {
    await act(call, asked);
  } finally {
    server.closeAllConnections();
    server.close();
  }
};

const fine = { status: 200, body: { MessageId: "1" } } as const;
const refusal = (name: string, status = 400) => ({
  status,
  body: { __type: `com.amazonaws.sqs#${name}`, message: "no" },
});

test("a call is signed by the credentials of the environment, for its region, and names the action", () =>
  opened([fine], async (call, asked) => {
    assert.deepEqual(await call(), { MessageId: "1" });
    const { authorization, "x-amz-target": target } = asked[0]?.headers ?? {};
    assert.match(String(authorization), /Credential=AKIDENV\/\d{8}\/eu-west-1\/sqs\/aws4_request/);
    assert.deepEqual([asked[0]?.url, target], ["/", "AmazonSQS.SendMessage"]);
  }));

test("a call without complete credentials in the environment has credentials and region of the AWS client", () =>
  opened(
    [fine],
    async (call, asked) => {
      await call();
      assert.match(String(asked[0]?.headers["authorization"]), /Credential=AKIDPOD\/\d{8}\/us-east-1\/sqs/);
    },
    { env: { AWS_REGION: "eu-west-1" }, signer: "AKIDPOD" },
  ));

test("an endpoint in a variable replaces the queue's", () =>
  opened(
    [fine],
    async (call, asked) => {
      await assert.rejects(call(), /ECONNREFUSED/);
      assert.equal(asked.length, 0);
    },
    { env: { ...inEnvironment, AWS_ENDPOINT_URL_SQS: "http://127.0.0.1:1" } },
  ));

const again: readonly { readonly first: Answer; readonly what: string }[] = [
  { first: { status: 503, body: {} }, what: "a server error" },
  { first: refusal("RequestThrottled"), what: "a throttled request" },
  { first: "hang up", what: "a connection that breaks off" },
  { first: "silence", what: "no answer in time" },
];
for (const { first, what } of again)
  test(`a call is sent again after ${what}`, () =>
    opened([first, fine], async (call, asked) => {
      assert.deepEqual(await call(), { MessageId: "1" });
      assert.equal(asked.length, 2);
    }));

test("a call is sent at most three times, and its error has the name that the service gives", () =>
  opened([refusal("InternalError", 500)], async (call, asked) => {
    await assert.rejects(call(), { name: "InternalError", message: "no" });
    assert.equal(asked.length, 3);
  }));

test("all tries of a call together end within its time limit", () =>
  opened(["silence"], async (call, asked) => {
    await assert.rejects(call({ tryMs: 200, callMs: 200 }), { name: "TimeoutError" });
    assert.equal(asked.length, 1);
  }));

test("a refused call is not sent again", () =>
  opened([refusal("QueueDoesNotExist"), fine], async (call, asked) => {
    await assert.rejects(call(), { name: "QueueDoesNotExist" });
    assert.equal(asked.length, 1);
  }));
