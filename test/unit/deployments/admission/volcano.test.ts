/**
 * Admission of Volcano's kinds on a host, on a simulated API server: its reads, their number, and its verdicts without
 * them.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { mergeObject, request } from "../../../../shared/adapters/kubernetes/requests.ts";
import type { Transport } from "../../../../shared/core/http.ts";
import type { Obj } from "../../../../shared/core/object.ts";
import { admissionApp } from "../../../../shared/deployments/admission/app.ts";
import { register } from "../../../../shared/deployments/admission/process.ts";
import { surroundingsOf } from "../../../../shared/deployments/admission/surroundings.ts";
import { openSimulator } from "../../../../shared/simulator/open.ts";
import { queues } from "../../../../shared/volcano/schema/resource.ts";
import { crds } from "../../../support/crds.ts";
import { creating, reviewOf } from "../../volcano/admission/reviews.ts";
import { good } from "../../volcano/input/row.ts";

const paths = {
  queues: "/apis/scheduling.volcano.sh/v1beta1/queues",
  namespaces: "/api/v1/namespaces",
  configurations: "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
} as const;

const queue = (name: string, state: string): Obj => ({
  apiVersion: "scheduling.volcano.sh/v1beta1",
  kind: "Queue",
  metadata: { name },
  spec: {},
  status: { state },
});

const open = async () => {
  const { transport } = openSimulator({ crds });
  const world = { asked: 0, fails: false, now: 0 };
  const counting: Transport = {
    ...transport,
    send: (one) => {
      world.asked += 1;
      return world.fails ? Promise.reject(new Error("away")) : transport.send(one);
    },
  };
  const app = admissionApp({ around: surroundingsOf(counting, () => world.now) });
  const ask = async (path: string, asked: object): Promise<string> => {
    const review = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request: asked };
    const answer = await app.request(path, { method: "POST", body: JSON.stringify(review) });
    const { response } = Object(await answer.json());
    const patch = response.patch === undefined ? "" : atob(response.patch);
    return [response.allowed ? "" : response.status.message, ...(response.warnings ?? []), patch].join("");
  };
  const make = async (name: string, state = "Open"): Promise<void> => {
    const object = queue(name, state);
    await request(transport, "POST", paths.queues, object);
    const ref = { resource: queues, name };
    await mergeObject(transport, { ref, subresource: "status" }, { status: object["status"] });
  };
  return { transport, world, ask, make };
};

const job = (name: string) => creating("Job", { ...good, queue: name });

describe("admission of Volcano's kinds", () => {
  test("refuses a job of a missing or closed queue, and reads queues once for a burst of valid jobs", async () => {
    const { world, ask, make } = await open();
    assert.match(await ask("/validate", job("own")), /^unable to find job queue: .*"own" not found/);
    await make("own");
    await make("shut", "Closed");
    world.now = 500;
    assert.equal(await ask("/validate", job("own")), "", "a look of before the queue counts for nothing");
    assert.match(await ask("/validate", job("shut")), /status is `Closed`/);
    const before = world.asked;
    for (let count = 0; count < 5; count += 1) assert.equal(await ask("/validate", job("own")), "");
    assert.equal(world.asked, before);
  });

  test("checks a queue against the current tree", async () => {
    const { ask, make } = await open();
    await make("top");
    const child = creating("Queue", { parent: "top" }, { name: "child" });
    assert.equal(await ask("/validate", child), "");
    assert.match(await ask("/validate", creating("Queue", { parent: "gone" }, { name: "x" })), /"gone" not found/);
    const removal = {
      ...reviewOf("Queue", "DELETE", { metadata: { name: "default" } }),
      name: "default",
      object: null,
    };
    assert.match(
      await ask("/validate", { ...removal, oldObject: { metadata: { name: "default" } } }),
      /can not be deleted/,
    );
  });

  test("allows a job if queues cannot be read, and refuses a job that is invalid by itself", async () => {
    const { world, ask } = await open();
    world.fails = true;
    assert.match(await ask("/validate", job("own")), /^queues could not be read: away$/);
    assert.match(await ask("/validate", creating("Job", {})), /^No task specified/);
    assert.match(
      await ask("/validate", creating("Queue", { capability: { cpu: "-1" } })),
      /greater than or equal to 0/,
    );
    assert.match(
      await ask("/mutate", creating("PodGroup", { queue: "default" })),
      /^the annotations of its namespace could not be read/,
    );
  });

  test("sets a PodGroup's queue to that of its namespace", async () => {
    const { transport, ask } = await open();
    const annotations = { "scheduling.volcano.sh/queue-name": "ours" };
    await request(transport, "POST", paths.namespaces, {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "team", annotations },
    });
    assert.match(
      await ask("/mutate", creating("PodGroup", { queue: "default" })),
      /"path":"\/spec\/queue","value":"ours"/,
    );
    assert.match(await ask("/mutate", job("")), /"path":"\/spec\/queue","value":"default"/);
  });

  test("checks the annotations of a pod's disruption budget", async () => {
    const { ask } = await open();
    const annotations = { "volcano.sh/jdb-min-available": "0" };
    const pod = creating("Pod", { schedulerName: "volcano", containers: [] }, { name: "p", annotations });
    assert.match(await ask("/validate", pod), /must be a positive integer/);
    assert.equal(await ask("/mutate", pod), "");
  });
});

const volcanoNames = async (definitions: readonly Obj[]): Promise<readonly string[]> => {
  const { transport } = openSimulator({ crds: definitions });
  await register(transport, { reach: { url: "https://127.0.0.1:1" }, ca: undefined, namespaces: [] });
  const text = JSON.stringify(await request(transport, "GET", paths.configurations));
  return [...new Set(text.match(/volcano[-\w]*\.rekindle\.dev/g) ?? [])].sort();
};

describe("the registration of admission", () => {
  test("names Volcano's kinds if the cluster has them", async () => {
    assert.deepEqual(await volcanoNames(crds), ["volcano-pods.rekindle.dev", "volcano.rekindle.dev"]);
  });

  test("omits Volcano's kinds if the cluster lacks them", async () => {
    const without = crds.filter(({ metadata }) => !metadata.name.endsWith("volcano.sh"));
    assert.deepEqual(await volcanoNames(without), []);
  });
});
