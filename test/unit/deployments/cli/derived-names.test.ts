/** Names of objects and values of labels that are derived from an object's name stay within the API server's bounds. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { rendered } from "../../../../shared/deployments/common/forecasts.ts";
import { defaultOptions } from "../../../../shared/spark/auxiliary-objects/options.ts";
import { nameErrorsIn } from "../../../support/object-names.ts";
import { good } from "../../spark/admission/reviews.ts";

const port = { servicePort: 65_535, servicePortName: "app", ingressURLFormat: "x.example.com/{{$appName}}" };
/** A ConfigMap with the longest name, which its volume takes over. */
const configMaps = [{ name: `${"c".repeat(120)}.${"m".repeat(120)}`, path: "/c" }];

const spec = {
  ...good,
  driver: { ...good.driver, configMaps },
  executor: { ...good.executor, configMaps },
  driverIngressOptions: [port],
  monitoring: {
    ...{ exposeDriverMetrics: true, exposeExecutorMetrics: true },
    prometheus: { jmxExporterJar: "/prometheus/jmx.jar", port: 8090 },
  },
};
const exposed = { ...defaultOptions, uiService: true, ingressUrlFormat: "{{$appName}}.example.com" };

/** Deployments whose objects have further names. */
const deployments = {
  "with ingresses": exposed,
  "with Volcano's groups": { ...exposed, batchScheduler: true, defaultBatchScheduler: "volcano", driverPdb: true },
  "with groups of coscheduling": {
    ...exposed,
    ...{ batchScheduler: true, defaultBatchScheduler: "sched", kubeSchedulerNames: ["sched"] },
  },
  "with groups of YuniKorn": { ...exposed, batchScheduler: true, defaultBatchScheduler: "yunikorn" },
};
const group = "sparkoperator.k8s.io";

/** All lengths around the limit of labels, and those around the limit of other names. */
const lengths = [...Array.from({ length: 70 }, (_, at) => at + 1), 128, 252, 253];

const kinds: readonly (readonly [kind: string, apiVersion: string, spec: object])[] = [
  ["SparkApplication", `${group}/v1beta2`, spec],
  ["ScheduledSparkApplication", `${group}/v1beta2`, { schedule: "@daily", template: spec }],
  [
    "SparkConnect",
    `${group}/v1alpha1`,
    { sparkVersion: "4.1.1", image: "spark:4.1.1", server: { cores: 1 }, executor: { instances: 1 } },
  ],
];

describe("the objects of a run", () => {
  for (const [deployment, options] of Object.entries(deployments))
    for (const [kind, apiVersion, given] of kinds) {
      test(`of a ${kind} ${deployment}, with a name of any length, have names and labels that the API server takes, or it is refused`, () => {
        const results = lengths.map((length) => {
          const metadata = { name: "n".repeat(length), namespace: "team" };
          return rendered({ apiVersion, kind, metadata, spec: given }, { attempt: 1, uid: "u", options });
        });
        const refusals = results.flatMap((result) => ("refused" in result ? [result.refused] : []));
        const objects = results.flatMap((result) => ("refused" in result ? [] : result.objects));
        for (const refusal of refusals) assert.match(refusal, /name/);
        assert.deepEqual(objects.flatMap(nameErrorsIn), []);
        assert.ok(refusals.length <= lengths.length - 40);
      });
    }

  test("of two applications with long names that begin alike have different names", () => {
    const namesOf = (last: string): readonly string[] => {
      const object = {
        apiVersion: `${group}/v1beta2`,
        kind: "SparkApplication",
        metadata: { name: `${"n".repeat(62)}${last}` },
        spec,
      };
      const result = rendered(object, { attempt: 1, uid: last, options: exposed });
      return "refused" in result ? [] : result.objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    };
    const [a, b] = [namesOf("a"), namesOf("b")];
    assert.ok(a.length >= 8);
    assert.deepEqual(
      a.filter((name) => b.includes(name)),
      [],
    );
  });
});
