/** The HTTP API: authorization of triggers, repeated triggers, and answers that tell a stranger little. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { apiApp } from "../../../functions/api.ts";
import { holderOf, identifier, unauthorized } from "../../../shared/api/callers.ts";
import { signature } from "../../../shared/core/signature.ts";
import type { Standing } from "../../../shared/forward/controller-detection.ts";

const secret = "a secret of more than sixteen";
const now = 1_793_606_400;
const path = "/reconcile/SparkApplication/default/spark-pi";

const desk = { now: () => now * 1_000, subjectOf: async () => undefined };

type Asked = { readonly key: unknown; readonly event: string };

type More = { off?: boolean; ready?: boolean; broken?: boolean; standing?: Standing };

const open = (more: More = {}) => {
  const asked: Asked[] = [];
  const app = apiApp({
    ready: () => more.ready ?? true,
    ...(more.standing && { standing: async () => more.standing ?? new Map() }),
    kinds: () => ["SparkApplication", "Queue"],
    trigger: async (key, event) => {
      if (more.broken === true) throw new Error(`the queue at https://queue.internal refused ${secret}`);
      asked.push({ key, event });
    },
    notice: async () => {},
    plurals: {},
    identify: more.off === true ? undefined : identifier([holderOf(secret)], desk),
  });
  return { app, asked };
};

type Trigger = {
  readonly path?: string;
  readonly signedPath?: string;
  readonly body?: string;
  readonly signedBody?: string;
  readonly timestamp?: string;
  readonly secret?: string;
  readonly change?: (given: string) => string | undefined;
};

const request = (trigger: Trigger = {}): Request => {
  const { body = "", timestamp = String(now), change = (given) => `sha256=${given}` } = trigger;
  const at = trigger.path ?? path;
  const signed = { timestamp, method: "POST", path: trigger.signedPath ?? at, body: trigger.signedBody ?? body };
  const given = change(signature(trigger.secret ?? secret, signed));
  const headers = {
    "x-rekindle-timestamp": timestamp,
    ...(given === undefined ? {} : { "x-rekindle-signature": given }),
  };
  return new Request(`http://door${at}`, { method: "POST", headers, ...(body === "" ? {} : { body }) });
};

describe("a signed trigger", () => {
  test("sends a message for its key", async () => {
    const { app, asked } = open();
    const answer = await app.fetch(request({ body: '{"why":"nightly"}' }));
    assert.deepEqual([answer.status, await answer.json()], [202, { accepted: true }]);
    assert.deepEqual(
      asked.map(({ key }) => key),
      [{ kind: "SparkApplication", namespace: "default", name: "spark-pi" }],
    );
  });

  test("that is repeated is the same event, however the signature is written", async () => {
    const { app, asked } = open();
    for (const change of [undefined, undefined, (given: string) => given])
      await app.fetch(request(change === undefined ? {} : { change }));
    assert.deepEqual([asked.length, new Set(asked.map(({ event }) => event)).size], [3, 1]);
  });

  test("for another time, key or body is another event", async () => {
    const { app, asked } = open();
    const others: readonly Trigger[] = [{}, { timestamp: String(now + 1) }, { path: `${path}-2` }, { body: "x" }];
    for (const other of others) await app.fetch(request(other));
    assert.equal(new Set(asked.map(({ event }) => event)).size, 4);
  });
});

describe("an unknown caller gets 401 without a reason, and nothing is sent:", () => {
  const cases: readonly { name: string; trigger: Trigger }[] = [
    { name: "without a signature", trigger: { change: () => undefined } },
    { name: "with an empty signature", trigger: { change: () => "" } },
    { name: "with a truncated signature", trigger: { change: (given) => `sha256=${given.slice(0, 40)}` } },
    { name: "with a signature of another secret", trigger: { secret: "another secret of some length" } },
    { name: "with a signature for another path", trigger: { signedPath: "/reconcile/SparkApplication/default/other" } },
    { name: "with a signature for another body", trigger: { body: "{}", signedBody: "" } },
    { name: "with an old signature", trigger: { timestamp: String(now - 301) } },
    { name: "with a signature from the future", trigger: { timestamp: String(now + 301) } },
    { name: "with an invalid time", trigger: { timestamp: "now" } },
    { name: "for an unknown kind", trigger: { path: "/reconcile/Secret/default/spark-pi", secret: "wrong" } },
    {
      name: "for an invalid name",
      trigger: { path: "/reconcile/SparkApplication/default/A_B", secret: "wrong" },
    },
  ];
  for (const { name, trigger } of cases) {
    test(name, async () => {
      const { app, asked } = open();
      const answer = await app.fetch(request(trigger));
      assert.deepEqual([answer.status, await answer.json(), asked], [401, { error: unauthorized }, []]);
    });
  }
});

describe("a signed trigger for a missing kind or an invalid name", () => {
  const bad = "not a Kubernetes name";
  const cases = [
    { path: "/reconcile/Secret/default/a", status: 404, error: "kind must be one of SparkApplication" },
    { path: "/reconcile/sparkapplication/default/a", status: 404, error: "kind must be one of SparkApplication" },
    { path: "/reconcile/constructor/default/a", status: 404, error: "kind must be one of SparkApplication" },
    { path: "/reconcile/Queue/team-a/q", status: 404, error: "kind must be one of SparkApplication" },
    { path: "/reconcile/SparkApplication/Default/a", status: 400, error: bad },
    { path: "/reconcile/SparkApplication/a.b/a", status: 400, error: bad },
    { path: `/reconcile/SparkApplication/${"n".repeat(64)}/a`, status: 400, error: bad },
    { path: "/reconcile/SparkApplication/default/a_b", status: 400, error: bad },
    { path: "/reconcile/SparkApplication/default/-a", status: 400, error: bad },
    { path: "/reconcile/SparkApplication/default/a..b", status: 400, error: bad },
    { path: `/reconcile/SparkApplication/default/${"a".repeat(254)}`, status: 400, error: bad },
  ];
  for (const { path: at, status, error } of cases) {
    test(`${at.slice(0, 60)}: ${status}`, async () => {
      const { app, asked } = open();
      const answer = await app.fetch(request({ path: at }));
      assert.deepEqual([answer.status, await answer.json(), asked], [status, { error }, []]);
    });
  }

  for (const name of ["a", "a.b-c.d", "a".repeat(253)]) {
    test(`accepts the name ${name.slice(0, 20)}`, async () => {
      const { app } = open();
      assert.equal((await app.fetch(request({ path: `/reconcile/SparkApplication/default/${name}` }))).status, 202);
    });
  }

  test("cannot reach another path by an encoded name", async () => {
    const { app, asked } = open();
    const answers = await Promise.all(
      ["..%2Fother", "a%2fb", "%00", "%zz"].map((name) =>
        app.fetch(request({ path: `/reconcile/SparkApplication/default/${name}` })),
      ),
    );
    assert.deepEqual([answers.filter(({ status }) => status < 400), asked], [[], []]);
  });
});

describe("the api server", () => {
  test("refuses a body of more than 64 KiB, with or without a Content-Length", async () => {
    const { app, asked } = open();
    const sizes = [65_536, 65_537, 1_000_000];
    const answers = await Promise.all(sizes.map((size) => app.fetch(request({ body: "x".repeat(size) }))));
    assert.deepEqual([answers.map(({ status }) => status), asked.length], [[202, 413, 413], 1]);
    const endless = new ReadableStream<Uint8Array>({ pull: (to) => to.enqueue(new Uint8Array(16_384)) });
    const unmeasured = { method: "POST", body: endless, duplex: "half" } as const;
    const proof = { headers: { authorization: "Bearer a" } };
    assert.equal((await app.fetch(new Request(`http://door${path}`, unmeasured))).status, 401);
    assert.equal((await app.fetch(new Request(`http://door${path}`, { ...unmeasured, ...proof }))).status, 413);
  });

  test("hides the cause of a failure from the caller", async () => {
    const { app } = open({ broken: true });
    const answer = await app.fetch(request());
    assert.deepEqual(
      [answer.status, await answer.text()],
      [500, '{"error":"internal error: see the log of this process"}'],
    );
  });

  test("refuses every trigger if it has no secret, even an unsigned one", async () => {
    const { app, asked } = open({ off: true });
    const answers = await Promise.all([app.fetch(request()), app.fetch(request({ secret: "" }))]);
    assert.deepEqual([answers.map(({ status }) => status), asked], [[404, 404], []]);
  });

  const nothing = [
    { method: "GET", at: "/" },
    { method: "GET", at: path },
    { method: "PUT", at: path },
    { method: "POST", at: "/reconcile" },
    { method: "POST", at: "/reconcile/SparkApplication/default" },
    { method: "POST", at: `${path}/more` },
    { method: "GET", at: "/.env" },
    { method: "GET", at: "/healthz/more" },
  ];
  for (const { method, at } of nothing) {
    test(`answers ${method} ${at} with 404, in the same text`, async () => {
      const answer = await open().app.fetch(new Request(`http://door${at}`, { method }));
      assert.deepEqual([answer.status, await answer.json()], [404, { error: "not found" }]);
    });
  }

  const health = [
    { at: "/healthz", ready: false, status: 200 },
    { at: "/readyz", ready: false, status: 503 },
    { at: "/readyz", ready: true, status: 200 },
  ];
  for (const { at, ready, status } of health) {
    test(`${at} ${ready ? "when" : "before"} watches are synced: ${status}`, async () => {
      assert.equal((await open({ ready }).app.fetch(new Request(`http://door${at}`))).status, status);
    });
  }

  const standing = new Map([
    ["kubeflow spark-operator", ["kubeflow spark-operator holds the lease kube-system/spark-operator-lock"]],
    [
      "Volcano",
      ["Volcano runs as the deployment volcano-system/controllers", "Volcano runs as the pod kube-system/c-0"],
    ],
  ]);
  const texts: readonly { name: string; more: More; says: readonly RegExp[] }[] = [
    { name: "with nothing beside it", more: {}, says: [/^ok$/] },
    { name: "when no sign is left", more: { standing: new Map() }, says: [/^ok$/] },
    {
      name: "in standby: one line for each controller, with all its signs and what to do",
      more: { standing },
      says: [
        /^ok$/,
        /^standby: kubeflow spark-operator holds the lease kube-system\/spark-operator-lock; .*rekindle migrate.*coexist/,
        /^standby: Volcano runs as the deployment volcano-system\/controllers; Volcano runs as the pod kube-system\/c-0; /,
      ],
    },
    { name: "beside no other controller", more: {}, says: [/^ok$/] },
    { name: "before watches are synced", more: { standing, ready: false }, says: [/^watches are not synced yet$/] },
  ];
  for (const { name, more, says } of texts) {
    test(`the text of /readyz ${name}`, async () => {
      const lines = (await (await open(more).app.request("/readyz")).text()).split("\n");
      assert.equal(lines.length, says.length, lines.join("\n"));
      for (const [at, pattern] of says.entries()) assert.match(lines[at] ?? "", pattern);
    });
  }
});
