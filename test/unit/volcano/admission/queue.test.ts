/** Admission of queues, alone and in their tree, and their defaults. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { AdmittedObject } from "../../../../shared/kube/admission.ts";
import { creating, type Fields, patchOf, reviewOf, said } from "./reviews.ts";

const queue = (name: string, spec: Fields = {}, more: Fields = {}): AdmittedObject => ({
  metadata: { name, ...Object(more["metadata"]) },
  spec,
  status: { state: "Open", ...Object(more["status"]) },
});

/** `top` holds `left` and `right`; `busy` has pods. */
const queues: readonly AdmittedObject[] = [
  queue("default"),
  queue("root"),
  queue("top", {
    parent: "root",
    capability: { cpu: "10", memory: "20Gi" },
    guarantee: { resource: { cpu: "4" } },
    deserved: { cpu: "8" },
  }),
  queue("left", {
    parent: "top",
    capability: { cpu: "8" },
    guarantee: { resource: { cpu: "2" } },
    deserved: { cpu: "4" },
  }),
  queue("right", { parent: "top", deserved: { cpu: "2" } }),
  queue("below", { parent: "left", capability: { cpu: "6" } }),
  queue("busy", { parent: "root" }, { status: { allocated: { pods: "2" } } }),
  queue("ring-a", { parent: "ring-b" }),
  queue("ring-b", { parent: "ring-a" }),
  queue(
    "old",
    {},
    { metadata: { annotations: { "volcano.sh/hierarchy": "root/a/b", "volcano.sh/hierarchy-weights": "1/1/1" } } },
  ),
];

const made = (spec: Fields, annotations: Readonly<Record<string, string>> = {}): string =>
  said(creating("Queue", spec, { name: "new", annotations }), { queues });

const placed = (hierarchy: string, weights: string) => ({
  "volcano.sh/hierarchy": hierarchy,
  "volcano.sh/hierarchy-weights": weights,
});

describe("a new queue", () => {
  const rows: readonly (readonly [
    what: string,
    spec: Fields,
    says: RegExp,
    annotations?: Readonly<Record<string, string>>,
  ])[] = [
    ["with an empty spec", {}, /^$/],
    ["below a queue without pods", { parent: "right" }, /^$/],
    ["below root, with a large capability", { parent: "root", capability: { cpu: "1000" } }, /^$/],
    [
      "below a queue that does not exist",
      { parent: "gone" },
      /^failed to get parent queue of queue new: queue\.scheduling\.volcano\.sh "gone" not found$/,
    ],
    ["below itself", { parent: "new" }, /^queue new cannot use itself as parent$/],
    [
      "below a queue with pods",
      { parent: "busy" },
      /^queue busy cannot be the parent queue of queue new because it has allocated Pods: 2$/,
    ],
    ["below a cycle of queues", { parent: "ring-a", capability: { cpu: "1" } }, /^$/],
    [
      "with a larger capability than its parent's",
      { parent: "top", capability: { cpu: "10500m" } },
      /^queue new capability\[cpu\]=10500m exceeds its ancestor's capability=10$/,
    ],
    [
      "with more memory than an ancestor's capability",
      { parent: "left", capability: { memory: "30Gi" } },
      /^queue new capability\[memory\]=30Gi exceeds its ancestor's capability=20Gi$/,
    ],
    [
      "that guarantees more than is left",
      { parent: "top", guarantee: { resource: { cpu: "3" } }, deserved: { cpu: "3" } },
      /^parent queue top validation failed: sum of children's guarantee \(cpu 5000\.00, memory 0\.00\) exceeds parent's guarantee limit \(cpu 4000\.00, memory 0\.00\)$/,
    ],
    [
      "that deserves more than is left",
      { parent: "top", deserved: { cpu: "3" } },
      /^parent queue top validation failed: sum of children's deserved \(cpu 9000\.00, /,
    ],
    [
      "with a guarantee without a deserved amount",
      { guarantee: { resource: { cpu: "1" } } },
      /deserved\.cpu: Invalid value: "<nil>": deserved\[cpu\] must be >= guarantee\[cpu\]=1$/,
    ],
    [
      "with a guarantee above its deserved amount",
      { guarantee: { resource: { cpu: "2" } }, deserved: { cpu: "1500m" } },
      /deserved\[cpu\]=1500m must be >= guarantee\[cpu\]=2$/,
    ],
    [
      "with a deserved amount above its capability",
      { deserved: { cpu: "2" }, capability: { cpu: "1" } },
      /deserved\[cpu\]=2 must be <= capability\[cpu\]=1$/,
    ],
    [
      "with a negative amount",
      { capability: { cpu: "-1" } },
      /^requestBody\.spec\.capability\.cpu: Invalid value: "-1": must be greater than or equal to 0$/,
    ],
    [
      "with half a pod",
      { capability: { pods: "500m" } },
      /capability\.pods: Invalid value: "500m": must be an integer$/,
    ],
    [
      "with two faults",
      { capability: { cpu: "-1", memory: "-1" } },
      /^\[requestBody\.spec\.capability\.cpu: .*, requestBody\.spec\.capability\.memory: .*\]$/,
    ],
    [
      "with a text that is no amount",
      { capability: { cpu: "lots" } },
      /^spec\.capability\.cpu must be an amount such as 500m or 2Gi, not "lots"$/,
    ],
    [
      "with an amount that is too large for Kubernetes",
      { deserved: { cpu: "999999999E" } },
      /^spec\.deserved\.cpu is more than Kubernetes can count/,
    ],
    ["with a weight as a text", { weight: "1" }, /queue\.spec\.weight must be a number/],
    [
      "with another number of weights",
      {},
      /volcano\.sh\/hierarchy must have the same length with volcano\.sh\/hierarchy-weights$/,
      placed("root/x", "1"),
    ],
    ["with a weight of 0", {}, /: 0 in the 1\/0 must be larger than 0$/, placed("root/x", "1/0")],
    [
      "with an empty weight",
      {},
      /is invalid number: strconv\.ParseFloat: parsing "": invalid syntax$/,
      placed("root/x", "1/"),
    ],
    [
      "with a weight out of range",
      {},
      /strconv\.ParseFloat: parsing "1e999": value out of range$/,
      placed("root/x", "1/1e999"),
    ],
    [
      "whose path contains the path of another queue",
      {},
      /root\/a is not allowed to be in the sub path of root\/a\/b of queue old$/,
      placed("root/a", "1/1"),
    ],
    ["whose path only begins with the same text", {}, /^$/, placed("root/a/bc", "1/1/1")],
  ];
  for (const [what, spec, says, annotations] of rows) test(what, () => assert.match(made(spec, annotations), says));

  test("is checked alone if the other queues cannot be read", () => {
    assert.equal(said(creating("Queue", { parent: "gone" })), "");
    assert.match(said(creating("Queue", { capability: { cpu: "-1" } })), /must be greater than or equal to 0/);
  });

  test("gets upstream's defaults, once", () => {
    const request = creating("Queue", { weight: 0 }, { name: "new", annotations: placed("a/b", "2/3") });
    assert.deepEqual(patchOf(request), [
      { op: "replace", path: "/metadata/annotations/volcano.sh~1hierarchy", value: "root/a/b" },
      { op: "replace", path: "/metadata/annotations/volcano.sh~1hierarchy-weights", value: "1/2/3" },
      { op: "replace", path: "/spec/weight", value: 1 },
      { op: "add", path: "/spec/reclaimable", value: true },
    ]);
    const whole = { weight: 2, reclaimable: false };
    assert.deepEqual(patchOf(creating("Queue", whole, { name: "new", annotations: placed("root/b", "2/3") })), []);
    assert.deepEqual(patchOf({ ...request, operation: "UPDATE" }), []);
  });
});

const top = queues[2] ?? queue("top");

const changed = (spec: Fields, before: AdmittedObject = top): string =>
  said(
    reviewOf("Queue", "UPDATE", { ...before, spec: { ...Object(before["spec"]), ...spec } }, { oldObject: before }),
    { queues },
  );

describe("a changed queue", () => {
  const rows: readonly (readonly [what: string, says: string, wanted: RegExp])[] = [
    ["without a change", changed({}), /^$/],
    ["with another weight", changed({ weight: 7 }), /^$/],
    [
      "with a capability below a child's",
      changed({ capability: { cpu: "7" }, deserved: { cpu: "7" } }),
      /^queue top capability\[cpu\]=7 is smaller than its descendants' max capability=8$/,
    ],
    [
      "with a deserved amount below its children's",
      changed({ deserved: { cpu: "5" } }),
      /^queue top validation failed: sum of children's deserved \(cpu 6000\.00/,
    ],
    ["moved below itself", changed({ parent: "top" }), /cannot use itself as parent/],
    [
      "with an unknown state",
      said(reviewOf("Queue", "UPDATE", { ...top, status: { state: "Ajar" } }, { oldObject: top }), { queues }),
      /"Ajar": queue state must be in \[Open Closed\]$/,
    ],
    ["root, with any spec", changed({ capability: { cpu: "1" } }, queue("root")), /^$/],
  ];
  for (const [what, says, wanted] of rows) test(what, () => assert.match(says, wanted));
});

describe("the deletion of the queue", () => {
  const removed = (name: string): string =>
    said(reviewOf("Queue", "DELETE", { metadata: { name } }, { name, object: null, oldObject: queue(name) }), {
      queues,
    });
  const rows: readonly (readonly [string, RegExp])[] = [
    ["default", /^`default` queue can not be deleted$/],
    ["root", /^`root` queue can not be deleted$/],
    ["top", /^queue top can not be deleted because it has 2 child queues: left, right$/],
    ["busy", /^$/],
    ["right", /^$/],
  ];
  for (const [name, says] of rows) test(name, () => assert.match(removed(name), says));
});
