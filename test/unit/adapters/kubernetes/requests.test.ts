/** Patches, server-side apply, replacements and pages, as they are sent. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  applyObject,
  jsonPatchObject,
  mergeObject,
  pages,
  replaceObject,
  request,
} from "../../../../shared/adapters/kubernetes/requests.ts";
import type { Transport } from "../../../../shared/core/http.ts";
import { apps, pod, pods, refusal, scripted } from "./fake.ts";

const ref = { resource: pods, namespace: "ns", name: "a" };
const path = "/api/v1/namespaces/ns/pods/a";

type Row = {
  run: (transport: Transport) => Promise<unknown>;
  method: string;
  path: string;
  type: string;
  body: unknown;
};

const rows: Record<string, Row> = {
  "server-side apply": {
    run: (transport) => applyObject(transport, ref, pod("a"), { manager: "m", force: true, dryRun: true }),
    ...{
      method: "PATCH",
      path: `${path}?fieldManager=m&force=true&dryRun=All`,
      type: "application/apply-patch+yaml",
      body: pod("a"),
    },
  },
  "merge patch of a subresource": {
    run: (transport) => mergeObject(transport, { ref, subresource: "status" }, { status: null }),
    ...{ method: "PATCH", path: `${path}/status`, type: "application/merge-patch+json", body: { status: null } },
  },
  "JSON patch": {
    run: (transport) => jsonPatchObject(transport, { ref }, [{ op: "remove", path: "/metadata/finalizers" }]),
    ...{
      method: "PATCH",
      path,
      type: "application/json-patch+json",
      body: [{ op: "remove", path: "/metadata/finalizers" }],
    },
  },
  replacing: {
    run: (transport) => replaceObject(transport, ref, pod("a")),
    ...{ method: "PUT", path, type: "application/json", body: pod("a") },
  },
  "any request": {
    run: (transport) => request(transport, "POST", "/x?y", { a: 1 }),
    ...{ method: "POST", path: "/x?y", type: "application/json", body: { a: 1 } },
  },
};

describe("requests", () => {
  for (const [name, { run, method, path: expected, type, body }] of Object.entries(rows)) {
    it(`${name} is sent with its method, path and type, and its answer is parsed`, async () => {
      const transport = scripted({ body: pod("a") });
      assert.deepEqual(await run(transport), pod("a"));
      const [asked] = transport.asked;
      assert.deepEqual([asked?.method, asked?.path, asked?.headers["content-type"]], [method, expected, type]);
      assert.deepEqual(JSON.parse(asked?.body ?? ""), body);
      await assert.rejects(run(scripted(refusal(409, "Conflict", "a"))), { status: 409, reason: "Conflict" });
    });
  }
});

describe("pages", () => {
  it("of metadata have that accept header, and keep the kind of the objects", async () => {
    const { metadata } = pod("a");
    const item = { apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata", metadata };
    const first = { body: { metadata: { resourceVersion: "9", continue: "x" }, items: [item] } };
    const transport = scripted(first, { body: { metadata: { resourceVersion: "9" }, items: [] } });
    const seen = [];
    for await (const page of pages(transport, { resource: apps, selector: "a=b", limit: 1, metadataOnly: true }))
      seen.push(page);
    assert.deepEqual(seen, [
      {
        items: [{ apiVersion: "sparkoperator.k8s.io/v1beta2", kind: "SparkApplication", metadata }],
        resourceVersion: "9",
        next: "x",
      },
      { items: [], resourceVersion: "9", next: undefined },
    ]);
    assert.match(transport.asked[0]?.headers["accept"] ?? "", /as=PartialObjectMetadataList/);
    const all = "/apis/sparkoperator.k8s.io/v1beta2/sparkapplications?labelSelector=a%3Db&limit=1";
    assert.deepEqual(
      transport.asked.map((asked) => asked.path),
      [all, `${all}&continue=x`],
    );
  });
});
