/** The keys of a review: those that a forwarder would send for the change, once for each, and none for what changes nothing. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { noticesOf } from "../../../shared/deployments/common/notices.ts";
import { type BellContext, openRinger, type Ring, ringsOf, sentFor } from "../../../shared/forward/bell.ts";
import { subjectsOf } from "../../../shared/forward/keys.ts";
import { readReview } from "../../../shared/kube/admission.ts";
import { watchers } from "../../../shared/registry/watchers.ts";
import { application, executorLabels, type Fields, jobLabels, pod, spark } from "./review-objects.ts";

const context: BellContext = {
  cluster: "here",
  subjects: subjectsOf(watchers),
  notices: (node, until) => noticesOf("here", node, until),
  within: () => true,
  now: Date.UTC(2026, 10, 2, 8),
};

const places: Readonly<Record<string, readonly [group: string, version: string, plural: string]>> = {
  Pod: ["", "v1", "pods"],
  Node: ["", "v1", "nodes"],
  SparkApplication: ["sparkoperator.k8s.io", "v1beta2", "sparkapplications"],
  Job: ["batch.volcano.sh", "v1alpha1", "jobs"],
  Queue: ["scheduling.volcano.sh", "v1beta1", "queues"],
  Service: ["", "v1", "services"],
};

type Object = { readonly kind: string; readonly metadata: Fields };

type Asked = { readonly object?: Object; readonly oldObject?: Object; readonly more?: Fields };

/** The review of a request as the API server writes it. */
const reviewOf = (operation: string, { object, oldObject, more = {} }: Asked) => {
  const { kind = "" } = object ?? oldObject ?? {};
  const [group, version, resource] = places[kind] ?? ["", "", ""];
  const { name, namespace } = (object ?? oldObject)?.metadata ?? {};
  const request = {
    uid: "review-1",
    ...{ kind: { group, version, kind }, resource: { group, version, resource }, name, namespace, operation },
    ...{ object: object ?? null, oldObject: oldObject ?? null, dryRun: false, options: { kind: "x" } },
    ...more,
  };
  return { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request };
};

const ringsIn = (operation: string, asked: Asked, more: Partial<BellContext> = {}): readonly Ring[] => {
  const request = readReview(reviewOf(operation, asked));
  assert.ok(request !== undefined);
  return ringsOf(request, { ...context, ...more });
};

const keysIn = (operation: string, asked: Asked, more: Partial<BellContext> = {}): readonly string[] =>
  ringsIn(operation, asked, more)
    .map(({ message, urgent }) => `${message.kind}/${message.namespace}/${message.name}${urgent ? " urgent" : ""}`)
    .toSorted();

const status = { subResource: "status" };
const grace = (gracePeriodSeconds: number) => ({ options: { gracePeriodSeconds } });
const ending = { deletionTimestamp: "2026-11-02T07:59:00Z", deletionGracePeriodSeconds: 0 };
const running = { phase: "Running" };
const driver = { ...spark, "spark-role": "driver" };

describe("a review", () => {
  const rows: readonly {
    readonly name: string;
    readonly operation: string;
    readonly asked: Asked;
    readonly keys: readonly string[];
  }[] = [
    {
      name: "of a new application rings for it",
      operation: "CREATE",
      asked: { object: application({ resourceVersion: undefined }) },
      keys: ["SparkApplication/ns/app1"],
    },
    {
      name: "of a changed annotation rings",
      operation: "UPDATE",
      asked: { object: application({ annotations: { a: "b" } }), oldObject: application() },
      keys: ["SparkApplication/ns/app1"],
    },
    {
      name: "of a write that changes nothing does not ring",
      operation: "UPDATE",
      asked: { object: application(), oldObject: application() },
      keys: [],
    },
    {
      name: "of Rekindle's own status does not ring",
      operation: "UPDATE",
      asked: {
        object: application({}, { applicationState: { state: "RUNNING" } }),
        oldObject: application(),
        more: status,
      },
      keys: [],
    },
    {
      name: "of a deletion rings, although request.name is missing as in a collection (trap 3)",
      operation: "DELETE",
      asked: { oldObject: application(), more: { name: undefined } },
      keys: ["SparkApplication/ns/app1"],
    },
    {
      name: "of a dry run does not ring",
      operation: "DELETE",
      asked: { oldObject: application(), more: { dryRun: true } },
      keys: [],
    },
    {
      name: "of a driver that runs rings for its application",
      operation: "UPDATE",
      asked: { object: pod("d", driver, running), oldObject: pod("d", driver), more: status },
      keys: ["SparkApplication/ns/app1"],
    },
    {
      name: "of a deleted executor with a grace period is urgent (trap 2)",
      operation: "DELETE",
      asked: { oldObject: pod("e", executorLabels, running), more: grace(30) },
      keys: ["SparkApplication/ns/app1 urgent"],
    },
    {
      name: "of an executor that is removed at once is urgent (trap 2)",
      operation: "DELETE",
      asked: { oldObject: pod("e", executorLabels, running), more: grace(0) },
      keys: ["SparkApplication/ns/app1 urgent"],
    },
    {
      name: "of the final removal of a pod that is being deleted rings, and is not urgent again",
      operation: "DELETE",
      asked: { oldObject: pod("e", executorLabels, running, ending), more: grace(0) },
      keys: ["SparkApplication/ns/app1"],
    },
    {
      name: "of a deletion that finalizers hold up rings as the beginning of an end",
      operation: "DELETE",
      asked: { oldObject: pod("e", executorLabels, running, { finalizers: ["x/y"] }), more: grace(0) },
      keys: ["SparkApplication/ns/app1 urgent"],
    },
    {
      name: "of the last finalizer's removal rings: the object is gone, and no review of a deletion follows (trap 2)",
      operation: "UPDATE",
      asked: {
        object: pod("e", executorLabels, { phase: "Failed" }, ending),
        oldObject: pod("e", executorLabels, { phase: "Failed" }, { ...ending, finalizers: ["x/y"] }),
      },
      keys: ["SparkApplication/ns/app1"],
    },
    {
      name: "of a failed pod of a Volcano job is urgent",
      operation: "UPDATE",
      asked: { object: pod("vj-0", jobLabels, { phase: "Failed" }), oldObject: pod("vj-0", jobLabels), more: status },
      keys: ["Job/ns/vj urgent"],
    },
    {
      name: "of a pod that leaves the labels of its owner rings for that owner",
      operation: "UPDATE",
      asked: { object: pod("vj-0", {}), oldObject: pod("vj-0", jobLabels) },
      keys: ["Job/ns/vj"],
    },
    {
      name: "of a pod that changes its owner rings for both",
      operation: "UPDATE",
      asked: { object: pod("p", { "volcano.sh/job-name": "other" }, running), oldObject: pod("p", jobLabels) },
      keys: ["Job/ns/other", "Job/ns/vj"],
    },
    {
      name: "of a pod that belongs to no kind does not ring (trap 5)",
      operation: "CREATE",
      asked: { object: pod("web", { app: "web" }) },
      keys: [],
    },
    {
      name: "of a pod for Volcano's scheduler rings for the pod (trap 5)",
      operation: "CREATE",
      asked: { object: { ...pod("alone", {}), spec: { schedulerName: "volcano" } } as Object },
      keys: ["Pod/ns/alone"],
    },
    {
      name: "of a binding does not ring, although its resource is pods (trap 4)",
      operation: "CREATE",
      asked: {
        object: pod("d", driver),
        more: { kind: { group: "", version: "v1", kind: "Binding" }, subResource: "binding" },
      },
      keys: [],
    },
    {
      name: "of another kind under the resource of pods does not ring (trap 4)",
      operation: "CREATE",
      asked: { object: pod("d", executorLabels), more: { kind: { group: "", version: "v1", kind: "Binding" } } },
      keys: [],
    },
    {
      name: "of ephemeral containers does not ring",
      operation: "UPDATE",
      asked: {
        object: pod("d", driver, running),
        oldObject: pod("d", driver),
        more: { subResource: "ephemeralcontainers" },
      },
      keys: [],
    },
    {
      name: "of an eviction rings for the pod, by its name alone",
      operation: "CREATE",
      asked: {
        object: { kind: "Eviction", metadata: { name: "e", namespace: "ns" } },
        more: {
          kind: { group: "policy", version: "v1", kind: "Eviction" },
          resource: { group: "", version: "v1", resource: "pods" },
          subResource: "eviction",
        },
      },
      keys: ["evictions.Pod/ns/e"],
    },
    {
      name: "of an eviction that is a dry run does not ring",
      operation: "CREATE",
      asked: {
        object: {
          kind: "Eviction",
          metadata: { name: "e", namespace: "ns" },
          deleteOptions: { dryRun: ["All"] },
        } as Object,
        more: {
          kind: { group: "policy", version: "v1", kind: "Eviction" },
          resource: { group: "", version: "v1", resource: "pods" },
          subResource: "eviction",
        },
      },
      keys: [],
    },
    {
      name: "of a deleted node is a notice that its time has come",
      operation: "DELETE",
      asked: { oldObject: { kind: "Node", metadata: { name: "n1", uid: "n" } } },
      keys: ["notices.Job//n1", "notices.SparkApplication//n1"],
    },
    {
      name: "of a changed node is none",
      operation: "UPDATE",
      asked: {
        object: { kind: "Node", metadata: { name: "n1", uid: "n" } },
        oldObject: { kind: "Node", metadata: { name: "n1", uid: "n" } },
      },
      keys: [],
    },
    {
      name: "of a Service of a Connect server that changes rings, and of its creation does not",
      operation: "CREATE",
      asked: {
        object: {
          apiVersion: "v1",
          kind: "Service",
          metadata: { name: "s", namespace: "ns", uid: "s", labels: { "sparkoperator.k8s.io/connect-name": "c" } },
        } as Object,
      },
      keys: [],
    },
  ];
  for (const { name, operation, asked, keys } of rows)
    test(name, () => assert.deepEqual(keysIn(operation, asked), keys));

  test("outside the namespaces of the deployment does not ring, a cluster-scoped key included", () => {
    const within = (namespace: string): boolean => namespace === "other";
    assert.deepEqual(keysIn("DELETE", { oldObject: application() }, { within }), []);
    const queue = {
      apiVersion: "scheduling.volcano.sh/v1beta1",
      kind: "Queue",
      metadata: { name: "q", uid: "q", resourceVersion: "1" },
    } as Object;
    assert.deepEqual(keysIn("DELETE", { oldObject: queue }, { within }), []);
    assert.deepEqual(keysIn("DELETE", { oldObject: queue }), ["Queue//q", "Queue//root"]);
  });

  test("outside the label selector of the deployment does not ring", () => {
    const subjects = subjectsOf(watchers, "team=a");
    assert.deepEqual(keysIn("DELETE", { oldObject: application() }, { subjects }), []);
    const labelled = application({ labels: { team: "a" } });
    assert.deepEqual(keysIn("DELETE", { oldObject: labelled }, { subjects }), ["SparkApplication/ns/app1"]);
  });

  test("has messages without the hints of a watch, and with the version that the change replaces (traps 6 and 7)", () => {
    const [ring] = ringsIn("UPDATE", { object: pod("d", driver, running), oldObject: pod("d", driver), more: status });
    assert.deepEqual(ring?.message, {
      ...{ cluster: "here", kind: "SparkApplication", namespace: "ns", name: "app1", reason: "Pod d changed" },
      after: [
        { group: "", version: "v1", plural: "pods", namespace: "ns", name: "d", uid: "d-uid", resourceVersion: "7" },
      ],
    });
  });

  test("says of a pod with a grace period that it changes, and of one without that it is gone (trap 2)", () => {
    const reasons = [30, 0].map((seconds) =>
      ringsIn("DELETE", { oldObject: pod("e", executorLabels, running), more: grace(seconds) }).map(
        ({ message }) => message.reason,
      ),
    );
    assert.deepEqual(reasons, [["Pod e changed"], ["Pod e gone"]]);
  });

  test("of a creation names the new object without a version", () => {
    const [ring] = ringsIn("CREATE", { object: application({ resourceVersion: undefined }) });
    assert.deepEqual(ring?.message.after?.[0], {
      ...{ group: "sparkoperator.k8s.io", version: "v1beta2", plural: "sparkapplications" },
      ...{ namespace: "ns", name: "app1", uid: "app-uid" },
    });
  });
});

describe("the messages of rings", () => {
  const change = { object: pod("d", driver, running), oldObject: pod("d", driver), more: status };

  test("are one at once, and one after 2 s that waits for nothing", () => {
    const sent = sentFor(ringsIn("UPDATE", change), context.now);
    assert.deepEqual(
      sent.map(({ message, delayMs }) => [delayMs, message.after !== undefined, message.reason]),
      [
        [0, true, "Pod d changed"],
        [2_000, false, "Pod d changed"],
      ],
    );
  });

  test("of a graceful deletion and of the removal half a minute later are not one (trap 1)", () => {
    const ids = [0, 30_000].flatMap((later) =>
      sentFor(ringsIn("DELETE", { oldObject: pod("e", executorLabels), more: grace(0) }), context.now + later).map(
        ({ id }) => id,
      ),
    );
    assert.equal(new Set(ids).size, 4);
  });

  test("of a refused write and of the same write a second later are not one (trap 1)", () => {
    const at = (now: number) => sentFor(ringsIn("UPDATE", change), now).map(({ id }) => id);
    assert.notDeepEqual(at(context.now), at(context.now + 1_000));
    assert.deepEqual(at(context.now), at(context.now + 999));
  });

  test("of an urgent ring are not dropped for an ordinary one of the same second", () => {
    const ordinary = sentFor(ringsIn("UPDATE", change), context.now)[0];
    const urgent = sentFor(ringsIn("DELETE", { oldObject: pod("e", executorLabels), more: grace(30) }), context.now)[0];
    assert.notEqual(ordinary?.id, urgent?.id);
    assert.equal(ordinary?.message.name, urgent?.message.name);
  });

  test("of an eviction and of a node are one", () => {
    const notices = ringsIn("DELETE", { oldObject: { kind: "Node", metadata: { name: "n1" } } });
    assert.deepEqual(
      sentFor(notices.slice(0, 1), context.now).map(({ message }) => message.until),
      [context.now],
    );
  });

  test("of a job of 200 pods that are created, run, fail and are deleted are at most 25 requests to the queue (trap 8)", async () => {
    const taken: string[] = [];
    const take = async (_: unknown, id: string) => void taken.push(id);
    const ringer = openRinger({ send: take, sendLater: take });
    const bare = (at: number, phase: string, more: Fields = {}) => pod(`vj-${at}`, jobLabels, { phase }, more);
    const lives: readonly ((index: number) => readonly [string, Asked])[] = [
      (index) => ["CREATE", { object: bare(index, "Pending") }],
      (index) => ["UPDATE", { object: bare(index, "Running"), oldObject: bare(index, "Pending"), more: status }],
      (index) => ["UPDATE", { object: bare(index, "Succeeded"), oldObject: bare(index, "Running"), more: status }],
      (index) => ["DELETE", { oldObject: bare(index, "Succeeded"), more: grace(0) }],
      (index) => ["DELETE", { oldObject: bare(index, "Succeeded", ending), more: grace(0) }],
    ];
    const moments = lives.flatMap((life, phase) =>
      Array.from({ length: 200 }, (_, index) => ({ asked: life(index), after: phase * 1_640 + index * 8 })),
    );
    let rings = 0;
    for (const { asked, after } of moments) {
      const found = ringsIn(...asked);
      rings += found.length;
      await ringer(found, context.now + after);
    }
    assert.ok(rings === 1_000 && taken.length <= 25, `${rings} rings, ${taken.length} messages`);
  });

  test("are refused together with one that the queue does not take", async () => {
    const queue = { send: async () => {}, sendLater: () => Promise.reject(new Error("no queue")) };
    await assert.rejects(openRinger(queue)(ringsIn("UPDATE", change), context.now), /no queue/);
  });

  test("that the queue has refused are sent again with the next ring", async () => {
    let refuses = true;
    const sent: string[] = [];
    const send = async (_: unknown, id: string) => {
      if (refuses) throw new Error("no queue");
      sent.push(id);
    };
    const ringer = openRinger({ send, sendLater: send });
    await assert.rejects(ringer(ringsIn("UPDATE", change), context.now));
    refuses = false;
    await ringer(ringsIn("UPDATE", change), context.now);
    await ringer(ringsIn("UPDATE", change), context.now);
    assert.equal(sent.length, 2);
  });
});
