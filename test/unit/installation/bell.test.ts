/** The webhook configuration of the bell: it covers every watch of every kind, refuses nothing, and stays within its namespaces. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parse } from "yaml";
import * as z from "zod";
import { type BellRegistration, bellConfiguration } from "../../../shared/installation/bell.ts";
import { expressionsOf } from "../../../shared/kube/selector.ts";
import { watchers } from "../../../shared/registry/watchers.ts";
import { openTerminal } from "../cli/terminal.ts";

const expression = z.object({ key: z.string(), operator: z.string(), values: z.array(z.string()).optional() });
const selector = z.object({ matchExpressions: z.array(expression) });
const webhook = z.strictObject({
  name: z.string().regex(/^part-\d+\.bell\.rekindle\.dev$/),
  clientConfig: z.strictObject({ url: z.string() }),
  rules: z.array(
    z.strictObject({
      operations: z.array(z.string()),
      apiGroups: z.tuple([z.string()]),
      apiVersions: z.tuple([z.string()]),
      resources: z.array(z.string()),
      scope: z.literal("*"),
    }),
  ),
  namespaceSelector: selector.optional(),
  objectSelector: selector.optional(),
  matchConditions: z.array(z.strictObject({ name: z.string(), expression: z.string() })),
  admissionReviewVersions: z.tuple([z.literal("v1")]),
  sideEffects: z.literal("NoneOnDryRun"),
  failurePolicy: z.literal("Ignore"),
  timeoutSeconds: z.literal(2),
});
const configuration = z.object({ kind: z.literal("ValidatingWebhookConfiguration"), webhooks: z.array(webhook) });

const usual: BellRegistration = {
  url: "https://bell.example/secret/",
  families: ["spark", "volcano", "apache"],
  nodes: false,
  namespaces: [],
};

const entriesOf = (more: Partial<BellRegistration> = {}) =>
  configuration.parse(bellConfiguration({ ...usual, ...more })).webhooks;

const resourcesOf = (entries: ReturnType<typeof entriesOf>): readonly string[] =>
  entries.flatMap(({ rules }) => rules.flatMap(({ resources }) => resources));

describe("the configuration of the bell", () => {
  for (const { kind, watches } of watchers)
    for (const { resource, selector: labels = "", field } of watches)
      test(`covers what ${kind} watches of ${resource.plural} ${labels} ${field ?? ""}`, () => {
        const covering = entriesOf().filter(({ rules, objectSelector }) => {
          const isRule = rules.some(
            ({ apiGroups, apiVersions, resources, operations }) =>
              apiGroups[0] === resource.group &&
              apiVersions[0] === resource.version &&
              operations.length === 3 &&
              resources.includes(resource.plural) &&
              resources.includes(`${resource.plural}/status`),
          );
          return (
            isRule && JSON.stringify(objectSelector?.matchExpressions ?? []) === JSON.stringify(expressionsOf(labels))
          );
        });
        assert.equal(covering.length, 1);
        assert.equal(covering[0]?.matchConditions.length, field === undefined ? 1 : 2);
      });

  test("has a name for each entry, and one URL", () => {
    const entries = entriesOf({ nodes: true });
    assert.equal(new Set(entries.map(({ name }) => name)).size, entries.length);
    assert.deepEqual(
      [...new Set(entries.map(({ clientConfig }) => clientConfig.url))],
      ["https://bell.example/secret/bell"],
    );
  });

  test("sends each eviction, which has no labels, and deleted nodes only if executors leave nodes", () => {
    const eviction = entriesOf().find(({ rules }) => rules[0]?.resources[0] === "pods/eviction");
    assert.deepEqual([eviction?.objectSelector, eviction?.rules[0]?.operations], [undefined, ["CREATE"]]);
    assert.ok(!resourcesOf(entriesOf()).includes("nodes"));
    const node = entriesOf({ nodes: true }).find(({ rules }) => rules[0]?.resources[0] === "nodes");
    assert.deepEqual(node?.rules[0]?.operations, ["DELETE"]);
  });

  test("is that of the chosen families", () => {
    assert.ok(!resourcesOf(entriesOf({ families: ["spark"] })).includes("jobs"));
    assert.ok(!resourcesOf(entriesOf({ families: ["volcano"] })).includes("sparkapplications"));
  });

  test("sends what is in the namespaces of the deployment alone", () => {
    const labelled = entriesOf({ namespaceSelector: "spark=enabled" });
    for (const [entries, key] of [
      [entriesOf({ namespaces: ["a"] }), "kubernetes.io/metadata.name"],
      [labelled, "spark"],
    ] as const)
      assert.deepEqual([...new Set(entries.map((one) => one.namespaceSelector?.matchExpressions[0]?.key))], [key]);
  });

  test("is printed by manifests, and refused for an URL that the API server would not call", async () => {
    const { out } = await openTerminal().run("manifests", "--bell-url=https://bell.example/secret", "--family=spark");
    assert.deepEqual(configuration.parse(parse(out)).webhooks, entriesOf({ families: ["spark"] }));
    const { code, err } = await openTerminal().run("manifests", "--bell-url=http://bell.example");
    assert.equal(code, 1);
    assert.match(err, /is not an https:\/\/ URL/);
  });
});
