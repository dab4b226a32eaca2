/** The cluster port: its requests, and its results for every kind of answer. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openCluster } from "../../../../shared/adapters/kubernetes/cluster.ts";
import type { Stored } from "../../../../shared/core/object.ts";
import { apps, date, pod, pods, type Reply, refusal, scripted } from "./fake.ts";

const ref = { resource: pods, namespace: "ns", name: "a" };
const page = (items: readonly unknown[], next?: string): Reply => ({
  body: { kind: "PodList", apiVersion: "v1", metadata: { resourceVersion: "9", continue: next }, items },
});
const bare = (name: string) => ({ metadata: pod(name).metadata });

describe("get", () => {
  it("sends a quorum read of one object, and returns the server's clock", async () => {
    const transport = scripted({ body: pod("a") });
    assert.deepEqual(await openCluster(transport).get(ref), { value: pod("a"), date: Date.parse(date) });
    const [asked] = transport.asked;
    assert.deepEqual([asked?.method, asked?.path, asked?.timeoutMs], ["GET", "/api/v1/namespaces/ns/pods/a", 5_000]);
  });

  it("returns no object only if the server's NotFound names the object", async () => {
    const cluster = openCluster(scripted(refusal(404, "NotFound", "a")));
    assert.equal((await cluster.get(ref)).value, undefined);
  });

  const others: Record<string, { reply: Reply; error: object }> = {
    "a 404 page": {
      reply: { status: 404, body: "404 page not found\n" },
      error: { status: 404, reason: "NotFound", message: /does not serve this resource/ },
    },
    "a Status without a name": {
      reply: refusal(404, "NotFound"),
      error: { status: 404, reason: "NotFound", message: /does not serve this resource/ },
    },
    "a Status about another object": {
      reply: refusal(404, "NotFound", "b"),
      error: { status: 404, reason: "NotFound" },
    },
    "a refusal": {
      reply: refusal(403, "Forbidden", "a", "no"),
      error: { status: 403, reason: "Forbidden", message: "get pods ns/a: no" },
    },
    "a request to wait": {
      reply: { ...refusal(429, "TooManyRequests"), headers: { "retry-after": "3" } },
      error: { status: 429, retryAfterMs: 3_000 },
    },
    "a request to wait until a date": {
      reply: { status: 503, body: "", headers: { "retry-after": "Mon, 02 Nov 2026 08:00:07 GMT" } },
      error: { status: 503, reason: "ServiceUnavailable", retryAfterMs: 7_000, message: "get pods ns/a: HTTP 503" },
    },
    "a gateway's page": {
      reply: { status: 502, body: "<html>" },
      error: { status: 502, message: "get pods ns/a: <html>" },
    },
    "half an answer": { reply: { body: '{"kind":"Pod"' }, error: { status: 0, reason: "BadAnswer" } },
    "an object without identity": {
      reply: { body: { ...pod("a"), metadata: { name: "a" } } },
      error: { status: 0, reason: "BadAnswer" },
    },
  };
  for (const [name, { reply, error }] of Object.entries(others)) {
    it(`throws for ${name}`, async () => {
      await assert.rejects(openCluster(scripted(reply)).get(ref), { name: "ApiError", ...error });
    });
  }

  const names: Record<string, string | undefined> = {
    "../../secrets/x": "/api/v1/namespaces/ns/pods/..%2F..%2Fsecrets%2Fx",
    "a?b#c d": "/api/v1/namespaces/ns/pods/a%3Fb%23c%20d",
    "%2e%2e": "/api/v1/namespaces/ns/pods/%252e%252e",
    "\ud800": "/api/v1/namespaces/ns/pods/%EF%BF%BD",
    "": undefined,
    ".": undefined,
    "..": undefined,
  };
  for (const [name, path] of Object.entries(names)) {
    it(`escapes or refuses the name ${JSON.stringify(name)}, which cannot leave its path`, async () => {
      const transport = scripted({ body: pod("a") });
      const asked = openCluster(transport).get({ ...ref, name });
      if (path === undefined) await assert.rejects(asked, { status: 422, reason: "Invalid" });
      else await asked;
      assert.equal(transport.asked[0]?.path, path);
    });
  }
});

describe("list", () => {
  const query = { do: "list", resource: pods, namespace: "ns", labels: { "spark-role": "executor", a: "b" } } as const;

  it("reads all pages and restores the fields that servers leave out of items", async () => {
    const transport = scripted(page([bare("a")], "more?"), page([bare("b")]));
    const { value } = await openCluster(transport, { pageSize: 1 }).list({ ...query, field: "status.phase!=Failed" });
    assert.deepEqual(value, [pod("a"), pod("b")]);
    const base =
      "/api/v1/namespaces/ns/pods?labelSelector=spark-role%3Dexecutor%2Ca%3Db&fieldSelector=status.phase!%3DFailed";
    assert.deepEqual(
      transport.asked.map(({ path }) => path),
      [`${base}&limit=1`, `${base}&limit=1&continue=more%3F`],
    );
  });

  it("starts again when its continuation has expired, and fails after three tries", async () => {
    const gone = refusal(410, "Expired");
    const transport = scripted(page([bare("a")], "x"), gone, page([bare("b")], "x"), page([bare("c")]));
    const { value } = await openCluster(transport).list(query);
    assert.deepEqual(
      value.map(({ metadata }) => metadata.name),
      ["b", "c"],
    );
    await assert.rejects(openCluster(scripted(gone)).list(query), { status: 410 });
  });

  it("reads all namespaces, and accepts a null list as empty", async () => {
    const transport = scripted({ body: { metadata: {}, items: null } });
    const { value } = await openCluster(transport).list({ do: "list", resource: apps, namespace: "", labels: {} });
    assert.deepEqual(value, []);
    assert.equal(transport.asked[0]?.path, "/apis/sparkoperator.k8s.io/v1beta2/sparkapplications?limit=16");
  });

  it("keeps what the query's projection returns, and opens one projection for each list", async () => {
    const transport = scripted(page([bare("a"), bare("b")], "more"), page([bare("c")]));
    let begun = 0;
    const projecting = () => {
      begun += 1;
      return (object: Stored) => (object.metadata.name === "b" ? undefined : { ...object, kept: true });
    };
    const { value } = await openCluster(transport, { listBytes: 1 }).list({ ...query, projecting });
    assert.deepEqual(
      [begun, value.map(({ metadata, kept }) => [metadata.name, kept])],
      [
        1,
        [
          ["a", true],
          ["c", true],
        ],
      ],
    );
  });

  it("ends with the page at which its text reaches the query's limit", async () => {
    const transport = scripted(page([bare("a")], "more"), page([bare("b".repeat(200))], "yet more"));
    const { value } = await openCluster(transport).list({ ...query, mostText: 250 });
    assert.equal(value.length, 2);
    assert.equal(transport.asked.length, 2);
  });

  it("fails if simultaneous lists exceed their memory, and leaves the memory to the next one", async () => {
    const cluster = openCluster(scripted(page([bare("a")], "more"), page([bare("b".repeat(200))]), page([])), {
      listBytes: 1_000,
    });
    await assert.rejects(cluster.list(query), { status: 0, reason: "TooMuch", message: /exceed the memory for lists/ });
    assert.deepEqual((await cluster.list(query)).value, []);
  });

  it("refuses an answer that is no list", async () => {
    for (const body of [{ items: [] }, { metadata: {}, items: {} }, { metadata: {}, items: [{}] }, []]) {
      await assert.rejects(openCluster(scripted({ body })).list(query), { status: 0, reason: "BadAnswer" });
    }
  });
});

describe("remove", () => {
  const fence = { uid: "u1", resourceVersion: "5", graceSeconds: 0 };

  it("sends this UID, this version and this grace period", async () => {
    const transport = scripted({ body: pod("a") });
    await openCluster(transport).remove(ref, fence);
    const [asked] = transport.asked;
    assert.equal(asked?.method, "DELETE");
    assert.deepEqual(JSON.parse(asked?.body ?? ""), {
      kind: "DeleteOptions",
      apiVersion: "v1",
      preconditions: { uid: "u1", resourceVersion: "5" },
      gracePeriodSeconds: 0,
      propagationPolicy: "Background",
    });
  });

  const conflict = refusal(409, "Conflict", "a", "Precondition failed");
  const rows: Record<string, { replies: readonly Reply[]; error?: object }> = {
    "the object was deleted": { replies: [{ status: 202, body: {} }] },
    "the object was gone": { replies: [refusal(404, "NotFound", "a")] },
    "another object has the name": { replies: [conflict, { body: pod("a", "u2") }] },
    "the object has gone since": { replies: [conflict, refusal(404, "NotFound", "a")] },
    "the object has changed": {
      replies: [conflict, { body: pod("a", "u1", "6") }],
      error: { status: 409, reason: "Conflict" },
    },
    "the resource is not served": { replies: [{ status: 404, body: "404 page not found" }], error: { status: 404 } },
    "the deletion is forbidden": { replies: [refusal(403, "Forbidden", "a")], error: { status: 403 } },
  };
  for (const [name, { replies, error }] of Object.entries(rows)) {
    it(`${error === undefined ? "is done" : "throws"} when ${name}`, async () => {
      const removing = openCluster(scripted(...replies)).remove(ref, fence);
      await (error === undefined ? removing : assert.rejects(removing, error));
    });
  }
});

describe("evict", () => {
  it("asks the Eviction API to end the pod of this UID", async () => {
    const transport = scripted({ status: 201, body: {} });
    await openCluster(transport).evict(ref, "u1");
    const [asked] = transport.asked;
    assert.deepEqual([asked?.method, asked?.path], ["POST", "/api/v1/namespaces/ns/pods/a/eviction"]);
    assert.deepEqual(JSON.parse(asked?.body ?? ""), {
      ...{ apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "a", namespace: "ns" } },
      deleteOptions: { preconditions: { uid: "u1" } },
    });
  });

  const conflict = refusal(409, "Conflict", "a", "Precondition failed");
  const rows: Record<string, { replies: readonly Reply[]; error?: object }> = {
    "the pod was gone": { replies: [refusal(404, "NotFound", "a")] },
    "another pod has the name": { replies: [conflict, { body: pod("a", "u2") }] },
    "the pod has the UID, and the server says that it conflicts": {
      replies: [conflict, { body: pod("a", "u1") }],
      error: { status: 409 },
    },
    "a budget forbids it": { replies: [refusal(429, "TooManyRequests", "a")], error: { status: 429 } },
    "the right is missing": { replies: [refusal(403, "Forbidden", "a")], error: { status: 403 } },
  };
  for (const [name, { replies, error }] of Object.entries(rows)) {
    it(`${error === undefined ? "is done" : "throws"} when ${name}`, async () => {
      const evicting = openCluster(scripted(...replies)).evict(ref, "u1");
      await (error === undefined ? evicting : assert.rejects(evicting, error));
    });
  }
});

describe("writes", () => {
  it("create sends a POST to the collection", async () => {
    const transport = scripted({ status: 201, body: pod("a") });
    const { uid: _, resourceVersion: __, ...metadata } = pod("a").metadata;
    const object = { ...pod("a"), metadata };
    assert.deepEqual(await openCluster(transport).create(ref, object), pod("a"));
    const [asked] = transport.asked;
    assert.deepEqual([asked?.method, asked?.path], ["POST", "/api/v1/namespaces/ns/pods"]);
    assert.deepEqual(JSON.parse(asked?.body ?? ""), object);
  });

  it("create distinguishes AlreadyExists from a missing namespace", async () => {
    const taken = openCluster(scripted(refusal(409, "AlreadyExists", "a")));
    await assert.rejects(taken.create(ref, pod("a")), { status: 409, reason: "AlreadyExists" });
    const homeless = openCluster(scripted(refusal(404, "NotFound", "ns", 'namespaces "ns" not found')));
    await assert.rejects(homeless.create(ref, pod("a")), {
      status: 404,
      message: 'create pods ns/a: namespaces "ns" not found',
    });
  });

  it("patchStatus sends a merge patch bound to a version", async () => {
    const transport = scripted({ body: pod("a") });
    await openCluster(transport).patchStatus(ref, "7", { phase: null });
    const [asked] = transport.asked;
    assert.deepEqual([asked?.method, asked?.path], ["PATCH", "/api/v1/namespaces/ns/pods/a/status"]);
    assert.equal(asked?.headers["content-type"], "application/merge-patch+json");
    assert.deepEqual(JSON.parse(asked?.body ?? ""), { metadata: { resourceVersion: "7" }, status: { phase: null } });
  });

  it("patch sends a merge patch bound to a UID and a version", async () => {
    const transport = scripted({ body: pod("a") });
    const fields = { metadata: { labels: { b: "c" } }, data: { d: null } };
    await openCluster(transport).patch(ref, { uid: "u1", resourceVersion: "7" }, fields);
    const [asked] = transport.asked;
    assert.deepEqual([asked?.method, asked?.path], ["PATCH", "/api/v1/namespaces/ns/pods/a"]);
    const metadata = { labels: { b: "c" }, uid: "u1", resourceVersion: "7" };
    assert.deepEqual(JSON.parse(asked?.body ?? ""), { metadata, data: { d: null } });
  });

  it("an answer without a date has the process's own clock", async () => {
    const cluster = openCluster(scripted({ body: pod("a"), headers: { date: "" } }), { now: () => 42 });
    assert.equal((await cluster.get(ref)).date, 42);
  });
});
