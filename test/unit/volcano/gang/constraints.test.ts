/** Constraints of pods that a plan keeps to beside the amounts, and those that it refuses in words. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import { type Fields, type Given, groupOf, job, type Marks, node, podOf, three, verdicts } from "./round.ts";

const onHost = { hostNetwork: true, containers: [{ name: "main", image: "busybox", ports: [{ containerPort: 80 }] }] };
/** Anti-affinity against pods with a label. */
const apart = (key: string, value: string, topologyKey = "kubernetes.io/hostname"): Fields => ({
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey, labelSelector: { matchLabels: { [key]: value } } },
      ],
    },
  },
});

const labelled = (pod: Stored, labels: Marks, more: Fields): Stored => ({
  ...pod,
  metadata: { ...pod.metadata, labels },
  spec: { ...Object(pod["spec"]), ...more },
});

const besides = "needs 1 × 1 cpu; 0 places on 1 node; 1 node has a pod that anti-affinity excludes";
const older = groupOf("a", { age: 9 });

const rows: readonly (readonly [string, Given, Fields])[] = [
  [
    "a group waits if a pod on the only node has its host port",
    {
      jobs: [job("a", { cpu: 1, replicas: 1, more: onHost })],
      pods: [{ ...podOf("x", ""), spec: { nodeName: "n", ...onHost } }],
      groups: [older],
    },
    { a: "needs 1 × host port TCP/80; 0 places on 1 node" },
  ],
  [
    "a group whose pods may not be on one node has a node for each",
    {
      nodes: [node("m", 4), node("n", 4)],
      jobs: [job("a", { cpu: 1, replicas: 2, more: apart("volcano.sh/job-name", "a") })],
      groups: [older],
    },
    { a: "1 on m, 1 on n" },
  ],
  [
    "a group that must not be beside a pod waits, and so does one that a pod must not have beside it",
    {
      jobs: [job("a", { cpu: 1, replicas: 1, more: apart("app", "db") }), job("b", { cpu: 1, replicas: 1 })],
      pods: [labelled(podOf("x", ""), { app: "db" }, apart("volcano.sh/job-name", "b"))],
      groups: [older, groupOf("b")],
    },
    { a: besides, b: besides },
  ],
  [
    "a group that must not be beside another that enters before it waits",
    {
      jobs: [
        job("a", { cpu: 1, replicas: 1 }),
        job("b", { cpu: 1, replicas: 1, more: apart("volcano.sh/job-name", "a") }),
      ],
      groups: [older, groupOf("b")],
    },
    { a: "", b: besides },
  ],
  [
    "anti-affinity beyond nodes is refused with a reason",
    { jobs: [job("a", { cpu: 1, replicas: 1, more: apart("app", "db", "zone") })], groups: [older] },
    {
      a: "task w has required pod anti-affinity with another topologyKey than kubernetes.io/hostname, a namespaceSelector or matchLabelKeys, which `gang: builtin` cannot plan: remove it, or set gang to none",
    },
  ],
  [
    "a constraint that no plan covers is refused with a reason",
    { jobs: [job("a", { ...three, more: { resourceClaims: [{ name: "gpu" }] } })], groups: [older] },
    { a: "task w has resource claims, which `gang: builtin` cannot plan: remove it, or set gang to none" },
  ],
];

describe("in an admission round", () => {
  for (const [what, given, expected] of rows) test(what, () => assert.deepEqual(verdicts(given), expected));
});
