/**
 * The queues root and default exist from the start, where Volcano's kinds are served and no other controller creates
 * them.
 */
import assert from "node:assert/strict";
import { describe } from "node:test";
import { lookoutFor } from "../../../shared/deployments/common/standby.ts";
import { crds } from "../../support/crds.ts";
import { home } from "./objects.ts";
import { itOnStand, type Stand } from "./stand.ts";

const queues = (stand: Stand): readonly string[] =>
  stand
    .all("Queue")
    .map(({ metadata }) => metadata.name)
    .sort();

const warnings = (stand: Stand): readonly string[] =>
  stand.lines.filter(({ level }) => level === "warn" || level === "error").map(({ message }) => message);

const it = itOnStand();

describe("the queues root and default", () => {
  it("are created open at the start, before any job, and later nothing is written", async (stand) => {
    await stand.create(home);
    await stand.host();
    await stand.until("both are there", () => queues(stand).length === 2, 5_000);
    assert.deepEqual(queues(stand), ["default", "root"]);
    await stand.turn(30_000);
    for (const name of queues(stand))
      assert.match(JSON.stringify(stand.get("Queue", name, "")?.["status"]), /"state":"Open"/);
    const before = stand.writes().length;
    await stand.pass(1);
    assert.deepEqual(stand.writes().slice(before), []);
    assert.deepEqual(warnings(stand), []);
  });

  it("are created again within a resync after a deletion", async (stand) => {
    await stand.create(home);
    await stand.host();
    await stand.until("both are there", () => queues(stand).length === 2, 5_000);
    await stand.turn(30_000);
    await stand.remove("Queue", "default", "");
    await stand.until("it is there again", () => queues(stand).length === 2, 301_000);
  });

  itOnStand({ crds: crds.filter(({ metadata }) => !metadata.name.endsWith("volcano.sh")) })(
    "are created at the next resync after Volcano's kinds are installed",
    async (stand) => {
      await stand.create(home);
      await stand.host();
      await stand.turn(60_000);
      for (const crd of crds.filter(({ metadata }) => metadata.name.endsWith("volcano.sh"))) await stand.create(crd);
      await stand.until("both are there", () => queues(stand).length === 2, 301_000);
    },
  );

  const namespaces = ["default"];
  const rows = [
    { name: "a host of some namespaces only", own: { namespaces } },
    { name: "a host in shadow mode", own: { shadow: () => {} } },
    { name: "a host of Spark's family alone", own: { families: ["spark"] } },
  ] as const;
  for (const { name, own } of rows)
    it(`are not created by ${name}`, async (stand) => {
      await stand.create(home);
      await stand.host(own);
      await stand.turn(400_000);
      assert.deepEqual([queues(stand), stand.writes()], [[], []]);
    });

  it("are not created without the namespace of their records, and are created with it", async (stand) => {
    await stand.host();
    await stand.turn(400_000);
    assert.deepEqual([queues(stand), stand.writes(), warnings(stand)], [[], [], []]);
    await stand.create(home);
    await stand.until("both are there", () => queues(stand).length === 2, 301_000);
  });

  it("are left to Volcano's controllers while these lead, and created afterwards", async (stand) => {
    await stand.create(home);
    const renewTime = new Date(stand.simulator.clock.now() + 60_000).toISOString().replace("Z", "000Z");
    await stand.create({
      ...{ apiVersion: "coordination.k8s.io/v1", kind: "Lease" },
      metadata: { name: "vc-controller-manager", namespace: "kube-system" },
      spec: { holderIdentity: "volcano-controllers-0", leaseDurationSeconds: 15, renewTime },
    });
    const chosen = { takeOver: false, coexist: false, dryRun: false };
    const scope = { ...chosen, leases: [], controllerNamespaces: ["kube-system"] };
    await stand.host({ lookout: lookoutFor(stand.simulator.transport, scope, () => {}) });
    await stand.turn(60_000);
    assert.deepEqual(stand.writes(), []);
    await stand.until("both are there", () => queues(stand).length === 2, 60_000);
  });
});
