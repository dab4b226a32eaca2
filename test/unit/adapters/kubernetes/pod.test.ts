/** The flat record of a pod's service account, from the files that Kubernetes mounts. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { podRecord } from "../../../../shared/adapters/kubernetes/pod.ts";

const env = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "6443" };

describe("the record of a pod's service account", () => {
  test("has server, authority and the current token", async () => {
    const folder = mkdtempSync(join(tmpdir(), "rekindle-pod-"));
    try {
      writeFileSync(join(folder, "ca.crt"), "PEM");
      for (const token of ["first", "second"]) {
        writeFileSync(join(folder, "token"), `${token}\n`);
        const record: unknown = JSON.parse(await podRecord(env, folder));
        assert.deepEqual(record, { server: "https://[fd00::1]:6443", ca: "PEM", token });
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("cannot be read outside a pod or without a mounted account, and the error is one line", async () => {
    await assert.rejects(
      podRecord({}),
      /^Error: REKINDLE_CLUSTER_RECORD is in-cluster, and this process does not run in a pod$/,
    );
    await assert.rejects(podRecord(env, join(tmpdir(), "no-such-folder")), /^Error: the pod has no [^\n]*automount/);
  });
});
