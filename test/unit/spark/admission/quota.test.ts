/** The usage of an application's first pods against a ResourceQuota. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { noPodDefaults, podDefaultsOf } from "../../../../shared/kube/pod-defaults.ts";
import { exceeded } from "../../../../shared/spark/admission/quota.ts";
import { amountsOf, isCounted, withinQuotas } from "../../../../shared/spark/admission/review.ts";
import { creating, good, saidBy } from "./reviews.ts";

const named = { name: "app", namespace: "team" };
const kind = { kind: "SparkApplication" };
const requests = (changes: object, confs: Readonly<Record<string, string>> = {}) =>
  amountsOf(kind, { metadata: { name: "app" }, spec: { ...good, ...changes } }, named, { confs });
const estimated = (changes: object) =>
  amountsOf(kind, { metadata: { name: "app" }, spec: { ...good, ...changes } }, named, { confs: {}, estimate: true });
const mebi = 2 ** 20;
const room = (one: object) => ({ quotas: [one], defaults: noPodDefaults });

describe("the usage of an application's first pods has", () => {
  const rows: readonly (readonly [string, object, Readonly<Record<string, number>>])[] = [
    [
      "the overhead of programs for the JVM, Scala's too",
      {},
      { pods: 2, cpu: 2, "requests.cpu": 2, memory: 2 * (1024 + 384) * mebi, "limits.memory": 2 * (1024 + 384) * mebi },
    ],
    [
      "the overhead of Python",
      { type: "Python", mainApplicationFile: "local:///opt/app.py" },
      { memory: 2 * Math.floor(1024 * 1.4) * mebi },
    ],
    [
      "the executors' overhead, once for each instance",
      { executor: { cores: 2, memory: "512m", memoryOverhead: "100m", instances: 10 }, type: "Java" },
      { pods: 11, cpu: 21, memory: (1024 + 384 + 10 * 612) * mebi },
    ],
    [
      "coreRequest in place of cores",
      { driver: { coreRequest: "100m" }, executor: { cores: 4, coreRequest: "100m", instances: 5 } },
      { cpu: 0.6, "requests.cpu": 0.6 },
    ],
    [
      "the core limit of the pods that have one",
      { driver: { cores: 1, coreLimit: "1500m" } },
      { cpu: 2, "limits.cpu": 1.5 },
    ],
    [
      "amounts and instances of confs",
      {
        sparkConf: {
          ...{ "spark.driver.memory": "2g", "spark.executor.memory": "4g" },
          ...{ "spark.executor.instances": "10", "spark.executor.cores": "4" },
        },
        ...{ driver: {}, executor: {} },
      },
      { pods: 11, cpu: 41, memory: (2048 + 384 + 10 * (4096 + 409)) * mebi },
    ],
    [
      "the initial executors of dynamic allocation, which are at least the minimum",
      { dynamicAllocation: { enabled: true, initialExecutors: 20, minExecutors: 20, maxExecutors: 40 } },
      { pods: 21, cpu: 21 },
    ],
    [
      "the minimum of dynamic allocation in confs",
      { sparkConf: { "spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.minExecutors": "3" } },
      { pods: 4 },
    ],
    [
      "containers beside Spark's, a limit standing for the request",
      {
        driver: { sidecars: [{ name: "proxy", image: "x", resources: { limits: { cpu: "500m", "x.org/gpu": "2" } } }] },
      },
      { "requests.cpu": 2.5, "requests.x.org/gpu": 2 },
    ],
  ];
  for (const [what, changes, wanted] of rows)
    test(what, () => {
      const got = requests(changes);
      for (const [name, amount] of Object.entries(wanted)) assert.equal(got[name], amount, name);
    });

  test("the amounts of the deployment's default confs", () => {
    assert.equal(requests({ driver: {}, executor: {} }, { "spark.executor.instances": "7" })["pods"], 8);
  });

  test("nothing where the application cannot be submitted: its own rule refuses it", () => {
    assert.deepEqual(requests({ sparkConf: { "spark.master": "x" } }), {});
  });
});

describe("upstream's estimate, where the deployment asks for it, has", () => {
  const rows: readonly (readonly [string, object, Readonly<Record<string, number>>])[] = [
    [
      "its overhead factor, except for Java",
      {},
      { cpu: 2, "requests.cpu": 2, "limits.cpu": 2, memory: 2 * Math.floor(1024 * mebi * 1.4) },
    ],
    ["its minimum overhead for Java", { type: "Java" }, { memory: 2 * (1024 + 384) * mebi }],
    ["the spec's overhead factor", { memoryOverheadFactor: "0.5" }, { "limits.memory": 2 * 1536 * mebi }],
    [
      "the executors' overhead, once for each instance",
      { executor: { cores: 2, memory: "512m", memoryOverhead: "100m", instances: 10 }, type: "Java" },
      { cpu: 21, memory: (1024 + 384 + 10 * 612) * mebi },
    ],
    ["the core limit", { driver: { cores: 1, coreLimit: "1500m" } }, { cpu: 2, "limits.cpu": 2.5 }],
    [
      "neither coreRequest nor confs nor dynamic allocation",
      {
        driver: { coreRequest: "100m" },
        sparkConf: { "spark.executor.instances": "10" },
        dynamicAllocation: { enabled: true, minExecutors: 20 },
      },
      { cpu: 2 },
    ],
  ];
  for (const [what, changes, wanted] of rows)
    test(what, () => {
      const got = estimated(changes);
      for (const [name, amount] of Object.entries(wanted)) assert.equal(got[name], amount, name);
      assert.equal(got["pods"], undefined);
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
    ["limits", quota({ "limits.memory": "1Gi" }, {}), 1],
    ["pods", quota({ pods: "1" }, {}), 1],
    ["resources that no pod uses", quota({ services: "0", "count/sparkapplications": "0" }, {}), 0],
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

describe("a quota that wants amounts stated is told", () => {
  const allowed = { allowed: true, patch: [], warnings: ["first"] } as const;
  const warned = (hard: object, changes: object = {}) =>
    saidBy(
      withinQuotas(room(quota(hard, {})), creating("SparkApplication", { ...good, ...changes }), {
        ...{ verdict: allowed, confs: {} },
      }),
    );
  const sidecar = (resources: object) => ({
    driver: { ...good.driver, sidecars: [{ name: "proxy", image: "x", resources }] },
  });

  const rows: readonly (readonly [what: string, hard: object, changes: object, says: string])[] = [
    [
      "of the core limit that neither pod has",
      { "limits.cpu": "9" },
      {},
      'quota "team/small" wants every container to state its amounts, and the spec states none for limits.cpu of spark-kubernetes-driver, spark-kubernetes-executor: state them,',
    ],
    [
      "of executors alone",
      { "limits.cpu": "9" },
      { driver: { ...good.driver, coreLimit: "1" } },
      "none for limits.cpu of spark-kubernetes-executor: ",
    ],
    ["of a sidecar", { memory: "9Gi" }, sidecar({ requests: { cpu: "1" } }), "none for memory of proxy: "],
  ];
  for (const [what, hard, changes, says] of rows)
    test(what, () => {
      const found = warned(hard, changes);
      assert.ok(found.startsWith("warning: first\n") && found.includes(says), found);
    });

  test("not where each container states it, by its limit too, and not of other resources", () => {
    assert.equal(
      warned({ cpu: "9", "requests.memory": "9Gi", pods: "9", "requests.x.org/gpu": "1" }),
      "warning: first",
    );
    assert.equal(warned({ cpu: "9" }, sidecar({ limits: { cpu: "1" } })), "warning: first");
  });

  test("of a SparkConnect's server, which has only what its template states", () => {
    const spec = { sparkVersion: "4.1.1", image: "spark:4.1.1", server: { cores: 2, memory: "4g" }, executor: {} };
    const counting = { verdict: allowed, confs: {} };
    const found = saidBy(
      withinQuotas(room(quota({ "requests.cpu": "9" }, {})), creating("SparkConnect", spec), counting),
    );
    assert.match(found, /none for requests\.cpu of spark-kubernetes-driver: state them/);
  });
});

describe("pods that the API server changes when they are created", () => {
  const allowed = { allowed: true, patch: [], warnings: [] } as const;
  const metadata = { name: "one", namespace: "team", uid: "u", resourceVersion: "1" };
  const item = { type: "Container", default: { cpu: "3" }, defaultRequest: { "x.org/licence": "1" } };
  const range = { apiVersion: "v1", kind: "LimitRange", metadata, spec: { limits: [item] } };
  const foreign = { ...range, metadata: { ...metadata, namespace: "other" } };
  const runtime = { apiVersion: "node.k8s.io/v1", kind: "RuntimeClass", metadata: { ...metadata, name: "kata" } };
  const classed = { ...runtime, overhead: { podFixed: { cpu: "500m", memory: "256Mi" } } };
  const template = { spec: { runtimeClassName: "kata" } };
  const confined = { driver: { ...good.driver, template }, executor: { ...good.executor, template } };
  const judged = (hard: object, changes: object, ranges = [range], estimate = false) => {
    const defaults = podDefaultsOf(ranges, [classed]);
    const request = { ...creating("SparkApplication", { ...good, ...changes }), namespace: "team" };
    return saidBy(
      withinQuotas({ quotas: [quota(hard, {})], defaults }, request, { verdict: allowed, confs: {}, estimate }),
    );
  };

  const rows: readonly (readonly [what: string, hard: object, changes: object, says: RegExp])[] = [
    ["the limit of a LimitRange", { "limits.cpu": "5" }, {}, /limits\.cpu: 6 more than the 0 in use exceed 5/],
    ["a request of a LimitRange", { "requests.x.org/licence": "1" }, {}, /licence: 2 more than the 0 in use exceed 1/],
    ["the overhead of a RuntimeClass", { "requests.cpu": "2500m" }, confined, /requests\.cpu: 3 more than the 0/],
  ];
  for (const [what, hard, changes, says] of rows)
    test(`count with ${what}`, () => assert.match(judged(hard, changes), says));

  test("count as they are planned without any, and by upstream's estimate", () => {
    assert.equal(judged({ "requests.x.org/licence": "1" }, {}, [foreign]), "");
    assert.equal(judged({ "requests.cpu": "2" }, confined, [range], true), "");
  });

  test("state what a LimitRange of their namespace states", () => {
    assert.equal(judged({ "limits.cpu": "9" }, {}), "");
    assert.match(judged({ "limits.cpu": "9" }, {}, [foreign]), /none for limits\.cpu/);
  });
});

describe("a new SparkConnect", () => {
  const allowed = { allowed: true, patch: [], warnings: [] } as const;
  const resources = { requests: { cpu: "2", memory: "4Gi" } };
  const template = { spec: { containers: [{ name: "spark-kubernetes-driver", resources }] } };
  const server = { sparkVersion: "4.1.1", image: "spark:4.1.1", server: { template }, executor: {} };
  const judged = (hard: object, estimate = false, spec: object = server) => {
    const request = creating("SparkConnect", spec);
    assert.ok(isCounted(request));
    return saidBy(withinQuotas(room(quota(hard, {})), request, { verdict: allowed, confs: {}, estimate }));
  };

  test("is refused where its server's pod exceeds a quota", () => {
    assert.match(judged({ "requests.cpu": "1" }), /requests\.cpu: 2 more than the 0 in use exceed 1/);
    assert.match(judged({ "requests.memory": "1Gi" }), /requests\.memory/);
  });

  test("fits with its server's pod alone: its executors come when it runs", () => {
    assert.equal(judged({ pods: "1", "requests.cpu": "2" }), "");
  });

  test("is counted by no estimate, for upstream counts none, and not with a spec that nothing can run", () => {
    assert.equal(judged({ "requests.cpu": "1" }, true), "");
    assert.equal(judged({ "requests.cpu": "1" }, false, { ...server, sparkVersion: 4 }), "");
  });

  test("is counted once: a change of it is not", () => {
    assert.ok(!isCounted({ ...creating("SparkConnect", server), operation: "UPDATE" }));
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
      assert.equal(withinQuotas(room(full), request, { verdict: allowed, confs: {} }).allowed, fits);
    });

  test("that is refused for another reason keeps that reason", () => {
    assert.equal(
      saidBy(withinQuotas(room(full), change(more, ""), { verdict: { allowed: false, message: "no" }, confs: {} })),
      "no",
    );
  });
});
