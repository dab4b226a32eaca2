/** Requests take turns by namespace, on a transport whose answers the test gives. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { takingTurns } from "../../../../shared/adapters/kubernetes/turns.ts";
import type { HttpRequest, HttpResponse } from "../../../../shared/core/http.ts";

const answer: HttpResponse = { status: 200, headers: {}, body: "{}" };

/** A transport that notes requests and answers when told. */
const noted = () => {
  const requests: HttpRequest[] = [];
  const answers: (() => void)[] = [];
  return {
    requests,
    answerAll: () => {
      for (const give of answers.splice(0)) give();
    },
    send: (request: HttpRequest): Promise<HttpResponse> => {
      requests.push(request);
      return new Promise((resolve) => answers.push(() => resolve(answer)));
    },
    stream: () => Promise.reject(new Error("no stream in this test")),
  };
};

const podsOf = (namespace: string): HttpRequest => ({
  method: "GET",
  path: `/api/v1/namespaces/${namespace}/pods?limit=500`,
  headers: {},
  timeoutMs: 5_000,
});

type Options = {
  readonly now?: () => number;
  readonly isBusy?: () => boolean;
  readonly weightOf?: (namespace: string) => number;
};

/** A namespace `large` that has sent 200 requests, all of them answered. */
const afterMany = async ({ now, isBusy = () => true, weightOf = () => 1 }: Options = {}) => {
  const transport = noted();
  const turns = takingTurns(transport, { weightOf, isBusy, ...(now && { now }) });
  const sent = Array.from({ length: 200 }, () => turns.send(podsOf("large")));
  transport.answerAll();
  await Promise.all(sent);
  transport.requests.length = 0;
  const names = (): readonly string[] => transport.requests.map(({ path }) => path.split("/")[4] ?? "");
  return { transport, turns, names };
};

test("in a busy process a namespace that has sent much waits for the requests of one that has sent little", async () => {
  const { transport, turns, names } = await afterMany();
  const small = turns.send(podsOf("small"));
  const large = turns.send(podsOf("large"));
  await sleep(20);
  assert.deepEqual(names(), ["small"]);
  transport.answerAll();
  await small;
  await sleep(30);
  assert.deepEqual(names(), ["small", "large"]);
  transport.answerAll();
  assert.equal((await large).status, 200);
});

test("a request waits a tenth of a second at most, and its time limit is shortened by the wait", async (t) => {
  let time = 0;
  t.after(() => {
    time = Number.POSITIVE_INFINITY;
  });
  const { transport, turns, names } = await afterMany({ now: () => time });
  const small = turns.send(podsOf("small"));
  const large = turns.send(podsOf("large"));
  time = 99;
  await sleep(30);
  assert.deepEqual(names(), ["small"]);
  time = 100;
  for (let tries = 0; names().length < 2 && tries < 100; tries += 1) await sleep(5);
  assert.equal(transport.requests[1]?.timeoutMs, 4_900);
  transport.answerAll();
  await Promise.all([small, large]);
});

test("nothing waits while the event loop has idle time", async () => {
  const { transport, turns, names } = await afterMany({ isBusy: () => false });
  const both = [turns.send(podsOf("small")), turns.send(podsOf("large"))];
  await sleep(0);
  assert.deepEqual(names(), ["small", "large"]);
  transport.answerAll();
  await Promise.all(both);
});

test("a namespace that is alone, a namespace with a greater weight, and requests without a namespace do not wait", async () => {
  const { transport, turns, names } = await afterMany({ weightOf: (namespace) => (namespace === "large" ? 400 : 1) });
  const all = [turns.send(podsOf("large")), turns.send(podsOf("small")), turns.send(podsOf("large"))];
  all.push(turns.send({ ...podsOf("large"), path: "/api/v1/pods?limit=500" }));
  await sleep(0);
  assert.deepEqual(names(), ["large", "small", "large", ""]);
  transport.answerAll();
  await Promise.all(all);
});

test("a failed request ends its turn", async () => {
  const transport = noted();
  const failing = { ...transport, send: () => Promise.reject(new Error("reset")) };
  let refuse = false;
  const turns = takingTurns(
    { ...transport, send: (request) => (refuse ? failing.send() : transport.send(request)) },
    { weightOf: () => 1, isBusy: () => true },
  );
  const many = Array.from({ length: 200 }, () => turns.send(podsOf("large")));
  transport.answerAll();
  await Promise.all(many);
  refuse = true;
  await assert.rejects(turns.send(podsOf("small")), { message: "reset" });
  refuse = false;
  const since = performance.now();
  const large = turns.send(podsOf("large"));
  await sleep(0);
  transport.answerAll();
  for (; performance.now() - since < 90 && transport.requests.length < 201; transport.answerAll()) await sleep(2);
  assert.equal(transport.requests.length, 201);
  transport.answerAll();
  await large;
});
