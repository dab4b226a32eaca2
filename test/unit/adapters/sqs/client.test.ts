/** Requests to SQS by Amazon's client: endpoint, tries, time limits, and its silence on standard error. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { openSqs, type Sqs } from "../../../../shared/adapters/sqs/client.ts";
import { listening } from "../../../support/port.ts";
import { digestOf } from "./fake.ts";

type Answer = { readonly status: number; readonly body: object } | "hang up" | "silence";
type Asked = { readonly url: string; readonly headers: Readonly<Record<string, unknown>> };

const environment = { AWS_ACCESS_KEY_ID: "AKIDENV", AWS_SECRET_ACCESS_KEY: "secret", AWS_REGION: "eu-west-1" };

const send = (sqs: Sqs, queue: string, patience?: { readonly withinMs: number }) =>
  sqs(
    "SendMessage",
    queue,
    ({ client, sdk }, limits) =>
      client.send(new sdk.SendMessageCommand({ QueueUrl: queue, MessageBody: "{}" }), limits),
    patience,
  );

type Act = (
  call: (patience?: { readonly withinMs: number }) => Promise<unknown>,
  asked: readonly Asked[],
) => Promise<void>;

/** Opens a queue that gives these answers in turn, and the last one for ever. */
const opened = async (
  answers: readonly [Answer, ...Answer[]],
  act: Act,
  env: Readonly<Record<string, string>> = {},
): Promise<void> => {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    asked.push({ url: request.url ?? "", headers: request.headers });
    const answer = answers[Math.min(asked.length, answers.length) - 1];
    if (answer === "hang up") request.socket.destroy();
    if (typeof answer === "object") response.writeHead(answer.status).end(JSON.stringify(answer.body));
  });
  const queue = `http://127.0.0.1:${await listening(server)}/0/keys.fifo`;
  Object.assign(process.env, environment, env);
  const sqs = openSqs();
  try {
    await act((patience) => send(sqs, queue, patience), asked);
  } finally {
    for (const name of Object.keys(env)) delete process.env[name];
    server.closeAllConnections();
    server.close();
  }
};

const fine = { status: 200, body: { MessageId: "1", MD5OfMessageBody: digestOf("{}") } } as const;
const refusal = (name: string, status = 400) => ({
  status,
  body: { __type: `com.amazonaws.sqs#${name}`, message: "no" },
});

test("a request goes to the endpoint of the queue's URL, is signed for AWS_REGION, and prints nothing", (context) =>
  opened([fine], async (call, asked) => {
    const printed = context.mock.method(console, "warn", () => {});
    await call();
    const { authorization, "x-amz-target": target } = asked[0]?.headers ?? {};
    assert.match(String(authorization), /Credential=AKIDENV\/\d{8}\/eu-west-1\/sqs\/aws4_request/);
    assert.deepEqual([asked[0]?.url, target, printed.mock.callCount()], ["/", "AmazonSQS.SendMessage", 0]);
  }));

for (const variable of ["AWS_ENDPOINT_URL_SQS", "AWS_ENDPOINT_URL"])
  test(`an endpoint in ${variable} replaces the queue's`, () =>
    opened(
      [fine],
      async (call, asked) => {
        await assert.rejects(call(), /keys\.fifo: .*ECONNREFUSED/);
        assert.equal(asked.length, 0);
      },
      { [variable]: "http://127.0.0.1:1" },
    ));

const again: readonly { readonly first: Answer; readonly what: string }[] = [
  { first: { status: 503, body: {} }, what: "a server error" },
  { first: refusal("RequestThrottled"), what: "a throttled request" },
  { first: "hang up", what: "a connection that breaks off" },
];
for (const { first, what } of again)
  test(`a request is sent again after ${what}`, () =>
    opened([first, fine], async (call, asked) => {
      await call();
      assert.equal(asked.length, 2);
    }));

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("a request is sent again after 5 s without an answer", (context) =>
  opened(["silence", fine], async (call, asked) => {
    context.mock.timers.enable({ apis: ["setTimeout"] });
    const sent = call();
    while (asked.length < 1) await turn();
    context.mock.timers.tick(4_999);
    await turn();
    assert.equal(asked.length, 1);
    while (asked.length < 2) {
      context.mock.timers.tick(1);
      await turn();
    }
    await sent;
  }));

test("a request is sent at most three times, and its error names the queue", () =>
  opened([refusal("InternalError", 500)], async (call, asked) => {
    await assert.rejects(call(), { reason: "QueueUnreachable", message: /SQS SendMessage .*keys\.fifo: no$/ });
    assert.equal(asked.length, 3);
  }));

test("all tries of a request together end within its time limit", () =>
  opened(["silence"], async (call, asked) => {
    await assert.rejects(call({ withinMs: 200 }), { reason: "QueueUnreachable", message: /no answer in time$/ });
    assert.equal(asked.length, 1);
  }));

test("a time limit also ends the wait before the next try", () =>
  opened([refusal("RequestThrottled")], async (call, asked) => {
    await assert.rejects(call({ withinMs: 10 }), { reason: /QueueThrottled|QueueUnreachable/ });
    assert.ok(asked.length < 3, "without a limit it tries three times");
  }));

test("a refused request is not sent again", () =>
  opened([refusal("QueueDoesNotExist"), fine], async (call, asked) => {
    await assert.rejects(call(), { reason: "QueueMissing" });
    assert.equal(asked.length, 1);
  }));

const configured: readonly (readonly [lacking: string, expected: RegExp])[] = [
  ["AWS_REGION", /SQS SendMessage .*keys\.fifo: no region: set AWS_REGION$/],
  ["AWS_ACCESS_KEY_ID", /AWS does not accept the credentials: give this process a role/],
];
for (const [lacking, expected] of configured)
  test(`a request without ${lacking} is not sent, and its error says what to set`, () =>
    opened(
      [fine],
      async (call, asked) => {
        delete process.env[lacking];
        await assert.rejects(call(), expected);
        assert.equal(asked.length, 0);
      },
      { AWS_EC2_METADATA_DISABLED: "true", AWS_CONFIG_FILE: "/nowhere", AWS_SHARED_CREDENTIALS_FILE: "/nowhere" },
    ));
