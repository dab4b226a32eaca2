/** The resources of an application against a ResourceQuota, as upstream counts them. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { exceeded, requestsOf, withinQuotas } from "../../../../shared/spark/admission/review.ts";
import { specSchema } from "../../../../shared/spark/schema/application.ts";
import { creating, good, saidBy } from "./reviews.ts";

const requests = (changes: object) => requestsOf(specSchema.parse({ ...good, ...changes }));
const mebi = 2 ** 20;

describe("the resource requests of an application include", () => {
  const rows: readonly (readonly [string, object, Readonly<Record<string, number>>])[] = [
    [
      "upstream's overhead factor, except for Java",
      {},
      { cpu: 2, "requests.cpu": 2, "limits.cpu": 2, memory: 2 * Math.floor(1024 * mebi * 1.4) },
    ],
    ["upstream's minimum overhead for Java", { type: "Java" }, { memory: 2 * (1024 + 384) * mebi }],
    [
      "the spec's overhead factor",
      { memoryOverheadFactor: "0.5" },
      { memory: 2 * 1536 * mebi, "requests.memory": 2 * 1536 * mebi, "limits.memory": 2 * 1536 * mebi },
    ],
    [
      "the executors' overhead, once for each instance",
      { executor: { cores: 2, memory: "512m", memoryOverhead: "100m", instances: 10 }, type: "Java" },
      { cpu: 21, memory: (1024 + 384 + 10 * 612) * mebi },
    ],
    ["the core limit", { driver: { cores: 1, coreLimit: "1500m" } }, { cpu: 2, "limits.cpu": 2.5 }],
    [
      "default cores and memory",
      { driver: {}, executor: {}, type: "Java" },
      { cpu: 2, memory: 2 * (1024 + 384) * mebi },
    ],
  ];
  for (const [what, changes, wanted] of rows)
    test(what, () => {
      const got = requests(changes);
      for (const [name, amount] of Object.entries(wanted)) assert.equal(got[name], amount, name);
    });
});

const quota = (hard: object, used: object, more: object = {}) => ({
  metadata: { name: "small", namespace: "team" },
  spec: { hard, ...more },
  status: { hard, used },
});

describe("resource quotas", () => {
  const rows: readonly (readonly [string, object, number])[] = [
    ["requests equal to the free amount", quota({ cpu: "4" }, { cpu: "2" }), 0],
    ["requests slightly above the free amount", quota({ cpu: "3999m" }, { cpu: "2" }), 1],
    ["memory", quota({ "requests.memory": "2Gi" }, {}), 1],
    ["limits", quota({ "limits.cpu": "1" }, {}), 1],
    ["resources that admission does not count", quota({ pods: "0", "count/sparkapplications": "0" }, {}), 0],
    ["scopes", quota({ cpu: "0" }, {}, { scopes: ["BestEffort"] }), 0],
    ["a scope selector", quota({ cpu: "0" }, {}, { scopeSelector: { matchExpressions: [] } }), 0],
    ["a quota without a status", { ...quota({ cpu: "0" }, {}), status: {} }, 0],
    ["an invalid quota", { metadata: { name: "x" }, spec: "none" }, 0],
  ];
  for (const [what, given, count] of rows)
    test(`${what}: ${count} exceeded`, () => assert.equal(exceeded(requests({}), [given]).length, count));

  test("appear in a refusal with upstream's text and the exceeded resource", () => {
    assert.deepEqual(exceeded(requests({}), [quota({ "requests.cpu": "3" }, { "requests.cpu": "2" })]), [
      'failed to validate resource quota "team/small": requests.cpu: 2 more than the 2 in use exceed 3',
    ]);
  });
});

describe("a change of an application", () => {
  const allowed = { allowed: true, patch: [], warnings: [] } as const;
  const before = (state: string) => ({
    metadata: { name: "app" },
    spec: good,
    status: { applicationState: { state } },
  });
  const change = (spec: unknown, state: string) => ({
    ...creating("SparkApplication", spec),
    operation: "UPDATE",
    oldObject: before(state),
  });
  const full = quota({ cpu: "2" }, { cpu: "2" });
  const more = { ...good, executor: { cores: 3 } };
  const rows = [
    ["that runs, with as much as before", change({ ...good, arguments: ["x"] }, "RUNNING"), true],
    ["that runs, with more", change(more, "RUNNING"), false],
    ["that does not run", change({ ...good, arguments: ["x"] }, "COMPLETED"), false],
  ] as const;
  for (const [what, request, fits] of rows)
    test(`${what}: ${fits ? "fits the quota" : "exceeds the quota"}`, () => {
      assert.equal(withinQuotas([full], request, allowed).allowed, fits);
    });

  test("that is refused for another reason keeps that reason", () => {
    assert.equal(saidBy(withinQuotas([full], change(more, ""), { allowed: false, message: "no" })), "no");
  });
});
