/** Fields that admission writes into new pods: the gate of queue admission, and the settings of resource groups. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { podPatch, podsWrittenTo } from "../../../shared/kube/admission.ts";
import { resourceGroups } from "../../../shared/kube/resource-groups.ts";
import { creating, type Fields, reviewOf } from "../volcano/admission/reviews.ts";

const gate = "scheduling.volcano.sh/queue-allocation-gate";

const management = {
  resourceGroup: "management",
  object: { key: "namespace", value: ["mng", "team"] },
  schedulerName: "default-scheduler",
  tolerations: [{ effect: "NoSchedule", key: "taint", operator: "Exists" }],
  labels: { "volcano.sh/nodetype": "management" },
};

const gpu = { resourceGroup: "gpu", affinity: '{"nodeAffinity": {}}', labels: { pool: "gpu" } };

const cpu = { resourceGroup: "cpu", object: { key: "annotation", value: ['volcano.sh/type: "cpu"', "b: 2"] } };

const rules = (queueGate: boolean, ...groups: readonly object[]) => ({
  queueGate,
  groups: resourceGroups().parse(groups),
});

/** Returns the fields that are written into the pod's spec. */
const writtenInto = (spec: Fields, annotations: Fields | undefined, given: ReturnType<typeof rules>) => {
  const metadata = { name: "train", ...(annotations === undefined ? {} : { annotations }) };
  return Object.fromEntries(
    podPatch(creating("Pod", spec, metadata), given).map(({ op, path, value }) => [`${op} ${path}`, value]),
  );
};

const asks = { [gate]: "true" };
const volcano = { schedulerName: "volcano" };

describe("the gate of queue admission", () => {
  test("is written beside the gates of others into a pod that asks for it", () => {
    const gates = [{ name: "kueue.x-k8s.io/admission" }];
    assert.deepEqual(writtenInto({ ...volcano, schedulingGates: gates }, asks, rules(true)), {
      "add /spec/schedulingGates": [...gates, { name: gate }],
    });
  });

  const rows: readonly (readonly [what: string, spec: Fields, annotations: Fields | undefined, on: boolean])[] = [
    ["while it is off", volcano, asks, false],
    ["that does not ask", volcano, undefined, true],
    ["whose annotation says false", volcano, { [gate]: "false" }, true],
    ["that has it", { ...volcano, schedulingGates: [{ name: gate }] }, asks, true],
    ["that has a node", { ...volcano, nodeName: "n1" }, asks, true],
    [
      "that Kubernetes' own scheduler places, which takes no gate away",
      { schedulerName: "default-scheduler" },
      asks,
      true,
    ],
    ["that names no scheduler", {}, asks, true],
  ];
  for (const [what, spec, annotations, on] of rows)
    test(`is not written into a pod ${what}`, () => assert.deepEqual(writtenInto(spec, annotations, rules(on)), {}));

  test("goes by the scheduler that the pod's resource group says", () => {
    const away = { resourceGroup: "gpu", schedulerName: "default-scheduler" };
    const of = { ...asks, "volcano.sh/resource-group": "gpu" };
    assert.deepEqual(writtenInto(volcano, of, rules(true, away)), { "add /spec/schedulerName": "default-scheduler" });
  });
});

describe("a resource group", () => {
  test("of a namespace is written into each of its pods; what the pod says stays, but for the same label", () => {
    const own = { key: "own", operator: "Exists" };
    const spec = { ...volcano, nodeSelector: { disk: "ssd", "volcano.sh/nodetype": "batch" }, tolerations: [own] };
    assert.deepEqual(writtenInto(spec, undefined, rules(false, management)), {
      "add /spec/nodeSelector": { disk: "ssd", "volcano.sh/nodetype": "management" },
      "add /spec/tolerations": [own, ...management.tolerations],
      "add /spec/schedulerName": "default-scheduler",
    });
  });

  test("chooses pods by the annotation that names it, where nothing else is said", () => {
    const given = rules(false, gpu);
    assert.deepEqual(writtenInto({}, { "volcano.sh/resource-group": "gpu" }, given), {
      "add /spec/nodeSelector": { pool: "gpu" },
      "add /spec/affinity": { nodeAffinity: {} },
    });
    assert.deepEqual(writtenInto({}, { "volcano.sh/resource-group": "cpu" }, given), {});
  });

  test("by any of its annotations, and then by its name no more", () => {
    const given = rules(false, { ...cpu, schedulerName: "mine" });
    for (const annotations of [{ "volcano.sh/type": "cpu" }, { b: "2" }])
      assert.deepEqual(writtenInto({}, annotations, given), { "add /spec/schedulerName": "mine" });
    for (const annotations of [{ "volcano.sh/type": "gpu" }, { "volcano.sh/resource-group": "cpu" }])
      assert.deepEqual(writtenInto({}, annotations, given), {});
  });

  test("leaves the affinity of a pod alone, and writes a toleration once", () => {
    const taint = management.tolerations[0];
    const given = rules(false, { ...gpu, tolerations: management.tolerations, labels: {} });
    const spec = { affinity: {}, tolerations: [taint] };
    assert.deepEqual(writtenInto(spec, { "volcano.sh/resource-group": "gpu" }, given), {});
  });

  test("is the pod's own where it is the first that it belongs to", () => {
    const given = rules(false, gpu, management);
    const { "add /spec/nodeSelector": selector } = writtenInto({}, { "volcano.sh/resource-group": "gpu" }, given);
    assert.deepEqual(selector, { pool: "gpu" });
  });

  test("is written into new pods only", () => {
    const pod = { metadata: { name: "train" }, spec: {} };
    assert.deepEqual(podPatch(reviewOf("Pod", "UPDATE", pod), rules(true, management)), []);
    assert.deepEqual(podPatch(creating("Job", {}), rules(true, management)), []);
  });
});

describe("which pods the API server sends", () => {
  test("none, where nothing is written", () => assert.equal(podsWrittenTo(rules(false)), undefined));

  test("those that ask for the gate, and those of the groups", () => {
    const has = (key: string, value: string): string =>
      `(has(object.metadata.annotations) && "${key}" in object.metadata.annotations && object.metadata.annotations["${key}"] == "${value}")`;
    assert.equal(
      podsWrittenTo(rules(true, management, gpu, cpu)),
      [
        has(gate, "true"),
        'request.namespace in ["mng", "team"]',
        has("volcano.sh/resource-group", "gpu"),
        has("volcano.sh/type", "cpu"),
        has("b", "2"),
      ].join(" || "),
    );
  });
});

describe("resource groups that cannot be read", () => {
  const rows: readonly (readonly [given: unknown, says: RegExp])[] = [
    [{}, /^write a list of resource groups, such as/],
    [[{}], /^\[0\]\.resourceGroup: write a text$/],
    [[gpu, { ...gpu, labels: { pool: 1 } }], /^\[1\]\.labels\.pool: write a text$/],
    [[{ ...gpu, schedulername: "x" }], /^\[0\]: write a resource group: resourceGroup, object, schedulerName/],
    [[{ ...gpu, affinity: "{" }], /^\[0\]\.affinity: write the affinity as an object or as its JSON/],
    [[{ ...gpu, tolerations: [{ seconds: 3 }] }], /^\[0\]\.tolerations\[0\]: write a toleration: key, operator/],
    [
      [{ ...gpu, object: { key: "label", value: [] } }],
      /^\[0\]\.object\.?\w*: write key: namespace or key: annotation/,
    ],
    [
      [{ ...gpu, object: { key: "annotation", value: ["gpu"] } }],
      /^\[0\]\.object\.value\[0\]: write an annotation as KEY: VALUE/,
    ],
  ];
  for (const [given, says] of rows)
    test(`${JSON.stringify(given).slice(0, 60)} is told with its place`, () => {
      assert.match(resourceGroups().safeParse(given).error?.issues[0]?.message ?? "", says);
    });
});
