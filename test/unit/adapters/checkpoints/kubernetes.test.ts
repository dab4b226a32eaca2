/** Checkpoints as objects, over the simulated API server and over scripted answers. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { parse } from "yaml";
import {
  checkpointName,
  checkpointResource,
  hintOf,
  kubernetesCheckpoints,
} from "../../../../shared/adapters/checkpoints/kubernetes.ts";
import { pages } from "../../../../shared/adapters/kubernetes/requests.ts";
import type { Transport } from "../../../../shared/core/http.ts";
import { openSimulator } from "../../../../shared/simulator/open.ts";
import { pod, refusal, scripted } from "../kubernetes/fake.ts";
import { checkpointSuite, key, record } from "./suite.ts";

const crd: unknown = parse(
  readFileSync(new URL("../../../../infra/crds/rekindle.dev_checkpoints.yaml", import.meta.url), "utf8"),
);

const serve = (): Transport => {
  const { transport, handle } = openSimulator({ crds: [crd] });
  for (const name of ["team-a", "team-b", "rekindle"]) {
    const body = JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
    handle({ method: "POST", path: "/api/v1/namespaces", headers: { "content-type": "application/json" }, body });
  }
  return transport;
};

checkpointSuite("objects of a simulated API server", () => kubernetesCheckpoints(serve()));

describe("a checkpoint object", () => {
  it("describes its object to a resync by its metadata alone", async () => {
    const transport = serve();
    const store = kubernetesCheckpoints(transport);
    const [wakeAt, pruneAt] = [Date.UTC(2026, 10, 2, 9), Date.UTC(2026, 10, 9)];
    await store.save(key, record(1, { generation: 3, rests: true, marks: "m1", wakeAt, pruneAt }), undefined);
    const paging = { resource: checkpointResource, metadataOnly: true };
    const hints = [];
    for await (const { items } of pages(transport, paging))
      hints.push(...items.map(({ metadata }) => hintOf(metadata)));
    const { kind, namespace, name } = key;
    const shown = { generation: 3, rests: true, marks: "m1", wakeAt, pruneAt };
    assert.deepEqual(hints, [{ kind, namespace, name, uid: "app-uid", ...shown }]);
  });

  it("of a cluster-scoped object has an empty namespace for a resync, wherever the record is stored", async () => {
    const transport = serve();
    const queue = { cluster: "here", kind: "Queue", namespace: "", name: "root" };
    await kubernetesCheckpoints(transport).save(queue, record(1), undefined);
    const hints = [];
    for await (const { items } of pages(transport, { resource: checkpointResource, metadataOnly: true }))
      hints.push(...items.map(({ metadata }) => [metadata.namespace, hintOf(metadata)?.namespace]));
    assert.deepEqual(hints, [["rekindle", ""]]);
  });

  it("of a cluster-scoped object needs a namespace for its save, and the error has the command for it", async () => {
    const { transport } = openSimulator({ crds: [crd] });
    const queue = { cluster: "here", kind: "Queue", namespace: "", name: "root" };
    const store = kubernetesCheckpoints(transport);
    const told = { reason: "NamespaceMissing", message: /of Queue root .* kubectl create namespace rekindle$/ };
    await assert.rejects(store.save(queue, record(1), undefined), told);
    await assert.rejects(store.save(key, record(1), undefined), { reason: "NotFound" });
  });

  const bound = 253;
  const names: Record<string, { kind: string; name: string; expected?: string }> = {
    plain: { kind: "SparkApplication", name: "pi.v1-a", expected: "sparkapplication.pi.v1-a" },
    "as long as can be": { kind: "Job", name: "x".repeat(249), expected: `job.${"x".repeat(249)}` },
    "one too long": { kind: "Job", name: "x".repeat(250) },
    "with capitals": { kind: "Gang", name: "Cluster_1" },
    "of nothing but signs": { kind: "", name: "of punctuation only" },
  };
  for (const [what, { kind, name, expected }] of Object.entries(names)) {
    it(`has a name that the API server accepts: ${what}`, () => {
      const got = checkpointName(kind, name);
      assert.match(got, /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);
      assert.ok(got.length <= bound);
      if (expected !== undefined) assert.equal(got, expected);
    });
  }
});

describe("an edited record", () => {
  const path = "/apis/rekindle.dev/v1alpha1/namespaces/team-a/checkpoints/sparkapplication.pi";
  const edits: Record<string, { patch: object; edited: boolean | undefined }> = {
    "in its memory": { patch: { spec: { memory: { attempt: 7 } } }, edited: true },
    "by adding a field": { patch: { spec: { more: 1 } }, edited: true },
    "by removing a field": { patch: { spec: { memory: null } }, edited: true },
    "in its labels only": { patch: { metadata: { labels: { team: "x" } } }, edited: undefined },
    "as an earlier version saves it, without a seal": {
      patch: { metadata: { annotations: { "rekindle.dev/seal": null } }, spec: { memory: { attempt: 7 } } },
      edited: undefined,
    },
  };
  for (const [what, { patch, edited }] of Object.entries(edits)) {
    it(`is marked as edited if it changed after its save: ${what}`, async () => {
      const transport = serve();
      const store = kubernetesCheckpoints(transport);
      await store.save(key, record(1, { wakeAt: 5, runs: [] }), undefined);
      assert.equal((await store.load(key))?.edited, undefined);
      const headers = { "content-type": "application/merge-patch+json" };
      await transport.send({ method: "PATCH", path, headers, body: JSON.stringify(patch), timeoutMs: 1_000 });
      assert.equal((await store.load(key))?.edited, edited);
    });
  }
});

describe("a save", () => {
  it("is answered with the version of the record, and not with the record", async () => {
    const transport = serve();
    const bodies: string[] = [];
    const heard: Transport = {
      ...transport,
      send: async (request) => {
        const answer = await transport.send(request);
        bodies.push(answer.body);
        return answer;
      },
    };
    const store = kubernetesCheckpoints(heard);
    const version = await store.save(key, record(1), undefined);
    assert.notEqual(version, "raced");
    await store.save(key, record(2), version);
    assert.equal(await store.save(key, record(2), version), "raced");
    const [created, updated] = bodies.map((body) => JSON.parse(body));
    for (const { kind, spec } of [created, updated])
      assert.deepEqual([kind, spec], ["PartialObjectMetadata", undefined]);
    assert.deepEqual((await store.load(key))?.record, record(2));
  });
});

describe("an error of the API server", () => {
  it("is never read as a missing record or a lost race", async () => {
    const away = kubernetesCheckpoints(scripted({ status: 404, body: "404 page not found" }));
    const error = { status: 404, message: /is its CRD installed/ };
    await assert.rejects(away.load(key), error);
    await assert.rejects(away.save(key, record(1), undefined), error);
    await assert.rejects(away.save(key, record(1), "u/1"), error);
    await assert.rejects(away.remove(key, "u/1"), error);
    const troubled = kubernetesCheckpoints(scripted(refusal(500, "InternalError")));
    await assert.rejects(troubled.save(key, record(1), undefined), { status: 500 });
  });

  it("about a missing namespace is thrown with the server's message", async () => {
    const homeless = kubernetesCheckpoints(
      scripted(refusal(404, "NotFound", "team-a", 'namespaces "team-a" not found')),
    );
    await assert.rejects(homeless.save(key, record(1), undefined), {
      status: 404,
      message: /namespaces "team-a" not found/,
    });
  });

  it("does not follow from an emptied record, which is loaded as undefined with its version", async () => {
    const emptied = kubernetesCheckpoints(scripted({ body: pod("sparkapplication.pi", "u", "3") }));
    assert.deepEqual(await emptied.load(key), { record: undefined, version: "u/3" });
  });
});
