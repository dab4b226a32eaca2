/** Names of objects and values of labels that are derived from an object's name stay within the API server's bounds. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Obj } from "../../../../shared/core/object.ts";
import { rendered } from "../../../../shared/deployments/cli/render.ts";
import { labelErrors, qualifiedNameErrors, subdomainErrors } from "../../../../shared/kube/names.ts";
import { defaultOptions } from "../../../../shared/spark/auxiliary-objects/options.ts";
import { good } from "../../spark/admission/reviews.ts";

const port = { servicePort: 65_535, servicePortName: "app", ingressURLFormat: "x.example.com/{{$appName}}" };
const spec = {
  ...good,
  driverIngressOptions: [port],
  monitoring: {
    ...{ exposeDriverMetrics: true, exposeExecutorMetrics: true },
    prometheus: { jmxExporterJar: "/prometheus/jmx.jar", port: 8090 },
  },
};
const options = { ...defaultOptions, uiService: true, ingressUrlFormat: "{{$appName}}.example.com" };
const group = "sparkoperator.k8s.io";

const kinds: readonly (readonly [kind: string, apiVersion: string, spec: object])[] = [
  ["SparkApplication", `${group}/v1beta2`, spec],
  ["ScheduledSparkApplication", `${group}/v1beta2`, { schedule: "@daily", template: spec }],
  [
    "SparkConnect",
    `${group}/v1alpha1`,
    { sparkVersion: "4.1.1", image: "spark:4.1.1", server: { cores: 1 }, executor: { instances: 1 } },
  ],
];

/** Services' names are labels of DNS; other names here are subdomains. */
const nameErrors = (kind: string, name: string): readonly string[] =>
  (kind === "Service" ? labelErrors : subdomainErrors)(name);

const errorsOf = ({ kind, metadata: { name = "", labels = {} } }: Obj): readonly string[] => [
  ...nameErrors(kind, name),
  ...Object.values(labels).flatMap((value) => (value === "" ? [] : qualifiedNameErrors(value))),
];

describe("the objects of a run", () => {
  for (const [kind, apiVersion, given] of kinds) {
    test(`of a ${kind} with a name of any length have names and labels that the API server takes, or it is refused`, () => {
      const results = Array.from({ length: 253 }, (_, at) => {
        const metadata = { name: "n".repeat(at + 1), namespace: "team" };
        return rendered({ apiVersion, kind, metadata, spec: given }, { attempt: 1, uid: "u", options });
      });
      const refusals = results.flatMap((result) => ("refused" in result ? [result.refused] : []));
      const objects = results.flatMap((result) => ("refused" in result ? [] : result.objects));
      for (const refusal of refusals) assert.match(refusal, /name/);
      assert.deepEqual(objects.flatMap(errorsOf), []);
      assert.ok(refusals.length <= 253 - 40);
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
      const result = rendered(object, { attempt: 1, uid: last, options });
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
