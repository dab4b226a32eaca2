/** Confs become objects: amounts, versions, secrets, refusals. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { build } from "../../../../shared/spark/submission/client.ts";
import { assembled } from "../../../../shared/spark/submission/pods/pod.ts";
import { identityOf } from "../../../../shared/spark/submission/steps/step.ts";

type Built = Exclude<ReturnType<typeof build>, { refused: string }>;

const asked = (confs: Record<string, string>, language: "java" | "python" = "java", sparkVersion = "4.1.1") =>
  build({
    conf: new Map(Object.entries({ "spark.kubernetes.container.image": "spark:1", "spark.app.name": "pi", ...confs })),
    sparkVersion,
    identity: identityOf("pi", "uid/1"),
    program: { language, mainClass: "Main", resource: "local:///main", arguments: ["1"] },
    proxyUser: undefined,
    machine: { user: "spark" },
    templates: {},
  });

const built = (...given: Parameters<typeof asked>): Built => {
  const result = asked(...given);
  assert.ok(!("refused" in result), "refused" in result ? result.refused : "");
  return result;
};

describe("memory of the driver", () => {
  const rows: readonly (readonly [Record<string, string>, "java" | "python", string, string])[] = [
    [{}, "java", "4.1.1", "1408Mi"],
    [{}, "python", "4.1.1", "1433Mi"],
    [{ "spark.driver.memory": "4g", "spark.driver.memoryOverhead": "1500m" }, "java", "4.1.1", "5596Mi"],
    [{ "spark.driver.memory": "10g", "spark.kubernetes.memoryOverheadFactor": "0.25" }, "java", "4.1.1", "12800Mi"],
    [{ "spark.driver.memory": "512m", "spark.driver.minMemoryOverhead": "200m" }, "java", "4.1.1", "712Mi"],
    [{ "spark.driver.memory": "512m", "spark.driver.minMemoryOverhead": "200m" }, "java", "3.5.8", "896Mi"],
    [{ "spark.driver.memory": "5g", "spark.driver.memoryOverheadFactor": "0.5" }, "python", "4.1.1", "7680Mi"],
  ];
  for (const [confs, language, version, memory] of rows) {
    test(`${memory} for ${language} on ${version} with ${JSON.stringify(confs)}`, () => {
      assert.equal(built(confs, language, version).pod.container.resources?.limits?.["memory"], memory);
    });
  }
});

describe("objects by version", () => {
  const kinds = (version: string): readonly string[] => built({}, "java", version).objects.map(({ kind }) => kind);
  const portsOf = (version: string): unknown => built({}, "java", version).pod.container.ports?.map(({ name }) => name);

  test("from 4.1 on the driver offers Spark Connect", () => {
    assert.deepEqual(portsOf("4.0.4"), ["driver-rpc-port", "blockmanager", "spark-ui"]);
    assert.deepEqual(portsOf("4.1.1"), ["driver-rpc-port", "blockmanager", "spark-ui", "spark-connect"]);
  });

  test("from 4.2 on a NetworkPolicy lets only pods of the same application reach executors", () => {
    assert.deepEqual(kinds("4.1.1"), ["Service", "ConfigMap"]);
    assert.deepEqual(kinds("4.2.0"), ["Service", "NetworkPolicy", "ConfigMap"]);
    assert.deepEqual(kinds("4.3.0"), ["Service", "NetworkPolicy", "ConfigMap"]);
  });

  test("from 4.2 on the step of the NetworkPolicy can be excluded", () => {
    const step = "org.apache.spark.deploy.k8s.features.NetworkPolicyFeatureStep";
    const excluded = { "spark.kubernetes.driver.pod.excludedFeatureSteps": step };
    assert.deepEqual(
      built(excluded, "java", "4.2.1").objects.map(({ kind }) => kind),
      ["Service", "ConfigMap"],
    );
  });

  test("from 4.3 on the driver's container gains no privileges", () => {
    const contextOf = (version: string): unknown => built({}, "java", version).pod.container.securityContext;
    assert.equal(contextOf("4.2.1"), undefined);
    assert.deepEqual(contextOf("4.3.0"), { allowPrivilegeEscalation: false });
  });
});

describe("confs", () => {
  test("may refer to others, and are passed on as they were written", () => {
    const reference = ["$", "{spark.my.ns}"].join("");
    const { namespace, confs } = built({ "spark.kubernetes.namespace": reference, "spark.my.ns": "team" });
    assert.equal(namespace, "team");
    assert.equal(confs.get("spark.kubernetes.namespace"), reference);
  });

  test("with a token put the token into its Secret alone", () => {
    const key = "spark.kubernetes.authenticate.driver.oauthToken";
    const { confs, objects, pod } = built({ [key]: "tok123" });
    assert.equal(confs.get(key), "<present_but_redacted>");
    const rest = objects.filter(({ kind }) => kind !== "Secret");
    assert.doesNotMatch(JSON.stringify([rest, assembled(pod)]), /tok123/);
  });
});

describe("refusals", () => {
  const rows: readonly (readonly [Record<string, string>, RegExp])[] = [
    [{ "spark.kubernetes.container.image": "" }, /^Must specify the driver container image/],
    [{ "spark.kubernetes.driver.label.spark-role": "x" }, /^Label with key spark-role is not allowed/],
    [{ "spark.kubernetes.driver.volumes.hostPath.d.mount.path": "/d" }, /^hostPath\.d\.options\.path is required/],
    [{ "spark.kubernetes.executor.volumes.nfs.d.mount.path": "/d" }, /^nfs\.d\.options\.path is required/],
    [{ "spark.kubernetes.driver.volumes.foo.d.mount.path": "/d" }, /^Kubernetes Volume type `foo` is not supported/],
    [{ "spark.driver.bindAddress": "1.2.3.4" }, /^spark\.driver\.bindAddress is not supported/],
    [{ "spark.driver.memory": "512q" }, /^spark\.driver\.memory: "512q" is not a size/],
    [{ "spark.executor.instances": "0" }, /^spark\.executor\.instances: "0" is not a positive number/],
    [{ "spark.files": "/tmp/f" }, /^\/tmp\/f is a file of the submitting machine/],
    [{ "spark.kubernetes.driver.podTemplateFile": "/no.yaml" }, /^Could not load pod from template file/],
    [{ "spark.driver.resource.gpu.amount": "1" }, /^Resource: gpu was requested, but vendor was not specified/],
    [{ "spark.kubernetes.driver.secretKeyRef.P": "a" }, /must be in the form name:key/],
  ];
  for (const [confs, message] of rows) {
    test(`${JSON.stringify(confs)} is refused`, () => {
      const result = asked(confs);
      assert.ok("refused" in result);
      assert.match(result.refused, message);
    });
  }

  test("do not include zero instances with dynamic allocation", () => {
    built({ "spark.executor.instances": "0", "spark.dynamicAllocation.enabled": "true" });
  });
});
