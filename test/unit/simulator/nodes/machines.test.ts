/** Nodes that stop reporting, come back, or are removed. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { itemsAt, textAt } from "../../../../shared/simulator/storage/json.ts";
import { condition, exitOf, merge, open, podsPath, type Stand, sleeper, submit } from "../stand.ts";

const onOneNode = (options: Parameters<typeof open>[0] = {}): Stand => {
  const stand = open({ nodes: [{ name: "n" }], ...options });
  stand.call("POST", podsPath, sleeper("p"));
  stand.pass(1000);
  return stand;
};

const node = ({ simulator }: Stand) => simulator.store.get("nodes", "n");

test("a silent node is NotReady after its grace period, and so are its pods", () => {
  const stand = onOneNode();
  stand.simulator.nodes.freeze("n");
  stand.pass(49_000);
  assert.equal(condition(node(stand), "Ready"), "True");
  stand.pass(2000);
  assert.equal(condition(node(stand), "Ready"), "Unknown");
  assert.deepEqual(
    itemsAt(node(stand), "spec", "taints").map((taint) => textAt(taint, "effect")),
    ["NoSchedule", "NoExecute"],
  );
  assert.equal(condition(stand.pod("p"), "Ready"), "False");
  assert.deepEqual(stand.pods(), ["p Running"]);
});

test("after the toleration its pods are deleted, but stay until the node answers", () => {
  const stand = onOneNode();
  stand.simulator.nodes.freeze("n");
  stand.pass(400_000);
  assert.notEqual(stand.pod("p")?.metadata.deletionTimestamp, undefined);
  assert.deepEqual(stand.pods(), ["p Running"]);
  stand.simulator.nodes.thaw("n");
  stand.pass(1000);
  assert.deepEqual(stand.pods(), []);
  assert.equal(condition(node(stand), "Ready"), "True");
});

test("a node that comes back in time keeps its pods", () => {
  const stand = onOneNode();
  stand.simulator.nodes.freeze("n");
  stand.pass(60_000);
  stand.simulator.nodes.thaw("n");
  stand.pass(400_000);
  assert.deepEqual(stand.pods(), ["p Running"]);
});

test("a silent machine's pending work happens when it continues", () => {
  const stand = open({ nodes: [{ name: "n" }] });
  submit(stand);
  stand.pass(2000);
  stand.simulator.nodes.freeze("n");
  stand.pass(30_000);
  assert.deepEqual(stand.pods(), ["pi-driver Running"]);
  stand.simulator.nodes.thaw("n");
  stand.pass(30_000);
  assert.equal(exitOf(stand.pod("pi-driver")), 0);
});

test("the pods of a removed node fail and are removed", () => {
  const stand = onOneNode();
  const seen: string[] = [];
  stand.simulator.subscribe(({ type, table, object }) => {
    if (table === "pods") seen.push(`${type} ${textAt(object, "status", "phase")}`);
  });
  stand.simulator.nodes.remove("n");
  stand.pass(39_000);
  assert.deepEqual(stand.pods(), ["p Running"]);
  stand.pass(2000);
  assert.deepEqual(stand.pods(), []);
  assert.deepEqual(seen, ["MODIFIED Failed", "MODIFIED Failed", "DELETED Failed"]);
});

test("the out-of-service taint frees terminating pods at once", () => {
  const stand = onOneNode();
  stand.simulator.nodes.freeze("n");
  stand.call("DELETE", `${podsPath}/p`);
  stand.pass(60_000);
  assert.deepEqual(stand.pods(), ["p Running"]);
  const taints = [{ key: "node.kubernetes.io/out-of-service", value: "nodeshutdown", effect: "NoExecute" }];
  stand.call("PATCH", "/api/v1/nodes/n", { spec: { taints } }, merge);
  assert.deepEqual(stand.pods(), []);
});
