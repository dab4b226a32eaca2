/** `rekindle status` of an object that no host looks after, beside another controller and beside a forged one. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { request } from "../../../shared/adapters/kubernetes/requests.ts";
import { deploymentOf } from "../../support/beside.ts";
import { application, make, openTerminal } from "../cli/terminal.ts";
import { checkpoint, running, start } from "./objects.ts";

type Fields = Readonly<Record<string, unknown>>;

describe("rekindle status beside another controller", () => {
  const looksLikeOperator = async (namespace: string, record?: Fields): Promise<string> => {
    const terminal = openTerminal();
    const forged = deploymentOf("ghcr.io/kubeflow/spark-operator/controller:2.4.0", namespace);
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments`;
    await request(terminal.simulator.transport, "POST", path, forged);
    await make(
      terminal.simulator,
      application("app", record && running),
      ...(record === undefined ? [] : [checkpoint("app", record)]),
    );
    return (await terminal.run("status", "app")).out;
  };
  const late = { waitsFor: "the driver to finish", wakeAt: start - 3_600_000 };

  for (const record of [undefined, late]) {
    test(`name another controller at work, beside ${record === undefined ? "no record" : "a late one"}`, async () => {
      const out = await looksLikeOperator("kube-system", record);
      assert.match(out, /^do {9}standby: kubeflow spark-operator runs as the deployment kube-system\/controllers/m);
      assert.match(out, /rekindle migrate/);
      assert.doesNotMatch(out, /no host is running|is a host running/);
    });

    test(`ignore one that a tenant forged, beside ${record === undefined ? "no record" : "a late one"}`, async () => {
      const out = await looksLikeOperator("default", record);
      assert.doesNotMatch(out, /standby/);
      assert.match(out, /no host is running|is a host running/);
    });
  }

  test("ask for no other controller where a record is in time", async () => {
    const out = await looksLikeOperator("kube-system", { ...late, wakeAt: start + 90_000 });
    assert.doesNotMatch(out, /standby/);
    assert.match(out, /^waits for {2}the driver to finish$/m);
  });
});
