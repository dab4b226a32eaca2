/** The door of the bell: every readable review is allowed, strangers find nothing, and no content of an object leaves it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fieldsOf } from "../../../../shared/core/json.ts";
import type { Message } from "../../../../shared/core/key.ts";
import { type BellParts, bellApp } from "../../../../shared/deployments/bell/app.ts";
import { openBell } from "../../../../shared/deployments/bell/function.ts";
import { subjectsOf } from "../../../../shared/forward/keys.ts";
import { watchers } from "../../../../shared/registry/watchers.ts";
import { application } from "../../host/objects.ts";

const [old, next] = ["old-path-0123456789", "new-path-0123456789"];
const canary = "canary-7d1f";

/** A review of an application whose every text that a tenant writes is a canary. */
const review = (more: object = {}) => {
  const metadata = { name: "pi", namespace: "default", uid: "u-1", annotations: { note: canary } };
  const pi = application("pi");
  const spec = { ...fieldsOf(pi.spec), arguments: [canary], sparkConf: { "spark.x": canary } };
  const object = { ...pi, metadata, spec };
  const kind = { group: "sparkoperator.k8s.io", version: "v1beta2", kind: "SparkApplication" };
  const resource = { group: kind.group, version: kind.version, resource: "sparkapplications" };
  const request = { uid: "r-1", operation: "CREATE", namespace: "default", kind, resource, object, ...more };
  return { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request };
};

const opened = (more: Partial<BellParts> = {}) => {
  const sent: Message[] = [];
  const lines: unknown[] = [];
  let now = Date.UTC(2026, 10, 2, 8);
  const take = async (message: Message): Promise<void> => void sent.push(message);
  const app = bellApp({
    ...{ cluster: "here", subjects: subjectsOf(watchers), notices: () => [], within: () => true },
    ...{ paths: async () => `${next},${old}`, queue: { send: take, sendLater: take } },
    report: (...line) => void lines.push(line),
    // Each review comes in another second.
    time: () => (now += 1_000),
    ...more,
  });
  const ring = async (body: unknown, path = next) =>
    await app.request(`/${path}/bell`, {
      method: "POST",
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  return { app, sent, lines, ring };
};

const allowed = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response: { uid: "r-1", allowed: true } };

describe("the bell", () => {
  test("sends the key of a change, and allows the request without a word", async () => {
    const { ring, sent } = opened();
    const answer = await ring(review());
    assert.equal(answer.status, 200);
    assert.deepEqual(await answer.json(), allowed);
    assert.deepEqual(
      sent.map(({ kind, namespace, name }) => `${kind}/${namespace}/${name}`),
      ["SparkApplication/default/pi", "SparkApplication/default/pi"],
    );
  });

  test("answers at both paths while the path is changed, and nowhere else", async () => {
    const { app, ring, sent } = opened();
    for (const path of [old, next]) assert.equal((await ring(review(), path)).status, 200);
    const before = sent.length;
    for (const path of [old.slice(1), `${old}0`, "", `${next},${old}`, "%00"])
      assert.equal((await ring(review(), path)).status, 404);
    for (const path of ["/", "/bell", `/${next}`, `/${next}/validate`, `/x/${next}/bell`])
      assert.equal((await app.request(path, { method: "POST", body: "{}" })).status, 404);
    assert.equal((await app.request(`/${next}/bell`)).status, 404);
    assert.equal(sent.length, before);
  });

  test("allows a request whose object it cannot judge", async () => {
    const { ring, sent, lines } = opened();
    const odd = [
      { object: { metadata: { name: "pi", uid: "u", labels: 5 } } },
      { object: null },
      { object: { ...review().request.object, metadata: { ...review().request.object.metadata, annotations: "x" } } },
      { operation: "CONNECT" },
      { resource: undefined },
      { options: { gracePeriodSeconds: null } },
    ];
    for (const more of odd) {
      const answer = await ring(review(more));
      assert.deepEqual([answer.status, await answer.json()], [200, allowed]);
    }
    assert.ok(sent.length > 0);
    assert.ok(!JSON.stringify(lines).includes(canary));
  });

  test("allows a request whose rings its own fault prevents, and reports it without a word of the object", async () => {
    const within = (): boolean => {
      throw new TypeError(`cannot read ${canary}`);
    };
    const { ring, sent, lines } = opened({ within });
    const answer = await ring(review());
    assert.deepEqual([answer.status, await answer.json(), sent], [200, allowed, []]);
    assert.match(JSON.stringify(lines), /could not be read/);
    assert.ok(!JSON.stringify(lines).includes(canary));
  });

  test("answers 500 when the queue refuses, so that the API server counts it", async () => {
    const refusing = () => Promise.reject(new Error("no queue"));
    const { ring, lines } = opened({ queue: { send: refusing, sendLater: refusing } });
    assert.equal((await ring(review())).status, 500);
    assert.match(JSON.stringify(lines), /default\/pi/);
  });

  test("sends no message that its reader would drop, and none with texts of any length", async () => {
    const { ring, sent } = opened();
    const { object } = review().request;
    const named = (metadata: object) =>
      review({ object: { ...object, metadata: { ...object.metadata, ...metadata } } });
    assert.equal((await ring(named({ name: "n".repeat(1_000_000) }))).status, 200);
    assert.equal((await ring(named({ namespace: "n".repeat(1_000_000) }))).status, 200);
    assert.equal(sent.length, 0);
    const longest = "n".repeat(253);
    assert.equal((await ring(named({ name: longest, uid: "u".repeat(1_000_000) }))).status, 200);
    assert.deepEqual(
      sent.map(({ name, reason, after }) => [name, reason.length, after]),
      [
        [longest, 200, undefined],
        [longest, 200, undefined],
      ],
    );
  });

  test("refuses what is no review, in a moment", async () => {
    const { ring, lines } = opened();
    for (const body of [
      "",
      "{",
      "[]",
      "null",
      `{"a":"${canary}`,
      { ...review(), apiVersion: "admission.k8s.io/v1beta1" },
    ])
      assert.equal((await ring(body)).status, 400);
    assert.equal((await ring("[".repeat(200_000))).status, 413);
    assert.equal((await ring("x".repeat(9 * 1024 * 1024))).status, 413);
    assert.deepEqual(lines, []);
  });

  test("forwards and logs nothing of an object but names, uid and version", async () => {
    const { ring, sent, lines } = opened();
    const oldObject = { ...review().request.object };
    for (const [operation, versions] of [
      ["CREATE", {}],
      ["UPDATE", { oldObject: { ...oldObject, metadata: { ...oldObject.metadata, resourceVersion: "5" }, spec: {} } }],
      [
        "DELETE",
        { object: null, oldObject: { ...oldObject, metadata: { ...oldObject.metadata, resourceVersion: "5" } } },
      ],
    ] as const) {
      const answer = await ring(review({ operation, ...versions }));
      assert.deepEqual([answer.status, await answer.json()], [200, allowed]);
    }
    assert.ok(sent.length >= 4);
    assert.ok(!JSON.stringify([sent, lines]).includes(canary));
  });

  test("needs a path and its queues, and no account of the cluster", () => {
    const queues = {
      REKINDLE_FIFO_URL: "https://queue.example/q.fifo",
      REKINDLE_DELAY_URL: "https://queue.example/delay",
    };
    const env = { ...queues, REKINDLE_ADMISSION_PATH: next };
    assert.ok(openBell(env).app);
    assert.throws(() => openBell(queues), /REKINDLE_ADMISSION_PATH/);
    assert.throws(() => openBell({ ...env, REKINDLE_ADMISSION_PATH: "short" }), /REKINDLE_ADMISSION_PATH/);
    assert.throws(() => openBell({ REKINDLE_ADMISSION_PATH: next }), /REKINDLE_FIFO_URL/);
  });
});
