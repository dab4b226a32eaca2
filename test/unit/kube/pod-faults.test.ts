/** The faults for which the API server refuses a pod, each told with its remedy; sound pods have none. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { earlyReferences, podFaults } from "../../../shared/kube/pod-faults.ts";

const pod = (spec: object, metadata: object = {}) => ({
  ...{ apiVersion: "v1", kind: "Pod", metadata: { name: "p", ...metadata } },
  spec: { containers: [{ name: "a", image: "x" }], ...spec },
});

const container = (more: object) => pod({ containers: [{ name: "a", image: "x", ...more }], volumes: [{ name: "v" }] });

const affinity = (expression: object) => {
  const required = { nodeSelectorTerms: [{ matchExpressions: [{ key: "k", ...expression }] }] };
  return pod({ affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } } });
};

const refused: readonly (readonly [what: string, pod: ReturnType<typeof pod>, says: RegExp])[] = [
  ["a name in capitals", pod({}, { name: "A_b" }), /its name is "A_b"/],
  ["a label's value with a space", pod({}, { labels: { a: "b c" } }), /the label a has the value "b c"/],
  ["a label's key with a space", pod({}, { labels: { "a b": "" } }), /the key "a b"/],
  ["an annotation's key with two slashes", pod({}, { annotations: { "a/b/c": "" } }), /the key "a\/b\/c"/],
  ["two containers of one name", pod({ initContainers: [{ name: "a", image: "x" }] }), /two containers named "a"/],
  ["a container without an image", pod({ containers: [{ name: "a" }] }), /container "a": it has no image/],
  ["a container's name in capitals", pod({ containers: [{ name: "A", image: "x" }] }), /container "A": its name/],
  ["a variable with =", container({ env: [{ name: "A=B" }] }), /the variable "A=B"/],
  ["a variable without a name", container({ env: [{ name: "" }] }), /the variable ""/],
  ["a port's name of 16", container({ ports: [{ name: "p".repeat(16) }] }), /a port is named "p{16}"/],
  ["a port's name of digits", container({ ports: [{ name: "80" }] }), /a port is named "80"/],
  ["two ports of one name", container({ ports: [{ name: "p" }, { name: "p" }] }), /two ports named "p"/],
  ["a mount of no volume", container({ volumeMounts: [{ name: "w", mountPath: "/w" }] }), /it mounts "w"/],
  [
    "two mounts at one path",
    container({
      volumeMounts: [
        { name: "v", mountPath: "/v" },
        { name: "v", mountPath: "/v" },
      ],
    }),
    /two mounts at "\/v"/,
  ],
  [
    "a request above its limit",
    container({ resources: { requests: { memory: "2Gi" }, limits: { memory: "1024Mi" } } }),
    /it requests 2Gi of memory, and its limit is 1Gi/,
  ],
  ["a hook without a handler", container({ lifecycle: { preStop: {} } }), /lifecycle\.preStop has no handler/],
  ["a negative id", container({ securityContext: { runAsUser: -1 } }), /securityContext\.runAsUser is -1/],
  ["two volumes of one name", pod({ volumes: [{ name: "v" }, { name: "v" }] }), /two volumes named "v"/],
  ["a volume of two sources", pod({ volumes: [{ name: "v", emptyDir: {}, secret: {} }] }), /"v" has 2 sources/],
  ["a toleration's operator", pod({ tolerations: [{ key: "k", operator: "Is" }] }), /the operator "Is"/],
  [
    "a toleration's value beside Exists",
    pod({ tolerations: [{ key: "k", operator: "Exists", value: "v" }] }),
    /Exists has no value/,
  ],
  ["a toleration's effect", pod({ tolerations: [{ key: "k", effect: "None" }] }), /the effect "None"/],
  ["a toleration of no key", pod({ tolerations: [{ value: "v" }] }), /without a key the operator is Exists/],
  [
    "a toleration's seconds without NoExecute",
    pod({ tolerations: [{ key: "k", tolerationSeconds: 1 }] }),
    /tolerationSeconds needs the effect NoExecute/,
  ],
  ["an affinity of no values", affinity({ operator: "In" }), /the operator In does not fit its 0 values/],
  ["an affinity of an unknown operator", affinity({ operator: "Like", values: ["v"] }), /there is no operator "Like"/],
  ["a service account in capitals", pod({ serviceAccountName: "A" }), /no service account may be named "A"/],
];

describe("the API server refuses", () => {
  for (const [what, given, says] of refused)
    test(what, () => {
      const found = podFaults(given);
      assert.equal(found.length, 1, found.join("\n"));
      assert.match(`${found[0]}`, says);
    });
});

test("a pod that the API server takes has no fault", () => {
  const sound = pod(
    {
      containers: [
        {
          ...{
            name: "a",
            image: "x",
            env: [{ name: "A.b-c", value: "1" }],
            ports: [{ name: "p-1" }, { containerPort: 2 }],
          },
          volumeMounts: [{ name: "v", mountPath: "/v" }],
          resources: { requests: { cpu: "1000m" }, limits: { cpu: "1", "x.org/gpu": "1" } },
          lifecycle: { preStop: { sleep: { seconds: 1 } } },
        },
      ],
      volumes: [{ name: "v" }, { name: "w", emptyDir: {} }],
      tolerations: [{ operator: "Exists" }, { key: "k", effect: "NoExecute", tolerationSeconds: 5 }],
      securityContext: { runAsUser: 0 },
      serviceAccountName: "a.b",
    },
    { labels: { "x.org/a_b": "", c: "D" }, annotations: { "rekindle.dev/a": "any text" } },
  );
  assert.deepEqual(podFaults(sound), []);
  assert.deepEqual(podFaults(affinity({ operator: "Exists" })), []);
});

test("of many faults the first eight are named, and the others counted", () => {
  const volumeMounts = Array.from({ length: 20 }, (_, at) => ({ name: `n${at}`, mountPath: `/${at}` }));
  const found = podFaults(container({ volumeMounts }));
  assert.deepEqual([found.length, found.at(-1)], [9, "and 12 more faults"]);
});

test("a variable is not expanded before it is defined, unless it is escaped or nowhere", () => {
  const env = [{ name: "A", value: "$(B) $$(C) $(D)" }, { name: "B" }, { name: "C", value: "$(A)" }];
  assert.deepEqual(earlyReferences(container({ env })), [
    "A has $(B), but B comes after it, so the text stays as it is; put B first",
  ]);
});
