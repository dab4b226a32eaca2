/** The simulator's scheduler filters nodes as kube-scheduler does. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { request } from "../../../../shared/adapters/kubernetes/requests.ts";
import { openSimulator, type Simulator } from "../../../../shared/simulator/open.ts";

type Fields = Readonly<Record<string, unknown>>;

const pods = "/api/v1/namespaces/default/pods";

const create = async ({ transport }: Simulator, name: string, spec: Fields): Promise<void> => {
  const metadata = { name, namespace: "default", labels: { app: name } };
  await request(transport, "POST", pods, { apiVersion: "v1", kind: "Pod", metadata, spec });
};

/** The nodes of pods after a second; a pod without one has the scheduler's message. */
const placesOf = ({ clock, store }: Simulator): Fields => {
  clock.advanceTo(clock.now() + 1_000);
  return Object.fromEntries(
    store.list("pods").map((pod) => {
      const { nodeName } = Object(pod["spec"]);
      const [condition] = Object(pod["status"])["conditions"] ?? [];
      return [pod.metadata.name, nodeName ?? condition?.message];
    }),
  );
};

const onPort = (port: Fields, more: Fields = {}): Fields => ({
  containers: [{ name: "main", image: "a", ports: [port] }],
  ...more,
});

const sidecar = (hostPort: number): Fields => ({
  ...{ name: "side", image: "a", restartPolicy: "Always" },
  ports: [{ containerPort: 8, hostPort }],
});

const taken = "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports.";

describe("a host port of a node", () => {
  const rows: readonly (readonly [what: string, second: Fields, place: string])[] = [
    ["belongs to one pod", onPort({ containerPort: 8, hostPort: 80 }), taken],
    ["may be a container port on the host's network", onPort({ containerPort: 80 }, { hostNetwork: true }), taken],
    ["may belong to a sidecar", { ...onPort({ containerPort: 9 }), initContainers: [sidecar(80)] }, taken],
    ["is another one under another protocol", onPort({ containerPort: 8, hostPort: 80, protocol: "UDP" }), "a"],
    ["is no container port without the host's network", onPort({ containerPort: 80 }), "a"],
  ];
  for (const [what, second, place] of rows)
    test(what, async () => {
      const simulator = openSimulator({ nodes: [{ name: "a" }] });
      await create(simulator, "first", onPort({ containerPort: 8, hostPort: 80 }));
      assert.deepEqual(placesOf(simulator), { first: "a" });
      await create(simulator, "second", second);
      assert.deepEqual(placesOf(simulator), { first: "a", second: place });
    });
});

const apart = (app: string, topologyKey: string): Fields => ({
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey, labelSelector: { matchLabels: { app } } }],
    },
  },
});

describe("required pod anti-affinity", () => {
  const plain = onPort({ containerPort: 9 });
  const own = "0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules.";
  const others = "0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules.";
  const host = "kubernetes.io/hostname";
  const rows: readonly (readonly [what: string, first: Fields, second: Fields, place: string])[] = [
    ["keeps a pod away from the pods that it selects", plain, { ...plain, ...apart("first", host) }, own],
    ["keeps the pods that it selects away from a pod", { ...plain, ...apart("second", host) }, plain, others],
    ["leaves other pods alone", { ...plain, ...apart("third", host) }, { ...plain, ...apart("third", host) }, "a"],
    ["holds in a domain of nodes", plain, { ...plain, ...apart("first", "kubernetes.io/os") }, own],
    ["does not hold without the label of the domain", plain, { ...plain, ...apart("first", "zone") }, "a"],
  ];
  for (const [what, first, second, place] of rows)
    test(what, async () => {
      const simulator = openSimulator({ nodes: [{ name: "a" }] });
      await create(simulator, "first", first);
      assert.deepEqual(placesOf(simulator), { first: "a" });
      await create(simulator, "second", second);
      assert.deepEqual(placesOf(simulator), { first: "a", second: place });
    });
});
