/** Plugins together: their order, their notes, what they refuse and what they do not understand. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { misread, notesOf, objectsOf, onPod, refusedBy } from "../../../shared/volcano/plugins/all.ts";

const owner = { name: "train", namespace: "default", uid: "u1" };
const tasks = [
  { name: "master", replicas: 1 },
  { name: "worker", replicas: 2 },
];
const scope = { owner, tasks };
const draft = {
  metadata: {
    name: "train-worker-1",
    labels: { "volcano.sh/task-index": "1" },
    annotations: { "volcano.sh/task-spec": "worker" },
  },
  spec: { containers: [{ name: "main", image: "x" }] },
};

describe("plugins", () => {
  test("make the same pod in whatever order they are named", () => {
    const one = onPod(draft, scope, { pytorch: [], hcclrank: [], svc: [], ssh: [] });
    assert.deepEqual(one, onPod(draft, scope, { ssh: [], svc: [], hcclrank: [], pytorch: [] }));
    assert.equal(one.metadata.annotations?.["hccl/rankIndex"], "2");
  });

  test("are noted as upstream notes them", () => {
    assert.deepEqual(notesOf({ svc: [], hcclrank: [] }), { "plugin-svc": "svc" });
  });

  test("ray needs its head", () => {
    assert.match(refusedBy(scope, { ray: [] }) ?? "", /head task head/);
    assert.equal(refusedBy(scope, { ray: ["--head=master"] }), undefined);
  });

  test("tell the first flag that they do not understand", () => {
    assert.deepEqual(misread({ svc: ["--disable-network-policy", "--quick=yes"], mpi: ["--port=many"] }), [
      'spec.plugins.svc holds "--quick=yes", which is no flag of this plugin, or no value of it',
      'spec.plugins.mpi holds "--port=many", which is no flag of this plugin, or no value of it',
    ]);
  });

  test("a key pair that the job brings is not made anew", () => {
    const fresh = (args: readonly string[]): unknown => objectsOf(scope, { ssh: [...args] }).map((kept) => kept.fresh);
    assert.deepEqual(fresh([]), ["ssh-key"]);
    assert.deepEqual(fresh(["--ssh-private-key=a", "--ssh-public-key=b"]), [undefined]);
  });

  test("a worker waits for its master in our own words, and no longer than it is told", () => {
    const asked = ["--wait-master-enabled=true", "--wait-master-timeout=7"];
    const { initContainers } = onPod(draft, scope, { pytorch: asked }).spec;
    assert.match(JSON.stringify(initContainers), /\+ 7\).*train-master-0\.train 23456/);
  });
});
