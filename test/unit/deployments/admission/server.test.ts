/**
 * Admission on a host, on a simulated API server that calls it over HTTPS: registration, renewal, several replicas,
 * removal.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { openCluster } from "../../../../shared/adapters/kubernetes/cluster.ts";
import { request } from "../../../../shared/adapters/kubernetes/requests.ts";
import {
  type OpenAdmission,
  register,
  serveAdmission,
  sharedCertificates,
} from "../../../../shared/deployments/admission/process.ts";
import { families } from "../../../../shared/kube/resources.ts";
import { openCaller } from "../../../../shared/simulator/http/serve.ts";
import { openSimulator, type Simulator } from "../../../../shared/simulator/open.ts";
import { crds } from "../../../support/crds.ts";
import { freePort } from "../../../support/port.ts";
import { application } from "../../host/objects.ts";
import type { Line } from "../../host/stand.ts";

const secret = "/api/v1/namespaces/rekindle/secrets/rekindle-admission";
const configurations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/rekindle";
const applications = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/default/sparkapplications";

type Scene = {
  readonly simulator: Simulator;
  readonly lines: readonly Line[];
  /** Opens one replica; all listen on the same address in turn. */
  open(everyMs?: number, now?: () => number): Promise<OpenAdmission>;
  /** Creates an application through the webhooks; returns the stored object, or the refusal. */
  create(name: string, spec?: Readonly<Record<string, unknown>>): Promise<{ status: number; body: unknown }>;
  get(path: string): unknown;
};

const onScene = (act: (scene: Scene) => Promise<void>) => async (): Promise<void> => {
  const caller = openCaller();
  const simulator = openSimulator({ start: Date.now(), crds, admit: caller.admit });
  const { transport, handle } = simulator;
  const space = { apiVersion: "v1", kind: "Namespace", metadata: { name: "rekindle" } };
  await request(transport, "POST", "/api/v1/namespaces", space);
  const lines: Line[] = [];
  const doors: OpenAdmission[] = [];
  const port = await freePort();
  const open: Scene["open"] = async (everyMs = 60_000, now = Date.now) => {
    const door = await serveAdmission({
      listen: { hostname: "127.0.0.1", port },
      certificates: sharedCertificates({
        ...{ transport, namespace: "rekindle", name: "rekindle-admission" },
        ...{ names: ["127.0.0.1"], now },
      }),
      register: (ca) =>
        register(transport, { reach: { url: `https://127.0.0.1:${port}` }, ca, namespaces: [], families }),
      admits: {},
      report: (level, message, fields = {}) => void lines.push({ level, message, fields }),
      everyMs,
    });
    doors.push(door);
    return door;
  };
  try {
    await act({
      ...{ simulator, lines, open },
      create: async (name, spec) => {
        const body = JSON.stringify(application(name, spec === undefined ? {} : { spec }));
        const answer = await caller.run(() => handle({ method: "POST", path: applications, headers: {}, body }));
        return { status: answer.status, body: JSON.parse(answer.body) };
      },
      get: (path) => JSON.parse(handle({ method: "GET", path, headers: {} }).body),
    });
  } finally {
    await Promise.all(doors.map((door) => door.close().catch(() => {})));
  }
};

const until = async (isSo: () => boolean): Promise<void> => {
  for (let left = 400; !isSo(); left--) {
    if (left === 0) throw new Error("it did not come to be");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};

const text = (value: unknown): string => JSON.stringify(value);

const bad = { sparkConf: { "spark.master": "local" } };

const it = (title: string, act: Parameters<typeof onScene>[0]): void => void test(title, onScene(act));

describe("admission of a host", () => {
  it("is called by the API server: it writes defaults, and refuses an invalid application", async ({
    open,
    create,
  }) => {
    await open();
    const refused = await create("bad", bad);
    assert.equal(refused.status, 422);
    assert.match(text(refused.body), /spark\.rekindle\.dev.*sparkConf key/);
    const stored = await create("good", { mode: undefined, driver: {} });
    assert.equal(stored.status, 201);
    assert.match(text(stored.body), /"mode":"cluster"/);
    assert.match(text(stored.body), /"driver":\{"cores":1,"memory":"1g"\}/);
  });

  it("blocks no creation after it has stopped", async ({ open, create }) => {
    await (await open()).close();
    assert.equal((await create("bad", bad)).status, 201);
  });

  it("writes nothing when it starts again, and serves the same certificate", async ({ simulator, open, get }) => {
    await (await open()).close();
    const before = text(get(secret));
    const revision = simulator.store.revision();
    await open();
    assert.equal(text(get(secret)), before);
    assert.equal(simulator.store.revision(), revision);
  });

  it("serves one certificate from replicas that start together", async ({ simulator }) => {
    const shared = { namespace: "rekindle", name: "rekindle-admission", names: ["127.0.0.1"], now: Date.now };
    const three = [0, 1, 2].map(() => sharedCertificates({ ...shared, transport: simulator.transport })());
    const certificates = new Set((await Promise.all(three)).map(({ cert }) => cert));
    assert.equal(certificates.size, 1);
  });

  it("renews its certificate in time, keeps the old authority trusted, updates its registration, and answers calls", async ({
    open,
    create,
    get,
    lines,
  }) => {
    let ago = 250 * 86_400_000;
    await open(20, () => Date.now() - ago);
    const before = text(get(secret));
    ago = 0;
    await until(() => lines.some(({ message }) => message === "admission has a new certificate"));
    assert.notEqual(text(get(secret)), before);
    const bundle = /"caBundle":"([^"]+)"/.exec(text(get(configurations)))?.[1] ?? "";
    assert.equal((Buffer.from(bundle, "base64").toString().match(/BEGIN/g) ?? []).length, 2);
    assert.equal((await create("bad", bad)).status, 422);
  });

  it("restores its registration, and continues if it cannot maintain its Secret", async ({
    simulator,
    open,
    create,
    lines,
    get,
  }) => {
    const door = await open(20);
    await request(simulator.transport, "DELETE", configurations);
    await until(() => text(get(configurations)).includes("spark.rekindle.dev"));
    await request(simulator.transport, "DELETE", secret);
    const strange = { apiVersion: "v1", kind: "Secret", metadata: { name: "rekindle-admission" } };
    await request(simulator.transport, "POST", "/api/v1/namespaces/rekindle/secrets", strange).catch(() => {});
    await until(() => lines.length > 0);
    await door.close();
    assert.equal((await create("bad", bad)).status, 201);
  });

  it("leaves the Secret of another owner alone, and throws an error that names it", async ({ simulator, open }) => {
    const strange = { apiVersion: "v1", kind: "Secret", metadata: { name: "rekindle-admission" } };
    await request(simulator.transport, "POST", "/api/v1/namespaces/rekindle/secrets", strange);
    await assert.rejects(open(), /secrets rekindle\/rekindle-admission belongs to another owner/);
  });

  it("throws one line if it cannot listen on its address", async ({ open }) => {
    await open();
    await assert.rejects(open(), /cannot listen on 127\.0\.0\.1:\d+: .*set --admission-listen/);
  });

  it("registers with failure policy Ignore and a timeout of 3 s", async ({ simulator, open }) => {
    await open();
    const cluster = openCluster(simulator.transport);
    const found = await Promise.all(
      ["mutating", "validating"].map((phase) =>
        cluster.get({
          resource: {
            ...{ group: "admissionregistration.k8s.io", version: "v1", kind: "" },
            plural: `${phase}webhookconfigurations`,
          },
          name: "rekindle",
        }),
      ),
    );
    const webhooks = found.flatMap(({ value }) => value?.["webhooks"]).flat();
    assert.equal(webhooks.length, 7);
    for (const webhook of webhooks)
      assert.match(
        text(webhook),
        /"failurePolicy":"Ignore".*"timeoutSeconds":3|"timeoutSeconds":3.*"failurePolicy":"Ignore"/,
      );
  });
});
