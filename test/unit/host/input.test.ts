/**
 * Invalid applications: the error is shown on the object, other objects are not affected, and a corrected application
 * runs.
 */
import assert from "node:assert/strict";
import { describe } from "node:test";
import type { Obj } from "../../../shared/core/object.ts";
import { crds } from "../../support/crds.ts";
import { rekindle } from "./command.ts";
import { application, errorOf, loose, refusalOf, stateOf, statusOf } from "./objects.ts";
import { itOnStand, type Stand } from "./stand.ts";
import { answer } from "./way.ts";

const state = (stand: Stand, name: string): string => stateOf(stand.get("SparkApplication", name));

const completes = (stand: Stand, name: string): Promise<void> =>
  stand.until(`${name} is COMPLETED`, () => state(stand, name) === "COMPLETED");

const events = (stand: Stand, name: string): string =>
  stand
    .all("Event")
    .filter(({ involvedObject }) => JSON.stringify(involvedObject).includes(`"name":"${name}"`))
    .map(({ message }) => String(message))
    .join("\n");

/** A ConfigMap of another owner. */
const stranger: Obj = {
  ...{ apiVersion: "v1", kind: "ConfigMap" },
  metadata: { name: "stranger", namespace: "default", labels: { "sparkoperator.k8s.io/app-name": "app" } },
};

const neighbours = async (stand: Stand): Promise<void> => {
  await stand.create(stranger);
  await stand.create(application("neighbour"));
};

const assertUnharmed = async (stand: Stand): Promise<void> => {
  await completes(stand, "neighbour");
  assert.equal(statusOf(stand.get("SparkApplication", "neighbour"), "executionAttempts"), 1);
  assert.equal(stand.get("ConfigMap", "stranger")?.metadata.resourceVersion !== undefined, true);
};

/** Asserts that the host logs no warning and no error, and no message of several lines. */
const assertCalm = ({ lines }: Stand): void => {
  const loud = lines.filter(({ level }) => level === "warn" || level === "error");
  assert.deepEqual(loud, []);
  assert.deepEqual(
    lines.filter(({ message }) => /\n/.test(message)),
    [],
  );
};

const good = application("app")["spec"];

const it = itOnStand();

describe("a spec that cannot run", () => {
  const cases: readonly { readonly name: string; readonly spec: unknown; readonly says: RegExp }[] = [
    { name: "no driver", spec: { driver: undefined }, says: /^spec\.driver is missing: add it/ },
    { name: "a driver of another type", spec: { driver: [] }, says: /^spec\.driver must be an object, not an array$/ },
    {
      name: "an invalid size",
      spec: { driver: { memory: "512q" } },
      says: /^spec\.driver\.memory: "512q" is not a size .*"512m"/,
    },
    {
      name: "a number of executors",
      spec: { executor: { instances: "2" } },
      says: /^spec\.executor\.instances must be /,
    },
    { name: "an unknown type", spec: { type: "Cobol" }, says: /^spec\.type must be one of Java, Python, Scala, R$/ },
    { name: "no file to run", spec: { mainApplicationFile: undefined }, says: /^spec\.mainApplicationFile is missing/ },
    {
      name: "the master in sparkConf",
      spec: { sparkConf: { "spark.master": "local" } },
      says: /"spark\.master" is not allowed/,
    },
    { name: "nothing", spec: null, says: /^spec must be an object, not null$/ },
    { name: "a text", spec: "run it", says: /^spec must be an object, not a string$/ },
    {
      name: "names of every object",
      spec: { sparkConf: JSON.parse('{"__proto__":"x","constructor":1}') },
      says: /constructor/,
    },
  ];
  for (const { name, spec, says } of cases) {
    itOnStand({ crds: crds.map(loose) })(`${name}: FAILED with the repair, and a repaired one runs`, async (stand) => {
      await stand.host();
      await neighbours(stand);
      const whole =
        typeof spec === "object" && spec !== null ? { ...application("app", { spec: { ...spec } }) } : undefined;
      await stand.create(whole ?? { ...application("app"), spec });
      await stand.until("FAILED", () => state(stand, "app") === "FAILED", 5_000);
      assert.match(refusalOf(stand.get("SparkApplication", "app")), says);
      assert.match(events(stand, "app"), new RegExp(says.source.replaceAll(/[\^$]/g, "")));
      assert.match(await rekindle(stand, "status", "default/app"), new RegExp(says.source.replaceAll(/[\^$]/g, "")));
      assert.equal(stand.all("Pod").filter(({ metadata }) => metadata.name.startsWith("app-")).length, 0);
      await assertUnharmed(stand);
      await stand.turn(30_000);
      const quiet = stand.writes().length;
      await stand.pass(0.5);
      assert.equal(stand.writes().length, quiet, "a bad spec is not written about for ever");
      await stand.patch("SparkApplication", "app", { spec: null });
      await stand.patch("SparkApplication", "app", { spec: good });
      await completes(stand, "app");
      assert.equal(errorOf(stand.get("SparkApplication", "app")), "");
      assertCalm(stand);
    });
  }
});

describe("a name that is invalid for the application's objects", () => {
  const cases = [
    { name: "a".repeat(64), says: /^metadata\.name is 64 characters long.*shorten it$/ },
    { name: `a${".b".repeat(100)}`, says: /^metadata\.name is 201 characters long/ },
    { name: "with.dots", says: /^metadata\.name "with\.dots" must start with a lower case letter/ },
    { name: "1st", says: /^metadata\.name "1st" must start with a lower case letter/ },
  ];
  for (const { name, says } of cases) {
    it(`${name.slice(0, 20)} (${name.length}): FAILED with the repair, and a better one runs`, async (stand) => {
      await stand.host();
      await neighbours(stand);
      await stand.create(application(name));
      await stand.until("FAILED", () => state(stand, name) === "FAILED", 5_000);
      assert.match(refusalOf(stand.get("SparkApplication", name)), says);
      assert.match(
        await rekindle(stand, "status", `default/${name}`),
        new RegExp(says.source.replaceAll(/[\^$]/g, "")),
      );
      await assertUnharmed(stand);
      await stand.remove("SparkApplication", name);
      await stand.create(application("app"));
      await completes(stand, "app");
      await stand.until("only two are remembered", () => stand.all("Checkpoint").length === 2);
      assertCalm(stand);
    });
  }

  it("a name of 63 characters runs", async (stand) => {
    await stand.host();
    await stand.create(application("a".repeat(63)));
    await completes(stand, "a".repeat(63));
  });
});

describe("an object that the server refuses", () => {
  it("a pod: FAILED with the server's message, and a repaired one runs", async (stand) => {
    await stand.host();
    await neighbours(stand);
    await completes(stand, "neighbour");
    const invalid = 'Pod "app-driver" is invalid: spec.containers[0].image: Required value';
    stand.fault(({ method, path }) =>
      method === "POST" && path.endsWith("/pods") ? answer(422, "Invalid", invalid) : undefined,
    );
    await stand.create(application("app"));
    await stand.until("FAILED", () => state(stand, "app") === "FAILED", 5_000);
    assert.match(refusalOf(stand.get("SparkApplication", "app")), /spec\.containers\[0\]\.image: Required value/);
    assert.match(events(stand, "app"), /SparkApplication app failed to be submitted: .*Required value/);
    await stand.pass(0.5);
    assert.ok(stand.writes().filter((line) => line.endsWith("/pods")).length <= 4, "no storm of retries");
    stand.fault(undefined);
    await stand.patch("SparkApplication", "app", { spec: { image: "apache/spark:4.1.1-java21" } });
    await completes(stand, "app");
    const object = stand.get("SparkApplication", "app");
    assert.deepEqual([statusOf(object, "executionAttempts"), statusOf(object, "submissionAttempts")], [1, 1]);
    assertCalm(stand);
  });

  it("a driver whose name another pod has: reported, that pod is left alone, and it runs when the name is free", async (stand) => {
    await stand.host();
    const spec = { containers: [{ name: "x", image: "x" }] };
    await stand.create({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "app-driver", namespace: "default" },
      spec,
    });
    const { uid } = stand.get("Pod", "app-driver")?.metadata ?? {};
    await stand.create(application("app"));
    await stand.until("FAILED", () => state(stand, "app") === "FAILED", 5_000);
    assert.match(
      refusalOf(stand.get("SparkApplication", "app")),
      /app-driver exists and belongs to another owner; delete it or/,
    );
    await stand.pass(0.2);
    assert.equal(stand.get("Pod", "app-driver")?.metadata.uid, uid);
    await stand.remove("Pod", "app-driver");
    await stand.until("the pod goes", () => stand.get("Pod", "app-driver") === undefined);
    await stand.patch("SparkApplication", "app", { spec: { arguments: ["again"] } });
    await completes(stand, "app");
    assertCalm(stand);
  });

  it("an application with retries left waits for the next one, but not after a repaired spec", async (stand) => {
    await stand.host();
    stand.fault(({ method, path }) =>
      method === "POST" && path.endsWith("/pods") ? answer(422, "Invalid", "the pod is invalid") : undefined,
    );
    const retries = { onSubmissionFailureRetries: 3, onSubmissionFailureRetryInterval: 600 };
    await stand.create(application("app", { spec: { restartPolicy: { type: "OnFailure", ...retries } } }));
    await stand.until("it waits", () => state(stand, "app") === "SUBMISSION_FAILED", 5_000);
    assert.match(
      await rekindle(stand, "status", "default/app"),
      /the pod is invalid.*\n.*until .*\n.*correct what the message names/,
    );
    await stand.turn(60_000);
    stand.fault(undefined);
    await stand.patch("SparkApplication", "app", { spec: { arguments: ["mended"] } });
    await completes(stand, "app");
  });
});

describe("a namespace that is being deleted", () => {
  it("ends its applications without new objects, leftovers or alarms", async (stand) => {
    await stand.host();
    await stand.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } });
    await stand.create(application("app", { namespace: "team" }));
    await stand.until("RUNNING", () => stateOf(stand.get("SparkApplication", "app", "team")) === "RUNNING");
    await stand.remove("Namespace", "team", "");
    await stand.until("it is gone", () => stand.get("Namespace", "team", "") === undefined);
    await stand.pass(0.5);
    assert.deepEqual([...stand.all("Pod"), ...stand.all("Checkpoint"), ...stand.all("SparkApplication")], []);
    assertCalm(stand);
  });
});
