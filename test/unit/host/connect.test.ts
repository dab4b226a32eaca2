/**
 * SparkConnect on a whole host: its server is created, reported, created again when it is lost, and deleted with the
 * object.
 */
import assert from "node:assert/strict";
import { describe } from "node:test";
import type { Stored } from "../../../shared/core/object.ts";
import { rekindle } from "./command.ts";
import { connect, statusOf } from "./objects.ts";
import { itOnStand, type Stand } from "./stand.ts";

const own = (stand: Stand): Stored | undefined => stand.get("SparkConnect", "sc");
const isReady = (stand: Stand) => (): boolean => statusOf(own(stand), "state") === "Ready";
const podUid = (stand: Stand): string | undefined => stand.get("Pod", "sc-server")?.metadata.uid;

const running = async (stand: Stand): Promise<void> => {
  await stand.host();
  await stand.create(connect("sc"));
  await stand.until("it is ready", isReady(stand), 20_000);
};

const it = itOnStand();

describe("a SparkConnect", () => {
  it("becomes ready, has its server's address in its status, and causes no further write", async (stand) => {
    await running(stand);
    const pod = stand.get("Pod", "sc-server");
    const { podIP } = Object(pod?.["status"]);
    assert.deepEqual(statusOf(own(stand), "server"), {
      podName: "sc-server",
      podIp: podIP,
      serviceName: "sc-server",
    });
    const before = stand.writes().length;
    await stand.pass(1);
    assert.deepEqual(stand.writes().slice(before), []);
  });

  const losses: readonly (readonly [what: string, lose: (stand: Stand) => void | Promise<void>])[] = [
    ["is deleted", (stand) => stand.remove("Pod", "sc-server")],
    ["is evicted", (stand) => stand.simulator.evictPod("default", "sc-server")],
  ];
  for (const [what, lose] of losses) {
    it(`whose server ${what} gets another one`, async (stand) => {
      await running(stand);
      const first = podUid(stand);
      await lose(stand);
      await stand.until("it is noticed", () => !isReady(stand)(), 40_000);
      await stand.until("it is ready again", isReady(stand), 60_000);
      assert.notEqual(podUid(stand), first);
    });
  }

  const kept: readonly (readonly [kind: string, name: string])[] = [
    ["ConfigMap", "sc-conf"],
    ["Service", "sc-server"],
  ];
  for (const [kind, name] of kept) {
    it(`whose ${kind} is deleted gets it again at once`, async (stand) => {
      await running(stand);
      await stand.remove(kind, name);
      await stand.until("it is there", () => stand.get(kind, name) !== undefined, 5_000);
    });
  }

  it("whose names are taken reports that, leaves their owner alone, and continues when they are free", async (stand) => {
    const mine = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "sc-conf", namespace: "default" } };
    await stand.create({ ...mine, data: { mine: "yes" } });
    await stand.host();
    await stand.create(connect("sc"));
    await stand.turn(150_000);
    assert.match(
      JSON.stringify(statusOf(own(stand), "conditions")),
      /configmaps default\/sc-conf exists and belongs to/,
    );
    assert.deepEqual([podUid(stand), stand.get("ConfigMap", "sc-conf")?.["data"]], [undefined, { mine: "yes" }]);
    await stand.remove("ConfigMap", "sc-conf");
    await stand.until("it is ready", isReady(stand), 90_000);
  });

  it("that is cleaned up ends its server, reports that, and starts again when its spec changes", async (stand) => {
    await running(stand);
    const told = await rekindle(stand, "recover", "sparkconnect/default/sc", "--mode", "cleanup", "--yes");
    assert.match(told, /0 refused, 0 not settled/);
    await stand.turn(60_000);
    assert.deepEqual([podUid(stand), statusOf(own(stand), "state")], [undefined, "NotReady"]);
    assert.match(JSON.stringify(statusOf(own(stand), "conditions")), /rekindle recover --mode cleanup/);
    assert.ok(stand.all("Event").some(({ reason }) => reason === "RekindleCleanedUp"));
    await stand.patch("SparkConnect", "sc", { spec: { executor: { instances: 2 } } });
    await stand.until("it is ready", isReady(stand), 90_000);
  });

  it("that is deleted leaves no object", async (stand) => {
    await running(stand);
    await stand.remove("SparkConnect", "sc");
    await stand.pass(0.2);
    const left = ["Pod", "Service", "Checkpoint"].flatMap((kind) => stand.all(kind));
    assert.deepEqual(
      left.filter(({ metadata }) => metadata.name !== "kubernetes"),
      [],
    );
    assert.equal(stand.get("ConfigMap", "sc-conf"), undefined);
  });
});
