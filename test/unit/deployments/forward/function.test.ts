/**
 * The forward function with real parts on the simulated cluster: cursors beside the checkpoints, and keys of objects
 * that vanished.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { kubernetesCheckpoints } from "../../../../shared/adapters/checkpoints/kubernetes.ts";
import { openCluster } from "../../../../shared/adapters/kubernetes/cluster.ts";
import { request } from "../../../../shared/adapters/kubernetes/requests.ts";
import type { Message } from "../../../../shared/core/key.ts";
import { operatorsFor } from "../../../../shared/deployments/common/operators.ts";
import { readClusterUid } from "../../../../shared/deployments/common/step-dependencies.ts";
import { type ForwardParts, lookMsOf, windowsOver } from "../../../../shared/deployments/forward/function.ts";
import { timing } from "../../../../shared/engine/settings.ts";
import { openCursors } from "../../../../shared/forward/cursors.ts";
import { openSimulator } from "../../../../shared/simulator/open.ts";
import { crds } from "../../../support/crds.ts";

const applications = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/default/sparkapplications";
const raised = AbortSignal.abort();

const application = (name: string) => ({
  apiVersion: "sparkoperator.k8s.io/v1beta2",
  kind: "SparkApplication",
  metadata: { name, namespace: "default" },
  spec: { type: "Scala", sparkVersion: "4.1.1", mainApplicationFile: "local:///a.jar", driver: {}, executor: {} },
});

const cursorsOf = async ({ transport, records, report }: Omit<ForwardParts, "cursors">) => {
  const clusterUid = await readClusterUid(openCluster(transport));
  return openCursors({ checkpoints: records.checkpoints, clusterUid, report });
};

const open = async () => {
  const simulator = openSimulator({ crds });
  const { transport } = simulator;
  await request(transport, "POST", "/api/v1/namespaces", { metadata: { name: "rekindle" } });
  const sent: Message[] = [];
  const lines: string[] = [];
  const parts = {
    ...{ transport, cluster: "c1", namespaces: [], selector: undefined },
    records: { checkpoints: kubernetesCheckpoints(transport) },
    operators: operatorsFor(timing),
    report: (level: string, message: string): void => void lines.push(`${level} ${message}`),
    send: async (message: Message): Promise<void> => void sent.push(message),
  };
  /** Runs a window of a new instance until `enough` is true. */
  const run = async (enough: () => boolean = () => true) => {
    const windows = windowsOver({ ...parts, cursors: await cursorsOf(parts) });
    const stop = new AbortController();
    const ran = windows.run(60_000, stop.signal);
    const late = Date.now() + 5_000;
    for (let turn = 0; turn < 60 || !(enough() || Date.now() > late); turn += 1)
      await new Promise((resolve) => setImmediate(resolve));
    stop.abort();
    return ran;
  };
  return { simulator, transport, sent, lines, run };
};

describe("the forward function", () => {
  test("stores its cursors as checkpoints in its own namespace", async () => {
    const { transport, run } = await open();
    // The watch of Kueue's Workloads, which this cluster does not serve, has no cursor.
    assert.deepEqual(await run(), { sent: true, resumed: 0, loops: 21 });
    const list = await request(transport, "GET", "/apis/rekindle.dev/v1alpha1/namespaces/rekindle/checkpoints");
    const names = JSON.stringify(list).match(/"name":"cursor\.[^"]+"/g) ?? [];
    assert.equal(new Set(names).size, 20, names.join(" "));
    assert.equal((await run()).resumed, 20);
  });

  test("looks first for as long as its schedule says, if it says so, and refuses what is no duration", () => {
    const rows = [
      [{ look: "500ms" }, 500],
      [{ look: "2s" }, 2_000],
      [{ id: "x" }, 0],
      [undefined, 0],
    ] as const;
    assert.deepEqual(
      rows.map(([event]) => lookMsOf(event)),
      rows.map(([, ms]) => ms),
    );
    for (const look of ["soon", "61s"]) assert.throws(() => lookMsOf({ look }), /a duration up to 60s such as 500ms/);
  });

  test("sends the keys of applications that were deleted while its cursor expired", async () => {
    const { simulator, transport, sent, run } = await open();
    await run();
    const store = kubernetesCheckpoints(transport);
    const key = { cluster: "c1", kind: "SparkApplication", namespace: "default", name: "gone" };
    await store.save(key, { schema: 1, cluster: "u", uid: "old", saves: 1, memory: {} }, undefined);
    await request(transport, "POST", applications, application("here"));
    simulator.store.compact(simulator.store.revision());
    sent.length = 0;
    await run(() => sent.length >= 2);
    assert.deepEqual(sent.map(({ name, reason }) => [name, reason]).sort(), [
      ["gone", "vanished"],
      ["here", "SparkApplication here new"],
    ]);
  });

  test("logs in one line that its cursors have no namespace, and forwards nevertheless", async () => {
    const { transport, lines, sent, run } = await open();
    await request(transport, "DELETE", "/api/v1/namespaces/rekindle");
    await request(transport, "POST", applications, application("pi"));
    assert.equal((await run()).sent, true);
    assert.deepEqual(
      sent.map(({ name }) => name),
      ["pi"],
    );
    assert.ok(
      lines.some((line) => line.startsWith("warn cannot save the cursor")),
      lines.join("\n"),
    );
  });

  test("ends its window at once if the signal is already raised", async () => {
    const { transport } = await open();
    const parts = {
      ...{ transport, cluster: "c1", namespaces: [], selector: undefined },
      records: { checkpoints: kubernetesCheckpoints(transport) },
      operators: operatorsFor(timing),
      report: () => {},
      send: async () => {},
    };
    const windows = windowsOver({ ...parts, cursors: await cursorsOf(parts) });
    assert.deepEqual(await windows.run(1_000, raised), { sent: true, resumed: 0, loops: 21 });
  });
});
