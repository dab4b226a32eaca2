/** `rekindle host` from its first line to its last: standby, HTTP endpoints, shutdown, mistakes. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { request } from "../../../shared/adapters/kubernetes/requests.ts";
import { signature } from "../../../shared/core/signature.ts";
import type { Simulator } from "../../../shared/simulator/open.ts";
import { onMachine, until } from "./machine.ts";
import { application, stateOf } from "./objects.ts";

const applications = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/default/sparkapplications";

const create = ({ transport }: Simulator, path: string, body: unknown): Promise<unknown> =>
  request(transport, "POST", path, body);

const state = ({ store }: Simulator, name: string, namespace = "default"): string => {
  const item = store.get("sparkapplications.sparkoperator.k8s.io", `${namespace}/${name}`);
  return stateOf(item === undefined ? undefined : JSON.parse(JSON.stringify(item)));
};

const now = (simulator: Simulator): string => new Date(simulator.clock.now()).toISOString();

const lease = (simulator: Simulator) => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name: "spark-operator-lock", namespace: "kube-system" },
  spec: { holderIdentity: "operator-1", leaseDurationSeconds: 3600, renewTime: now(simulator).replace("Z", "000Z") },
});

const deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "spark-operator-controller", namespace: "kube-system" },
  spec: {
    selector: { matchLabels: { app: "operator" } },
    template: {
      metadata: { labels: { app: "operator" } },
      spec: { containers: [{ name: "controller", image: "ghcr.io/kubeflow/spark-operator/controller:2.3.0" }] },
    },
  },
};

describe("a host beside another controller", () => {
  const cases: readonly { name: string; arrange: (simulator: Simulator) => Promise<unknown>; says: RegExp }[] = [
    {
      name: "by its lease",
      arrange: (simulator) =>
        create(simulator, "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases", lease(simulator)),
      says: /kubeflow spark-operator holds the lease kube-system\/spark-operator-lock/,
    },
    {
      name: "by its deployment",
      arrange: (simulator) => create(simulator, "/apis/apps/v1/namespaces/kube-system/deployments", deployment),
      says: /kubeflow spark-operator runs as the deployment kube-system\/spark-operator-controller/,
    },
  ];
  for (const { name, arrange, says } of cases) {
    test(
      `${name}: reports the controller's place, stands aside in one line, and writes nothing`,
      onMachine(
        async ({ simulator, asked, host }) => {
          await arrange(simulator);
          const aside = host();
          await aside.door();
          assert.match(
            aside.out.join("\n"),
            /^rekindle host: context simulator, http:\/\/127\.0\.0\.1:\d+, all namespaces$/m,
          );
          await create(simulator, applications, application("spark-e"));
          await until("it has looked at all", () => asked.some((line) => line.includes("/checkpoints?")));
          await new Promise((resolve) => setTimeout(resolve, 100));
          const said = aside.lines.filter(({ level }) => level === "warn");
          assert.equal(said.length, 1);
          assert.match(said[0]?.message ?? "", /^standby: /);
          assert.match(said[0]?.message ?? "", says);
          // A SelfSubjectRulesReview is a POST, but writes nothing.
          assert.deepEqual(
            asked.filter((line) => !line.startsWith("GET") && !line.endsWith("/selfsubjectrulesreviews")),
            [],
          );
          aside.stop();
          assert.deepEqual([await aside.code, aside.err], [0, []]);
        },
        { managedFields: true },
      ),
    );

    for (const flag of ["--take-over", "--coexist", "--dry-run"]) {
      test(
        `${name}: ${flag} starts`,
        onMachine(
          async ({ simulator, host }) => {
            await arrange(simulator);
            const running = host(flag);
            await running.door();
            running.stop();
            assert.deepEqual([await running.code, running.err], [0, []]);
          },
          { managedFields: true },
        ),
      );
    }
  }

  test(
    "does not take a second Rekindle host or a person for a controller",
    onMachine(
      async ({ simulator, host }) => {
        const first = host();
        await first.door();
        await create(simulator, applications, application("spark-pi"));
        await until("it is COMPLETED", () => state(simulator, "spark-pi") === "COMPLETED");
        const second = host();
        await second.door();
        second.stop();
        assert.deepEqual([await second.code, second.err], [0, []]);
      },
      { managedFields: true },
    ),
  );
});

const triggered = async (url: string, secret: string, path: string, timestamp = Math.floor(Date.now() / 1_000)) => {
  const signed = { timestamp: String(timestamp), method: "POST", path, body: "" };
  const headers = { "x-rekindle-timestamp": signed.timestamp, "x-rekindle-signature": signature(secret, signed) };
  return (await fetch(`${url}${path}`, { method: "POST", headers })).status;
};

const it = (title: string, act: Parameters<typeof onMachine>[0]): void => void test(title, onMachine(act));

describe("a running host", () => {
  it("is healthy, then ready, runs an applied application, and leaves nothing half done when it is stopped", async ({
    simulator,
    asked,
    host,
  }) => {
    const running = host("--log-level=info");
    const url = await running.door();
    assert.equal((await fetch(`${url}/healthz`)).status, 200);
    await until("it is ready", async () => (await fetch(`${url}/readyz`)).status === 200);
    await create(simulator, applications, application("spark-pi"));
    await until("it is COMPLETED", () => state(simulator, "spark-pi") === "COMPLETED");
    const metrics = await (await fetch(`${url}/metrics`)).text();
    for (const figure of ["spark_application_submit_count 1", "process_cpu_seconds_total ", "go_goroutines "])
      assert.match(metrics, new RegExp(`^${figure}`, "m"));
    running.stop();
    assert.equal(await running.code, 0);
    assert.deepEqual(running.out.slice(2), ["rekindle host: draining", "rekindle host: stopped"]);
    const before = asked.length;
    await assert.rejects(fetch(`${url}/healthz`));
    assert.deepEqual(asked.slice(before), []);
    assert.deepEqual(
      running.lines.filter(({ level }) => level === "warn" || level === "error"),
      [],
    );
  });

  test(
    "is not ready while it cannot list the objects",
    onMachine(
      async ({ host }) => {
        const running = host();
        const url = await running.door();
        assert.deepEqual([(await fetch(`${url}/healthz`)).status, (await fetch(`${url}/readyz`)).status], [200, 503]);
      },
      { crds: [] },
    ),
  );

  it("of a missing namespace reports that, and runs the objects that are created in it later", async ({
    simulator,
    host,
  }) => {
    const running = host("--namespaces=team,default");
    await running.door();
    assert.deepEqual(running.err, ["namespace team does not exist: objects that are created in it later are run"]);
    await create(simulator, "/api/v1/namespaces", {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "team" },
    });
    await create(simulator, applications.replace("default", "team"), application("spark-pi", { namespace: "team" }));
    await until("it is COMPLETED", () => state(simulator, "spark-pi", "team") === "COMPLETED");
  });

  it("answers metrics to callers alone where the operator wants it", async ({ folder, host }) => {
    const callers = [
      { name: "prometheus", tokens: ["a token for prometheus"], may: ["read"] },
      { name: "team", tokens: ["a token for one team"], may: ["read"], namespaces: ["team-a"] },
    ].map((one) => ({ ...one, tokens: one.tokens.map((token) => token.replaceAll(" ", "-")) }));
    writeFileSync(join(folder, "callers"), JSON.stringify(callers));
    const running = host("--trigger-secret-file", join(folder, "callers"), "--metrics-for=callers");
    const url = await running.door();
    const statusFor = async (headers: Record<string, string>) => (await fetch(`${url}/metrics`, { headers })).status;
    assert.equal(await statusFor({}), 401);
    assert.equal(await statusFor({ authorization: "Bearer a-token-for-one-team" }), 403);
    assert.equal(await statusFor({ authorization: "Bearer a-token-for-prometheus" }), 200);
  });

  it("accepts each signed trigger once", async ({ simulator, folder, host }) => {
    const secret = "a secret of more than sixteen";
    writeFileSync(join(folder, "secret"), `${secret}\n`);
    const running = host("--trigger-secret-file", join(folder, "secret"), "--log-level=debug");
    const url = await running.door();
    await until("it is ready", async () => (await fetch(`${url}/readyz`)).status === 200);
    const paused = { annotations: { "rekindle.dev/paused": "true" } };
    for (const name of ["spark-pi", "later"]) await create(simulator, applications, application(name, paused));
    const path = "/reconcile/SparkApplication/default/spark-pi";
    const reasons = (name: string): readonly unknown[] =>
      running.lines
        .filter(({ message, fields }) => message === "step" && String(fields["key"]).endsWith(`/default/${name}`))
        .map(({ fields }) => fields["for"]);
    const triggers = (name: string): number => reasons(name).filter((reason) => reason === "trigger").length;
    await until("the events were taken", () => reasons("spark-pi").length > 0 && reasons("later").length > 0);
    const time = Math.floor(Date.now() / 1_000);
    const rows = [
      [await triggered(url, secret, path, time), 202],
      [await triggered(url, secret, path, time), 202],
      [await triggered(url, "another secret of sixteen", path), 401],
      [await triggered(url, secret, path, time - 301), 401],
      [await triggered(url, secret, "/reconcile/Secret/default/spark-pi"), 404],
    ] as const;
    assert.deepEqual(
      rows.map(([got]) => got),
      rows.map(([, wanted]) => wanted),
    );
    await until("the trigger was taken", () => triggers("spark-pi") > 0);
    assert.equal(await triggered(url, secret, path, time), 202);
    // The queue is first in, first out: a step of the repeated trigger would come before this one.
    await triggered(url, secret, "/reconcile/SparkApplication/default/later");
    await until("the later trigger was taken", () => triggers("later") > 0);
    assert.equal(triggers("spark-pi"), 1);
  });

  it("accepts no trigger without a secret", async ({ host }) => {
    const url = await host().door();
    assert.equal(await triggered(url, "a secret of more than sixteen", "/reconcile/SparkApplication/default/x"), 404);
  });

  it("beside a second one creates one driver, and neither of them logs an error", async ({ simulator, host }) => {
    const drivers = new Set<string>();
    simulator.subscribe(({ table, object: { metadata } }) => {
      if (table === "pods" && metadata.name.endsWith("-driver")) drivers.add(metadata.uid);
    });
    const hosts = [host(), host()];
    await Promise.all(hosts.map((one) => one.door()));
    const names = ["one", "two", "three", "four", "five", "six"];
    for (const name of names) await create(simulator, applications, application(name));
    await until("all are COMPLETED", () => names.every((name) => state(simulator, name) === "COMPLETED"));
    assert.equal(drivers.size, names.length);
    const loud = hosts.flatMap(({ lines }) => lines.filter(({ level }) => level === "warn" || level === "error"));
    assert.deepEqual(loud, []);
  });
});
