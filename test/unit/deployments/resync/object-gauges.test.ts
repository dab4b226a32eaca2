/** The count of objects: page by page, and each kind whole or not at all. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { request } from "../../../../shared/adapters/kubernetes/requests.ts";
import type { Transport } from "../../../../shared/core/http.ts";
import { censusOf } from "../../../../shared/deployments/resync/gauges.ts";
import { openSimulator } from "../../../../shared/simulator/open.ts";
import { crds } from "../../../support/crds.ts";

const scheduling = "/apis/scheduling.volcano.sh/v1beta1";
const namespaceScope = { watched: ["default", "other"], within: async () => () => true };

/** Opens a cluster with one PodGroup; lists of groups in the namespace `other` are answered with `status`. */
const open = async (status?: number) => {
  const { transport } = openSimulator({ crds });
  await request(transport, "POST", `${scheduling}/namespaces/default/podgroups`, {
    ...{ apiVersion: "scheduling.volcano.sh/v1beta1", kind: "PodGroup", metadata: { name: "one" } },
    ...{ spec: { queue: "research" }, status: { phase: "Inqueue" } },
  });
  const asked: string[] = [];
  const send: Transport["send"] = async (sent) => {
    asked.push(sent.path);
    return status !== undefined && sent.path.includes("/other/podgroups")
      ? { status, headers: {}, body: "{}" }
      : transport.send(sent);
  };
  return { transport: { ...transport, send }, asked };
};

const inqueue = "volcano_queue_pod_group_inqueue_count";

describe("the count of objects", () => {
  const rows = [
    { name: "includes the objects of all namespaces", status: undefined, counted: 1 },
    { name: "includes no objects of a namespace in which the kind is forbidden", status: 403, counted: 1 },
    { name: "omits a kind whose list fails in one namespace", status: 400, counted: 0 },
  ];
  for (const { name, status, counted } of rows) {
    test(name, async () => {
      const { transport } = await open(status);
      const samples = await censusOf({ transport, namespaceScope, now: () => 0 });
      assert.equal(samples.filter((one) => one.name === inqueue).length, counted);
      assert.ok(samples.some((one) => one.name === "rekindle_updates_waiting"));
    });
  }

  test("reads every kind in pages", async () => {
    const { transport, asked } = await open();
    await censusOf({ transport, namespaceScope, now: () => 0 });
    assert.ok(asked.length > 4, `${asked.length} requests`);
    assert.deepEqual(
      asked.filter((path) => !path.includes("limit=")),
      [],
    );
  });
});
