/** `rekindle migrate` for Apache's Spark operator: its properties are read as settings, and its applications are adopted. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Obj } from "../../../shared/core/object.ts";
import { install, properties } from "./apache.ts";
import { gist } from "./migrated.ts";
import { make, openTerminal, type Terminal } from "./terminal.ts";
import { holders } from "./upstreams.ts";

const image = { "spark.kubernetes.container.image": "spark:4.2.0" };

const application = (name: string, summary?: string, spec: object = {}): Obj => ({
  apiVersion: "spark.apache.org/v1",
  kind: "SparkApplication",
  metadata: { name, namespace: "default" },
  spec: { runtimeVersions: { sparkVersion: "4.2.0" }, mainClass: "Main", sparkConf: image, ...spec },
  ...(summary === undefined
    ? {}
    : {
        status: {
          currentState: { currentStateSummary: summary, lastTransitionTime: "2026-11-02T08:00:00Z" },
          stateTransitionHistory: { "0": { currentStateSummary: summary, lastTransitionTime: "2026-11-02T08:00:00Z" } },
        },
      }),
});

const opened = async (text: string | false, ...objects: readonly Obj[]): Promise<Terminal> => {
  const terminal = openTerminal();
  await make(terminal.simulator, ...objects);
  await install(terminal.simulator, text);
  return terminal;
};

const untouched = [["spark-kubernetes-operator 1"], [], []];

describe("migrate --family apache", () => {
  it("lists its properties as settings, its namespaces, and its objects by state", async () => {
    const terminal = await opened(properties, application("a", "RunningHealthy"), application("b"));
    const { code, out } = await terminal.run("migrate");
    for (const line of [
      /^Apache's Spark operator in example$/m,
      /^ {2}controller +spark-operator\/spark-kubernetes-operator +1 wanted, 1 there; apache\/spark-kubernetes-operator:1\.0\.0$/m,
      /^its properties$/m,
      /^ {2}spark\.kubernetes\.operator\.namespace=spark-operator +ignored: /m,
      /^its namespaces\n {2}default, team$/m,
      /watchedNamespaces=default,team +rekindle host --namespaces=default,team$/m,
      /operator\.name=spark-kubernetes-operator +rekindle host --apache-operator-name=spark-kubernetes-operator$/m,
      /metrics\.port=19090 +ignored: health, metrics and the page are served at --listen$/m,
      /^ {2}1 +SparkApplication +NEW +submitted$/m,
      /^ {2}1 +SparkApplication +RunningHealthy +adopted, and followed to its end$/m,
      /^ {2}hosts run these kinds only where they are chosen: .*rekindle host --families spark,volcano,apache$/m,
      /^nothing stands in the way: rekindle migrate --family apache --apply$/m,
    ])
      assert.match(out, line);
    assert.deepEqual([code, gist(terminal)], [0, untouched]);
  });

  const ways: readonly (readonly [why: string, text: string | false, spec: object, says: RegExp])[] = [
    [
      "properties that cannot be read",
      false,
      {},
      /its properties cannot be read \(spark-operator\.properties: no ConfigMap/,
    ],
    [
      "a property that nobody knows",
      `${properties}spark.kubernetes.operator.x=1\n`,
      {},
      /operator\.x: upstream has no such/,
    ],
    [
      "a changeable configuration",
      `${properties}spark.kubernetes.operator.dynamicConfig.enabled=true\n`,
      {},
      /dynamicConfig\.enabled: a running host reads no changed properties/,
    ],
    ["a spec that is refused", properties, { deploymentMode: "ClientMode" }, /default\/a: spec\.deploymentMode/],
  ];
  for (const [why, text, spec, says] of ways)
    it(`is blocked by ${why}, and changes nothing`, async () => {
      const terminal = await opened(text, application("a", undefined, spec));
      const { code, out } = await terminal.run("migrate", "--apply", "--yes");
      assert.match(out, says);
      assert.deepEqual([code, gist(terminal)], [1, untouched]);
    });

  it("stops the operator, and --undo starts it again", async () => {
    const terminal = await opened(properties, application("a", "RunningHealthy"));
    const before = terminal.simulator.store.list("sparkapplications.spark.apache.org");
    const { code, out } = await terminal.run("migrate", "--family", "apache", "--apply", "--yes");
    assert.match(out, /a host of Rekindle takes over 1 unfinished sparkapplications/);
    assert.deepEqual(
      [code, gist(terminal), holders(terminal.simulator)],
      [0, [["spark-kubernetes-operator 0"], [], ["rekindle-migration-apache"]], {}],
    );
    assert.equal((await terminal.run("migrate", "--undo", "--yes")).code, 0);
    assert.deepEqual(gist(terminal), untouched);
    assert.deepEqual(terminal.simulator.store.list("sparkapplications.spark.apache.org"), before);
  });
});
