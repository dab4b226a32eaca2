/** Alerts and events over HTTP: the rights of each caller, rate limits, and the answers to strangers. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Hono } from "hono";
import { apiApp } from "../../../functions/api.ts";
import { callers, identifier } from "../../../shared/api/callers.ts";
import { signature } from "../../../shared/core/signature.ts";
import { takeBridged } from "../../../shared/deployments/api/function.ts";
import { openGate } from "../../../shared/deployments/common/authentication.ts";

const key = "a key of more than sixteen";
const known = callers.parse([
  { name: "all", keys: [key], may: ["trigger", "notice"] },
  { name: "team", tokens: ["a-token-of-the-team"], namespaces: ["a"] },
  { name: "slow", tokens: ["a-token-of-the-slow"], perMinute: 2 },
  { name: "reader", tokens: ["a-token-of-a-reader"], may: ["read"] },
  { name: "aws", iam: "arn:aws:iam::1:role/events", may: ["notice"] },
]);

const open = () => {
  const sent: string[] = [];
  const parts: Parameters<typeof apiApp>[0] = {
    ready: () => true,
    kinds: () => ["SparkApplication", "Job"],
    plurals: {},
    trigger: async ({ kind, namespace, name }, event) => void sent.push(`${kind}/${namespace}/${name} for ${event}`),
    notice: async (node, until, event) =>
      void sent.push(`${until === undefined ? "stays" : "notice"} ${node} for ${event}`),
    identify: identifier(known, { now: Date.now, subjectOf: async () => undefined }),
  };
  return { app: apiApp(parts), parts, sent };
};

const json = (value: unknown): string => JSON.stringify(value);
const alertOf = (namespace: string, name: string, fingerprint = name) => ({
  ...{ status: "firing", labels: { volcano_job: name, namespace }, startsAt: "t", fingerprint },
});
const alerts = (...all: readonly object[]): string => json({ version: "4", alerts: all });
const spot = json({
  ...{ id: "e-1", source: "aws.ec2", "detail-type": "EC2 Spot Instance Interruption Warning" },
  ...{ time: new Date().toISOString(), detail: { "instance-id": "i-0123456789abcdef0" } },
});

const signed = (path: string, body: string, headers: object = {}, signedHeaders = {}): Request => {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const given = signature(key, { timestamp, method: "POST", path, body, headers: signedHeaders });
  const proof = { "x-rekindle-timestamp": timestamp, "x-rekindle-signature": given };
  return new Request(`http://door${path}`, { method: "POST", body, headers: { ...proof, ...headers } });
};
const bearing = (token: string, path: string, body: string, headers: object = {}): Request =>
  new Request(`http://door${path}`, {
    method: "POST",
    body,
    headers: { authorization: `Bearer ${token}`, ...headers },
  });

describe("an alert webhook", () => {
  test("sends one message for each object, and reports the alerts that it ignored", async () => {
    const { app, sent } = open();
    const body = alerts(alertOf("a", "j"), alertOf("a", "j", "f2"), alertOf("b", "k"), {
      ...alertOf("a", "x"),
      labels: {},
    });
    const answer = await app.fetch(signed("/alerts", body));
    assert.deepEqual(
      [answer.status, await answer.json()],
      [202, { accepted: 2, passed: ["no label names an object that Rekindle runs"] }],
    );
    assert.deepEqual(sent, ["Job/a/j for alert j firing t", "Job/b/k for alert k firing t"]);
  });

  test("reaches only the namespaces of its sender", async () => {
    const { app, sent } = open();
    const body = alerts(alertOf("a", "j"), alertOf("b", "k"));
    const answer = await app.fetch(bearing("a-token-of-the-team", "/alerts", body));
    assert.deepEqual([answer.status, await answer.json()], [202, { accepted: 1, denied: 1, passed: [] }]);
    assert.deepEqual(sent, ["Job/a/j for alert j firing t"]);
  });

  const refused = [
    { name: "that is invalid", request: () => signed("/alerts", "{}"), status: 400 },
    { name: "of an unknown caller", request: () => bearing("a-token-of-nobody's", "/alerts", alerts()), status: 401 },
    {
      name: "of a caller that may only read",
      request: () => bearing("a-token-of-a-reader", "/alerts", alerts(alertOf("a", "j"))),
      status: 403,
    },
    {
      name: "for a namespace of another caller",
      request: () => bearing("a-token-of-the-team", "/alerts", alerts(alertOf("b", "k"))),
      status: 403,
    },
    { name: "that is too large", request: () => signed("/alerts", "x".repeat(262_145)), status: 413 },
  ];
  for (const { name, request, status } of refused)
    test(`${name} is answered ${status}, and sends nothing`, async () => {
      const { app, sent } = open();
      assert.deepEqual([(await app.fetch(request())).status, sent], [status, []]);
    });
});

describe("a signed event in binary mode", () => {
  const binary = (subject: string, type = "t"): Record<string, string> => ({
    ...{ "ce-specversion": "1.0", "ce-id": "1", "ce-source": "/ops", "ce-type": type, "ce-subject": subject },
  });
  const post = async (headers: object, signedHeaders: object): Promise<readonly [number, readonly string[]]> => {
    const { app, sent } = open();
    return [(await app.fetch(signed("/events", "{}", headers, signedHeaders))).status, sent];
  };

  test("is accepted if its signature covers its headers", async () => {
    const headers = binary("Job/a/j");
    assert.deepEqual(await post(headers, headers), [202, ["Job/a/j for /ops 1"]]);
  });

  const captured = binary("Job/a/j");
  const forged = [
    { name: "whose headers are not signed", headers: captured, signedHeaders: {} },
    { name: "that names another object than was signed", headers: binary("Job/b/k"), signedHeaders: captured },
    {
      name: "that was changed into a node's notice",
      headers: binary("n", "dev.rekindle.node.leaving"),
      signedHeaders: captured,
    },
    { name: "with one header more than was signed", headers: { ...captured, "ce-time": "t" }, signedHeaders: captured },
    { name: "whose headers were removed", headers: {}, signedHeaders: captured },
  ];
  for (const { name, headers, signedHeaders } of forged)
    test(`${name} is refused`, async () => assert.deepEqual(await post(headers, signedHeaders), [401, []]));
});

describe("an event", () => {
  test("about a Spot machine is a notice, and a repeated event is the same notice", async () => {
    const { app, sent } = open();
    for (const _ of [1, 2]) assert.equal((await app.fetch(signed("/events", spot))).status, 202);
    assert.deepEqual(new Set(sent), new Set(["notice i-0123456789abcdef0 for aws.ec2 e-1"]));
  });

  test("about a node is accepted from callers that may send notices only", async () => {
    const { app, sent } = open();
    assert.deepEqual([(await app.fetch(bearing("a-token-of-the-team", "/events", spot))).status, sent], [403, []]);
  });

  test("in a batch is the last one about its node", async () => {
    const { app, sent } = open();
    const about = (id: string, type: string) => ({
      ...{ specversion: "1.0", id, source: "/ops", type: `dev.rekindle.node.${type}`, subject: "node-1" },
    });
    const batch = async (...types: readonly string[]) => {
      const body = json(types.map((type, at) => about(`${at}`, type)));
      const headers = { "content-type": "application/cloudevents-batch+json" };
      assert.equal((await app.fetch(signed("/events", body, headers))).status, 202);
    };
    await batch("leaving", "staying");
    await batch("staying", "leaving", "leaving");
    assert.deepEqual(sent, ["stays node-1 for /ops 1", "notice node-1 for /ops 1"]);
  });

  test("from an EventBridge invocation needs no signature, and is not accepted over HTTP", async () => {
    const { parts, sent } = open();
    assert.equal((await takeBridged(parts, JSON.parse(spot)))?.statusCode, 202);
    assert.equal(await takeBridged(parts, { requestContext: {}, rawPath: "/events", body: spot }), undefined);
    assert.deepEqual(sent, ["notice i-0123456789abcdef0 for aws.ec2 e-1"]);
  });

  test("is accepted with the ARN that API Gateway verified, and not with an ARN in a header", async () => {
    const { app, sent } = open();
    const arn = "arn:aws:iam::1:role/events";
    const request = () => new Request("http://door/events", { method: "POST", body: spot, headers: { userArn: arn } });
    assert.equal((await app.fetch(request())).status, 401);
    const env = { requestContext: { http: { sourceIp: "10.0.0.1" }, authorizer: { iam: { userArn: arn } } } };
    assert.equal((await app.fetch(request(), env)).status, 202);
    assert.equal(sent.length, 1);
  });
});

describe("a caller", () => {
  test("that exceeds its rate waits, and no other caller does", async () => {
    const { app } = open();
    const ask = (token: string) => app.fetch(bearing(token, "/reconcile/Job/a/j", ""));
    const answers = [
      await ask("a-token-of-the-slow"),
      await ask("a-token-of-the-slow"),
      await ask("a-token-of-the-slow"),
    ];
    assert.deepEqual(
      answers.map(({ status }) => status),
      [202, 202, 429],
    );
    assert.equal(answers.at(-1)?.headers.get("retry-after"), "30");
    assert.equal((await ask("a-token-of-the-team")).status, 202);
  });

  test("that is unknown is limited by its address", async () => {
    const { app } = open();
    const ask = (sourceIp: string) =>
      app.fetch(bearing("a-token-of-nobody's", "/reconcile/Job/a/j", ""), { requestContext: { http: { sourceIp } } });
    const first = await Promise.all(Array.from({ length: 61 }, () => ask("192.0.2.1")));
    assert.deepEqual([first.at(59)?.status, first.at(60)?.status, (await ask("192.0.2.2")).status], [401, 429, 401]);
  });

  /** A gate that identifies no caller, and the count of its attempts. */
  const strict = () => {
    const asked = { times: 0 };
    const gate = openGate(
      async () => {
        asked.times += 1;
        return undefined;
      },
      () => 0,
    );
    const app = new Hono().post("/", async (c) => {
      const admitted = await gate(c, undefined);
      return admitted instanceof Response ? admitted : c.text("in");
    });
    const ask = async (headers: Readonly<Record<string, string>>): Promise<number> => {
      const from = { requestContext: { http: { sourceIp: "192.0.2.1" } } };
      return (await app.request("/", { method: "POST", body: "x", headers }, from)).status;
    };
    return { asked, ask };
  };
  const wrong = { "x-rekindle-signature": "sha256=00" };

  test("from an address with too many failures is refused without reading the body or checking a key", async () => {
    const { asked, ask } = strict();
    for (let at = 0; at < 90; at += 1) await ask(wrong);
    assert.deepEqual([asked.times, await ask(wrong)], [60, 429]);
  });

  test("without a proof is refused unread, and costs nothing to other callers of its address", async () => {
    const { asked, ask } = strict();
    const answers: number[] = [];
    for (let at = 0; at < 90; at += 1) answers.push(await ask({}));
    assert.deepEqual([asked.times, answers.at(59), answers.at(60)], [0, 401, 429]);
    assert.deepEqual([await ask(wrong), asked.times], [401, 1]);
  });

  test("that cannot sign may name the event by an idempotency key", async () => {
    const { app, sent } = open();
    const ask = (headers: object) => app.fetch(bearing("a-token-of-the-team", "/reconcile/Job/a/j", "", headers));
    for (const headers of [{ "idempotency-key": "1" }, { "idempotency-key": "1" }, { "idempotency-key": "2" }])
      await ask(headers);
    assert.deepEqual(sent, ["Job/a/j for team 1", "Job/a/j for team 1", "Job/a/j for team 2"]);
  });
});
