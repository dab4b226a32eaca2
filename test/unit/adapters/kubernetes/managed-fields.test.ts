/** Tests that objects lose their managed fields before they are parsed, and nothing else. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { leanObjects, withoutManagedFields } from "../../../../shared/adapters/kubernetes/managed-fields.ts";
import type { HttpRequest, Transport } from "../../../../shared/core/http.ts";

/** Texts that look like the JSON around managed fields. */
const texts = fc.oneof(
  fc.string(),
  fc
    .array(fc.constantFrom('"', "\\", "[", "]", "{", "}", ",", ":", "managedFields", ',"managedFields":[', "k:", "é"), {
      maxLength: 8,
    })
    .map((parts) => parts.join("")),
);

const { fields } = fc.letrec<{ fields: unknown }>((tie) => ({
  fields: fc.oneof({ maxDepth: 4 }, fc.constant({}), fc.dictionary(texts, tie("fields"), { maxKeys: 3 })),
}));

const share = fc.record({ manager: texts, operation: fc.constant("Update"), fieldsV1: fields });

const pods = fc.record({
  kind: fc.constant("Pod"),
  metadata: fc.record({ name: texts, labels: fc.dictionary(texts, texts, { maxKeys: 3 }) }),
  spec: fc.record({ args: fc.array(texts, { maxLength: 3 }), env: fc.dictionary(texts, texts, { maxKeys: 2 }) }),
});

type Pod = typeof pods extends fc.Arbitrary<infer T> ? T : never;

/** The pod as a server of typed objects writes it, with the managed fields at the end of its metadata, or amid them. */
const managed = (pod: Pod, shares: readonly unknown[], isLast: boolean): object => {
  const { name, ...metadata } = pod.metadata;
  const managedFields = shares;
  return { ...pod, metadata: isLast ? { name, ...metadata, managedFields } : { ...metadata, managedFields, name } };
};

/** An entry as a server of custom resources writes it, with its keys in order. */
const entry = fc.record(
  {
    ...{ apiVersion: texts, fieldsType: fc.constant("FieldsV1"), fieldsV1: fields, manager: texts },
    ...{ operation: fc.constant("Update"), subresource: fc.constant("status"), time: texts },
  },
  { requiredKeys: ["apiVersion", "fieldsType", "fieldsV1", "operation"] },
);

const custom = fc.record({ managedFields: fc.array(entry, { maxLength: 3 }), name: texts, spec: texts });

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe("the text of pods", () => {
  test("is parsed as the same pods without managed fields", () => {
    const many = fc.array(fc.tuple(pods, fc.array(share, { maxLength: 3 }), fc.boolean()), { maxLength: 3 });
    fc.assert(
      fc.property(many, (all) => {
        const text = JSON.stringify({ items: all.map(([pod, shares, isLast]) => managed(pod, shares, isLast)) });
        assert.deepEqual(JSON.parse(withoutManagedFields(text)), plain({ items: all.map(([pod]) => pod) }));
      }),
      { numRuns: 2_000 },
    );
  });

  test("of custom resources keeps the managers and their times", () => {
    const many = fc.array(custom, { maxLength: 3 });
    fc.assert(
      fc.property(many, (all) => {
        const texts = all.map(({ managedFields, name, spec }) => ({ metadata: { a: 1, managedFields, name }, spec }));
        const left = all.map(({ managedFields, name, spec }) => {
          const kept = managedFields.map((share) => ({ ...share, fieldsV1: {} }));
          return { metadata: managedFields.length === 0 ? { a: 1, name } : { a: 1, managedFields: kept, name }, spec };
        });
        assert.deepEqual(JSON.parse(withoutManagedFields(JSON.stringify({ items: texts }))), plain({ items: left }));
      }),
      { numRuns: 2_000 },
    );
  });

  test("without managed fields stays as it is", () => {
    fc.assert(
      fc.property(pods, (pod) => {
        assert.equal(withoutManagedFields(JSON.stringify(pod)), JSON.stringify(pod));
      }),
    );
  });

  const others: readonly string[] = [
    '{"a":1,"managedFields":[{"of":["a list"]}],"b":2}',
    '{"a":1,"managedFields":null,"b":2}',
    '{"a":1,"managedFields":[{"cut":"of',
    '{"a":1,"managedFields":',
  ];
  for (const text of others)
    test(`of another form stays as it is: ${text}`, () => {
      assert.equal(withoutManagedFields(text), text);
    });

  test("takes a time that grows with its length only", () => {
    const text = `{"a":1,"managedFields":[${'{"f:a":{}},'.repeat(100_000)}`;
    const before = performance.now();
    assert.equal(withoutManagedFields(text), text);
    assert.ok(performance.now() - before < 2_000);
  });
});

describe("a transport with lean objects", () => {
  const body = '{"metadata":{"name":"a","managedFields":[{"manager":"m"}]}}';
  const lean = '{"metadata":{"name":"a"}}';
  async function* lines(): AsyncGenerator<string> {
    yield body;
    yield body;
  }
  const transport: Transport = leanObjects({
    send: async () => ({ status: 200, headers: {}, body }),
    stream: async () => ({ status: 200, headers: {}, lines: lines(), close: () => {} }),
  });
  const get = (path: string): HttpRequest => ({ method: "GET", path, headers: {}, timeoutMs: 1 });

  const cases: readonly (readonly [path: string, expected: string])[] = [
    ["/api/v1/pods?watch=1", lean],
    ["/api/v1/namespaces/a/pods", lean],
    ["/api/v1/namespaces/a/pods?limit=500", lean],
    ["/api/v1/namespaces/a/pods/b", lean],
    ["/api/v1/namespaces/a/pods/b/status", lean],
    ["/api/v1/namespaces/a/pods/b/log?container=c", body],
    ["/api/v1/namespaces/a/pods/b:4040/proxy/api/v1/pods/c", body],
    ["/api/v1/namespaces/a/pods/b/proxy/pods", body],
    ["/api/v1/namespaces/a/services/b:80/proxy/c", body],
    ["/api/v1/namespaces/pods/services", lean],
    ["/api/v1/nodes?limit=500", lean],
    ["/apis/scheduling.volcano.sh/v1beta1/podgroups?watch=1", lean],
    ["/apis/scheduling.volcano.sh/v1beta1/namespaces/a/podgroups", lean],
    ["/apis/sparkoperator.k8s.io/v1beta2/namespaces/a/sparkapplications/pods", lean],
    ["/apis/batch.volcano.sh/v1alpha1/namespaces/a/jobs/proxies?log=1", lean],
  ];
  for (const [path, expected] of cases)
    test(`answers ${path} with ${expected === lean ? "lean objects" : "what the server says"}`, async () => {
      assert.equal((await transport.send(get(path))).body, expected);
      const { lines: streamed } = await transport.stream(get(path));
      const seen: string[] = [];
      for await (const line of streamed) seen.push(line);
      assert.deepEqual(seen, [expected, expected]);
    });
});
