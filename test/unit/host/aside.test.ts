/** Standby: while another controller leads, the host writes nothing for its kinds. */
import assert from "node:assert/strict";
import { describe } from "node:test";
import { request } from "../../../shared/adapters/kubernetes/requests.ts";
import { lookoutFor } from "../../../shared/deployments/common/standby.ts";
import {
  administrators,
  controllerPod,
  deploymentOf,
  grantedEverywhere,
  queueObject,
  writeStatus,
} from "../../support/beside.ts";
import { application, home, stateOf } from "./objects.ts";
import { itOnStand, type Stand } from "./stand.ts";

const state = (stand: Stand, name: string): string => stateOf(stand.get("SparkApplication", name));

const micros = (ms: number): string => new Date(ms).toISOString().replace("Z", "000Z");

const lease = (stand: Stand, name = "spark-operator-controller-lock") => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name, namespace: administrators },
  spec: { holderIdentity: "operator-1", leaseDurationSeconds: 15, renewTime: micros(stand.simulator.clock.now()) },
});

const patchLease = (stand: Stand, spec: object, name = "spark-operator-controller-lock"): Promise<void> =>
  stand.patch("Lease", name, { spec }, administrators);

const renew = (stand: Stand, name?: string): Promise<void> =>
  patchLease(stand, { holderIdentity: "operator-1", renewTime: micros(stand.simulator.clock.now()) }, name);

const configuration = {
  ...{ takeOver: false, coexist: false, dryRun: false, controllerNamespaces: [administrators] },
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

const it = itOnStand();

describe("a host beside a leader", () => {
  it("writes nothing while the lease is renewed, and takes over when it expires", async (stand) => {
    await stand.create(lease(stand));
    await stand.create(application("before"));
    await hostOn(stand);
    await stand.create(application("after"));
    await lead(stand, 120_000);
    assert.deepEqual([stand.writes(), state(stand, "before"), state(stand, "after")], [[], "", ""]);
    await stand.until("both are done", () => ["before", "after"].every((name) => state(stand, name) === "COMPLETED"));
    const told = [
      "standby: kubeflow spark-operator holds the lease kube-system/spark-operator-controller-lock",
      "kubeflow spark-operator no longer leads: taking over its kinds",
    ];
    assert.deepEqual(asides(stand), told);
    await lead(stand, 20_000);
    await stand.turn(40_000);
    assert.deepEqual(asides(stand), [...told, ...told], "each time is told");
  });

  it("stands aside within ten seconds when a leader appears, and continues after it", async (stand) => {
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
    await patchLease(stand, { holderIdentity: "" });
    await stand.until("both are done", () => state(stand, "second") === "COMPLETED");
    await stand.until(
      "the changed one ran again",
      () => stand.all("Event").filter(({ metadata }) => metadata.name.startsWith("first")).length > 4,
    );
  });

  const volcanos = "volcanosh/vc-controller-manager:v1.12.1";
  const deploymentsIn = (namespace: string): string => `/apis/apps/v1/namespaces/${namespace}/deployments`;
  const post = (stand: Stand, path: string, body: unknown) => request(stand.simulator.transport, "POST", path, body);

  /** Creates a Deployment of the controller in a tenant's namespace, whose account an administrator gave this right. */
  const deployedWith = async (stand: Stand, resource: string): Promise<void> => {
    for (const one of grantedEverywhere("batch.volcano.sh", resource, "default"))
      await post(stand, `/apis/rbac.authorization.k8s.io/v1/${one.kind.toLowerCase()}s`, one);
    await post(stand, deploymentsIn("default"), deploymentOf(volcanos, "default"));
  };

  const running = [
    {
      by: "its Deployment",
      namespace: administrators,
      begin: (stand: Stand) => post(stand, deploymentsIn(administrators), deploymentOf(volcanos)),
    },
    {
      by: "its Deployment in any namespace, whose account may write the status of jobs in all",
      namespace: "default",
      begin: (stand: Stand) => deployedWith(stand, "jobs/status"),
    },
  ] as const;
  for (const { by, begin, namespace } of running)
    it(`stands aside while a controller without a lease runs, detected by ${by}, and continues after it`, async (stand) => {
      await stand.create(home);
      await hostOn(stand);
      await stand.create(queueObject);
      await stand.turn(70_000);
      await begin(stand);
      await stand.until("it stands aside", () => asides(stand).length > 0, 31_000);
      assert.match(asides(stand).join(), /^standby: Volcano runs as the deployment/);
      await stand.turn(1_000);
      const before = stand.writes().length;
      await stand.create({ ...queueObject, metadata: { name: "later" } });
      await stand.create(application("app"));
      await stand.turn(20_000);
      const written = stand
        .writes()
        .slice(before)
        .filter((line) => line.includes("volcano.sh"));
      assert.deepEqual([written, state(stand, "app")], [[], "COMPLETED"]);
      await request(stand.simulator.transport, "DELETE", `${deploymentsIn(namespace)}/controllers`);
      await stand.until("it goes on", () => asides(stand).length > 1, 70_000);
      const opened = (): boolean => JSON.stringify(stand.get("Queue", "later", "")).includes('"state":"Open"');
      await stand.until("the queue is looked after", opened, 20_000);
    });

  const tenants = "default";
  const forged: Readonly<Record<string, (stand: Stand) => Promise<unknown>>> = {
    "a lease of upstream's name, held for 68 years": (stand) => {
      const spec = { ...lease(stand).spec, leaseDurationSeconds: 2_147_483_647 };
      return stand.create({ ...lease(stand), metadata: { name: "spark-operator-lock", namespace: tenants }, spec });
    },
    "a lease that the settings name": (stand) =>
      stand.create({ ...lease(stand), metadata: { name: "mine", namespace: tenants } }),
    "a Deployment of the controller's image": (stand) =>
      post(stand, deploymentsIn(tenants), deploymentOf("mallory.example/spark-operator:none", tenants)),
    "a Deployment whose account may only read everywhere": async (stand) => {
      for (const one of grantedEverywhere("sparkoperator.k8s.io", "sparkapplications", tenants))
        await post(stand, `/apis/rbac.authorization.k8s.io/v1/${one.kind.toLowerCase()}s`, one);
      await post(stand, deploymentsIn(tenants), deploymentOf("kubeflow/spark-operator:2", tenants));
    },
    "a pod of the controller's labels": (stand) =>
      stand.create(controllerPod({ "app.kubernetes.io/name": "spark-operator" }, tenants)),
    "a driver with the controller's labels": (stand) =>
      stand.create(
        application("mimic", {
          spec: { driver: { cores: 1, memory: "512m", labels: { "app.kubernetes.io/name": "spark-operator" } } },
        }),
      ),
    "a status that another client writes every five seconds": async (stand) => {
      await stand.create(queueObject);
      await writeStatus(stand.simulator.transport, "spark-operator/v2");
    },
  };
  for (const [name, forge] of Object.entries(forged))
    itOnStand({ managedFields: true })(`does not stand aside for ${name}, in a tenant's namespace`, async (stand) => {
      await stand.create(home);
      await forge(stand);
      await hostOn(stand);
      for (let rounds = 8; rounds > 0; rounds -= 1) {
        await writeStatus(stand.simulator.transport, `spark-operator/v${rounds}`);
        await stand.turn(5_000);
      }
      await stand.create(application("app"));
      await stand.until("it is done", () => state(stand, "app") === "COMPLETED", 30_000);
      assert.deepEqual(asides(stand), []);
    });

  it("forgets the namespace of a controller that was deleted: a lease there counts no longer, and nothing flaps", async (stand) => {
    await stand.create(home);
    await deployedWith(stand, "jobs/status");
    await hostOn(stand);
    const left = { ...lease(stand), metadata: { name: "vc-controller-manager", namespace: tenants } };
    await stand.create({ ...left, spec: { ...left.spec, leaseDurationSeconds: 3_600 } });
    await request(stand.simulator.transport, "DELETE", `${deploymentsIn(tenants)}/controllers`);
    await stand.turn(120_000);
    assert.deepEqual(asides(stand), [
      "standby: Volcano runs as the deployment default/controllers",
      "Volcano no longer leads: taking over its kinds",
    ]);
  });

  it("stands aside for the configured leases, and no others", async (stand) => {
    await stand.create(lease(stand, "somebody-elses"));
    await stand.create(lease(stand, "mine"));
    await hostOn(stand);
    await stand.create(application("app"));
    await lead(stand, 30_000, "mine");
    assert.equal(state(stand, "app"), "");
    await lead(stand, 120_000, "somebody-elses");
    assert.equal(state(stand, "app"), "COMPLETED");
  });

  for (const flag of ["takeOver", "coexist"]) {
    it(`does not stand aside with ${flag}`, async (stand) => {
      await stand.create(lease(stand));
      await hostOn(stand, { [flag]: true });
      await stand.create(application("app"));
      await lead(stand, 60_000);
      assert.equal(state(stand, "app"), "COMPLETED");
    });
  }

  it("keeps its state if it cannot read the leases, beside a leader or without one", async (stand) => {
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
  });

  it("does not start before it could read the leases", async (stand) => {
    const lookout = () => Promise.reject(new Error("away"));
    await assert.rejects(stand.host({ lookout }), /away/);
    assert.deepEqual(stand.writes(), []);
  });
});
