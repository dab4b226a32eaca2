/** Standby: while another controller leads, the host writes nothing for its kinds. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { request } from "../../../shared/adapters/kubernetes/requests.ts";
import { lookoutFor } from "../../../shared/deployments/common/standby.ts";
import { openWriters } from "../../../shared/forward/controller-detection.ts";
import { deploymentOf, queueObject, writeStatus } from "../../support/beside.ts";
import { application, home, stateOf } from "./objects.ts";
import { onStand, type Stand } from "./stand.ts";

const state = (stand: Stand, name: string): string => stateOf(stand.get("SparkApplication", name));

const micros = (ms: number): string => new Date(ms).toISOString().replace("Z", "000Z");

const lease = (stand: Stand, name = "spark-operator-controller-lock") => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name, namespace: "default" },
  spec: { holderIdentity: "operator-1", leaseDurationSeconds: 15, renewTime: micros(stand.simulator.clock.now()) },
});

const renew = (stand: Stand, name?: string): Promise<void> =>
  stand.patch("Lease", name ?? "spark-operator-controller-lock", {
    spec: { holderIdentity: "operator-1", renewTime: micros(stand.simulator.clock.now()) },
  });

const configuration = {
  ...{ namespaces: [], selector: "", takeOver: false, coexist: false, dryRun: false },
  leases: ["spark-operator-lock", "mine"],
};

const hostOn = (stand: Stand, more: Partial<typeof configuration> = {}) =>
  stand.host({ lookout: lookoutFor(stand.simulator.transport, { ...configuration, ...more }, () => {}) });

/** Renews the lease for `ms`, as a leader does. */
const lead = async (stand: Stand, ms: number, name?: string): Promise<void> => {
  for (let left = ms; left > 0; left -= 2_000) {
    await renew(stand, name);
    await stand.turn(2_000);
  }
};

const asides = (stand: Stand): readonly string[] =>
  stand.lines
    .filter(({ level }) => level !== "debug")
    .flatMap(({ message }) => (/^standby: |taking over/.test(message) ? [message.split(";")[0] ?? ""] : []));

describe("a host beside a leader", () => {
  it(
    "writes nothing while the lease is renewed, and takes over when it expires",
    onStand(async (stand) => {
      await stand.create(lease(stand));
      await stand.create(application("before"));
      await hostOn(stand);
      await stand.create(application("after"));
      await lead(stand, 120_000);
      assert.deepEqual([stand.writes(), state(stand, "before"), state(stand, "after")], [[], "", ""]);
      await stand.until("both are done", () => ["before", "after"].every((name) => state(stand, name) === "COMPLETED"));
      const told = [
        "standby: kubeflow spark-operator holds the lease default/spark-operator-controller-lock",
        "kubeflow spark-operator no longer leads: taking over its kinds",
      ];
      assert.deepEqual(asides(stand), told);
      await lead(stand, 20_000);
      await stand.turn(40_000);
      assert.deepEqual(asides(stand), [...told, ...told], "each time is told");
    }),
  );

  it(
    "stands aside within ten seconds when a leader appears, and continues after it",
    onStand(async (stand) => {
      await hostOn(stand);
      await stand.create(application("first"));
      await stand.until("it is done", () => state(stand, "first") === "COMPLETED");
      await stand.turn(20_000);
      await stand.create(lease(stand));
      await lead(stand, 10_000);
      const before = stand.writes().length;
      await stand.create(application("second"));
      await stand.patch("SparkApplication", "first", { spec: { arguments: ["2"] } });
      await lead(stand, 400_000);
      assert.deepEqual(
        [stand.writes().slice(before), state(stand, "first"), state(stand, "second")],
        [[], "COMPLETED", ""],
      );
      await stand.patch("Lease", "spark-operator-controller-lock", { spec: { holderIdentity: "" } });
      await stand.until("both are done", () => state(stand, "second") === "COMPLETED");
      await stand.until(
        "the changed one ran again",
        () => stand.all("Event").filter(({ metadata }) => metadata.name.startsWith("first")).length > 4,
      );
    }),
  );

  const deployments = "/apis/apps/v1/namespaces/default/deployments";
  const running = [
    {
      by: "its Deployment",
      begin: (stand: Stand) =>
        request(
          stand.simulator.transport,
          "POST",
          deployments,
          deploymentOf("volcanosh/vc-controller-manager:v1.12.1"),
        ),
      end: (stand: Stand) => request(stand.simulator.transport, "DELETE", `${deployments}/controllers`),
      withinMs: 30_000,
    },
    {
      by: "its writes, and nothing else",
      begin: (stand: Stand) => writeStatus(stand.simulator.transport, "vc-controller-manager/v1"),
      end: async () => {},
      withinMs: 5_000,
    },
  ] as const;
  for (const { by, begin, end, withinMs } of running)
    it(
      `stands aside while a controller without a lease runs, detected by ${by}, and continues after it`,
      onStand(
        async (stand) => {
          await stand.create(home);
          const writers = openWriters();
          const { transport } = stand.simulator;
          await stand.host({ lookout: lookoutFor(transport, configuration, () => {}, writers), see: writers.see });
          await stand.create(queueObject);
          await stand.turn(70_000);
          await begin(stand);
          await stand.until("it stands aside", () => asides(stand).length > 0, withinMs + 1_000);
          assert.match(asides(stand).join(), /^standby: (Volcano|vc-controller-manager) /);
          await stand.turn(1_000);
          const before = stand.writes().length;
          await stand.create({ ...queueObject, metadata: { name: "later" } });
          await stand.create(application("app"));
          await stand.turn(20_000);
          const volcanos = stand
            .writes()
            .slice(before)
            .filter((line) => line.includes("volcano.sh"));
          assert.deepEqual([volcanos, state(stand, "app")], [[], "COMPLETED"]);
          await end(stand);
          await stand.until("it goes on", () => asides(stand).length > 1, 70_000);
          const opened = (): boolean => JSON.stringify(stand.get("Queue", "later", "")).includes('"state":"Open"');
          await stand.until("the queue is looked after", opened, 20_000);
        },
        { managedFields: true },
      ),
    );

  it(
    "stands aside for the configured leases, and no others",
    onStand(async (stand) => {
      await stand.create(lease(stand, "somebody-elses"));
      await stand.create(lease(stand, "mine"));
      await hostOn(stand);
      await stand.create(application("app"));
      await lead(stand, 30_000, "mine");
      assert.equal(state(stand, "app"), "");
      await lead(stand, 120_000, "somebody-elses");
      assert.equal(state(stand, "app"), "COMPLETED");
    }),
  );

  for (const flag of ["takeOver", "coexist"]) {
    it(
      `does not stand aside with ${flag}`,
      onStand(async (stand) => {
        await stand.create(lease(stand));
        await hostOn(stand, { [flag]: true });
        await stand.create(application("app"));
        await lead(stand, 60_000);
        assert.equal(state(stand, "app"), "COMPLETED");
      }),
    );
  }

  it(
    "keeps its state if it cannot read the leases, beside a leader or without one",
    onStand(async (stand) => {
      let failing = false;
      const { transport } = stand.simulator;
      const lookout = lookoutFor(
        { ...transport, send: (ask) => (failing ? Promise.reject(new Error("away")) : transport.send(ask)) },
        configuration,
        () => {},
      );
      await stand.host({ lookout });
      failing = true;
      await stand.create(lease(stand));
      await stand.create(application("app"));
      await lead(stand, 60_000);
      assert.equal(state(stand, "app"), "COMPLETED");
      failing = false;
      await lead(stand, 10_000);
      failing = true;
      await stand.create(application("next"));
      await stand.turn(120_000);
      assert.equal(state(stand, "next"), "");
    }),
  );

  it(
    "does not start before it could read the leases",
    onStand(async (stand) => {
      const lookout = () => Promise.reject(new Error("away"));
      await assert.rejects(stand.host({ lookout }), /away/);
      assert.deepEqual(stand.writes(), []);
    }),
  );
});
