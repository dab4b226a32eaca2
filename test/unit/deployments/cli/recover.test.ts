/**
 * `rekindle recover` where another controller leads: as a host does, it writes nothing; and with a server in trouble.
 */
import assert from "node:assert/strict";
import { describe } from "node:test";
import type { Transport } from "../../../../shared/core/http.ts";
import { recoverKey } from "../../../../shared/deployments/cli/recover.ts";
import { rekindle } from "../../host/command.ts";
import { application, stateOf } from "../../host/objects.ts";
import { itOnStand, type Stand } from "../../host/stand.ts";
import { answer } from "../../host/way.ts";

const micros = (ms: number): string => new Date(ms).toISOString().replace("Z", "000Z");

const leads = (stand: Stand, name: string): Promise<void> =>
  stand.create({
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name, namespace: "kube-system" },
    spec: { holderIdentity: "operator-1", leaseDurationSeconds: 15, renewTime: micros(stand.simulator.clock.now()) },
  });

/** Leaves a running driver without its record and without a host. */
const abandoned = async (stand: Stand): Promise<void> => {
  const host = await stand.host();
  await stand.create(application("app"));
  await stand.until("RUNNING", () => stateOf(stand.get("SparkApplication", "app")) === "RUNNING");
  await host.drain(1_000);
  await stand.remove("Checkpoint", "sparkapplication.app");
};

const written = (stand: Stand, before: number): readonly string[] => stand.writes().slice(before);

const scripts = { scripts: { app: [{ hangs: true }] } };

const it = itOnStand(scripts);

describe("rekindle recover beside the leader of a kind", () => {
  it("writes nothing for that kind, and names the leader", async (stand) => {
    await abandoned(stand);
    await leads(stand, "spark-operator-lock");
    const before = stand.writes().length;
    const told = await rekindle(stand, "recover", "default/app", "--mode", "cleanup", "--yes");
    assert.match(told, /kubeflow spark-operator holds the lease kube-system\/spark-operator-lock.*--coexist/);
    assert.match(told, /1 checked, 1 refused/);
    assert.deepEqual(written(stand, before), []);
    const looked = await rekindle(stand, "recover", "default/app", "--dry-run");
    assert.match(looked, /wrong +kubeflow spark-operator holds the lease/);
    assert.deepEqual(written(stand, before), []);
  });

  it("recovers with --coexist, and recovers beside the leader of another kind", async (stand) => {
    await abandoned(stand);
    await leads(stand, "spark-operator-lock");
    assert.match(await rekindle(stand, "recover", "default/app", "--coexist"), /0 refused/);
    await stand.remove("Checkpoint", "sparkapplication.app");
    await stand.remove("Lease", "spark-operator-lock", "kube-system");
    await leads(stand, "vc-controller-manager");
    assert.match(await rekindle(stand, "recover", "default/app"), /0 refused/);
    assert.notEqual(stand.get("Checkpoint", "sparkapplication.app"), undefined);
  });
});

const app = { cluster: "default", kind: "SparkApplication", namespace: "default", name: "app" };
const how = {
  ...({ strict: true, mode: "reconnect", fresh: false, reconfigure: false, coexist: false } as const),
  ...{ graceSeconds: 30, waitMs: 0, dryRun: false },
};

/** Returns a transport on which the first `times` Events meet a busy server. */
const busy = (transport: Transport, times: number): Transport => {
  let left = times;
  return {
    ...transport,
    send: async (asked) => {
      if (asked.method !== "POST" || !asked.path.includes("/events") || left <= 0) return await transport.send(asked);
      left -= 1;
      return answer(503, "ServiceUnavailable", "busy");
    },
  };
};

const toldOf = (stand: Stand): number =>
  stand.all("Event").filter((event) => event["reason"] === "RekindleRecovering").length;

describe("the Event of a recovery by rekindle recover", () => {
  const rows = [
    { why: "is tried again after trouble, and is recorded once", times: 1, told: 1 },
    { why: "is given up after lasting trouble, and the recovery continues", times: 99, told: 0 },
  ];
  for (const { why, times, told } of rows)
    it(why, async (stand) => {
      await abandoned(stand);
      const { transport } = stand.simulator;
      const { refused } = await recoverKey({ transport: busy(transport, times) }, app, how, (ms) => stand.turn(ms));
      assert.deepEqual([refused, toldOf(stand)], [undefined, told]);
      assert.notEqual(stand.get("Checkpoint", "sparkapplication.app"), undefined);
    });
});
