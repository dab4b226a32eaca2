/** The bell's webhook: the reviews that each change makes, and the keys that the bell takes from them. */

import { fieldsOf, recordsIn } from "../../../shared/core/json.ts";
import { noticesOf } from "../../../shared/deployments/common/notices.ts";
import { ringsOf } from "../../../shared/forward/bell.ts";
import { subjectsOf } from "../../../shared/forward/keys.ts";
import { bellConfiguration } from "../../../shared/installation/bell.ts";
import { readReview } from "../../../shared/kube/admission.ts";
import { watchers } from "../../../shared/registry/watchers.ts";
import { pod } from "./basics.ts";
import { rungAt } from "./hooks.ts";
import type { Said, Scenario, Tell } from "./scenario.ts";

const merge = { "content-type": "application/merge-patch+json" } as const;
const applied = { "content-type": "application/apply-patch+yaml" } as const;
const group = "sparkoperator.k8s.io";
const configurations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

const executor = {
  "sparkoperator.k8s.io/launched-by-spark-operator": "true",
  ...{ "sparkoperator.k8s.io/app-name": "app", "spark-role": "executor" },
};

const subjects = subjectsOf(watchers);

/** The keys that the bell takes from a review, and whether their messages name the version that the change replaces. */
const keysIn = (review: unknown): readonly string[] => {
  const request = readReview(review);
  if (request === undefined) return ["not read"];
  const notices = (node: string, until: number) => noticesOf("c", node, until);
  const rings = ringsOf(request, { cluster: "c", subjects, notices, within: () => true, now: 0 });
  const old = request.oldObject?.metadata["resourceVersion"];
  return rings.map(({ message: { kind, name, after }, urgent }) => {
    const replaces =
      after === undefined ? "" : after[0]?.resourceVersion === old ? ", replaces" : ", of another version";
    return `${kind} ${name}${urgent === true ? ", urgent" : ""}${replaces}`;
  });
};

/** A review without what differs from run to run. */
const summaryOf = (review: unknown) => {
  const { kind, subResource, operation, name, object, oldObject, options } = fieldsOf(fieldsOf(review)["request"]);
  const { gracePeriodSeconds } = fieldsOf(options);
  const { name: own, deletionTimestamp } = fieldsOf(fieldsOf(object ?? oldObject)["metadata"]);
  return {
    ...{ of: [fieldsOf(kind)["kind"], subResource, operation], isNamed: name !== undefined && name !== "", own },
    ...{ object: fieldsOf(object)["metadata"] !== undefined, old: fieldsOf(oldObject)["metadata"] !== undefined },
    ...{ gracePeriodSeconds, isEnding: deletionTimestamp !== undefined, keys: keysIn(review) },
  };
};

/** Reviews of one request; the real server repeats some, once or twice as its caches are. */
const reviewsAt = (path: string): readonly unknown[] => {
  const texts = rungAt(path).map((review) => JSON.stringify(summaryOf(review)));
  return [...new Set(texts)].map((text): unknown => JSON.parse(text));
};

type Ring = (name: string, ...request: Parameters<Tell["api"]["call"]>) => Promise<Said>;

/** Registers the configuration of `rekindle manifests --bell-url` for the scenario's namespace. */
const ringing = async (tell: Tell, act: (ring: Ring) => Promise<void>): Promise<void> => {
  const { api, ns, note } = tell;
  const path = `/ring/${ns}`;
  const url = `${api.hooks.url}${path}`;
  const all = bellConfiguration({ url, families: ["spark", "volcano"], nodes: true, namespaces: [ns] });
  const { caBundle } = api.hooks;
  const name = `${all.metadata.name}-${ns}`;
  const webhooks = recordsIn(all["webhooks"]).map((one) => ({
    ...one,
    clientConfig: { ...fieldsOf(one["clientConfig"]), caBundle },
    // A busy machine is no reason to lose a ring here.
    timeoutSeconds: 10,
  }));
  const { status, body } = await api.call("POST", configurations, { ...all, metadata: { name }, webhooks });
  note("the server takes the configuration", status === 201 ? status : body);
  await api.settle();
  await act(async (what, ...request) => {
    rungAt(`${path}/bell`);
    const said = await api.call(...request);
    note(what, { status: said.status, reviews: reviewsAt(`${path}/bell`) });
    return said;
  });
  await api.call("DELETE", `${configurations}/${name}`);
};

const pods = (ns: string) => `/api/v1/namespaces/${ns}/pods`;

const bind = (name: string) => ({
  ...{ apiVersion: "v1", kind: "Binding", metadata: { name } },
  target: { kind: "Node", name: "nowhere" },
});

const eviction = (name: string) => ({ apiVersion: "policy/v1", kind: "Eviction", metadata: { name } });

/** Creates a pod that has a node and runs. */
const running = async ({ api, ns }: Tell, name: string, more: object = {}): Promise<string> => {
  const path = `${pods(ns)}/${name}`;
  await api.call("POST", pods(ns), pod(name, {}, { labels: executor, ...more }));
  await api.call("POST", `${path}/binding`, bind(name));
  await api.call("PATCH", `${path}/status`, { status: { phase: "Running" } }, merge);
  return path;
};

const changed: Scenario["run"] = async (tell) =>
  await ringing(tell, async (ring) => {
    const { ns } = tell;
    const one = pod("one", {}, { labels: executor });
    const path = `${pods(ns)}/one`;
    await ring("a creation", "POST", pods(ns), one);
    await ring("a creation that exists", "POST", pods(ns), one);
    await ring("an invalid creation", "POST", pods(ns), pod("Bad_Name", {}, { labels: executor }));
    await ring("a pod of others", "POST", pods(ns), pod("other"));
    await ring("a pod for Volcano's scheduler", "POST", pods(ns), pod("alone", { schedulerName: "volcano" }));
    await ring("a dry run", "POST", `${pods(ns)}?dryRun=All`, pod("two", {}, { labels: executor }));
    await ring("a label", "PATCH", path, { metadata: { labels: { a: "b" } } }, merge);
    await ring("a patch that changes nothing", "PATCH", path, { metadata: { labels: { a: "b" } } }, merge);
    const same = { apiVersion: "v1", kind: "Pod", metadata: { name: "one", labels: { a: "b" } } };
    await ring("an apply that changes nothing", "PATCH", `${path}?fieldManager=m&force=true`, same, applied);
    const stale = { metadata: { resourceVersion: "1", labels: { a: "c" } } };
    await ring("a stale patch", "PATCH", path, stale, merge);
    await ring("a binding", "POST", `${path}/binding`, bind("one"));
    const up = { status: { phase: "Running" } };
    await ring("a status", "PATCH", `${path}/status`, up, merge);
    await ring("the same status again", "PATCH", `${path}/status`, up, merge);
    await ring(
      "labels of another owner",
      "PATCH",
      path,
      { metadata: { labels: { ...executor, "spark-role": null } } },
      merge,
    );
  });

const ended: Scenario["run"] = async (tell) =>
  await ringing(tell, async (ring) => {
    const { ns, api } = tell;
    const path = await running(tell, "graceful");
    const grace = (gracePeriodSeconds: number) => ({ gracePeriodSeconds });
    await ring("a deletion with grace", "DELETE", path, grace(30));
    await ring("the same deletion again", "DELETE", path, grace(30));
    await ring("a deletion with less grace", "DELETE", path, grace(5));
    await ring("the last deletion", "DELETE", path, grace(0));
    await ring("a deletion of what is gone", "DELETE", path);
    await api.call("POST", pods(ns), pod("unbound", {}, { labels: executor }));
    await ring("a deletion of a pod without a node", "DELETE", `${pods(ns)}/unbound`);
    const held = await running(tell, "held", { finalizers: ["example.com/held"] });
    await ring("a deletion that a finalizer holds up", "DELETE", held, grace(0));
    await ring("the last finalizer's removal", "PATCH", held, { metadata: { finalizers: null } }, merge);
    const evicted = await running(tell, "evicted");
    await ring("an eviction", "POST", `${evicted}/eviction`, eviction("evicted"));
    await ring("the last deletion of the evicted pod", "DELETE", evicted, grace(0));
    await running(tell, "first");
    await ring("a deletion of all", "DELETE", pods(ns), grace(30));
    await api.call("DELETE", `${pods(ns)}/first`, grace(0));
    await api.call("POST", "/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata: { name: "rings" } });
    await ring("a deletion of a node", "DELETE", "/api/v1/nodes/rings");
  });

const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `sparkapplications.${group}`, annotations: { "api-approved.kubernetes.io": "unapproved" } },
  spec: {
    ...{ group, scope: "Namespaced" },
    names: {
      plural: "sparkapplications",
      singular: "sparkapplication",
      kind: "SparkApplication",
      listKind: "SparkApplicationList",
    },
    versions: [
      {
        ...{ name: "v1beta2", served: true, storage: true, subresources: { status: {} } },
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
};

const custom: Scenario["run"] = async (tell) => {
  await tell.api.call("POST", definitions, definition);
  await tell.api.settle();
  await ringing(tell, async (ring) => {
    const { ns, api } = tell;
    const all = `/apis/${group}/v1beta2/namespaces/${ns}/sparkapplications`;
    const app = (name: string) => ({
      apiVersion: `${group}/v1beta2`,
      kind: "SparkApplication",
      metadata: { name },
      spec: {},
    });
    await ring("a creation", "POST", all, app("app"));
    await ring("a spec", "PATCH", `${all}/app`, { spec: { a: 1 } }, merge);
    await ring("an annotation", "PATCH", `${all}/app`, { metadata: { annotations: { a: "b" } } }, merge);
    await ring("a patch that changes nothing", "PATCH", `${all}/app`, { spec: { a: 1 } }, merge);
    await ring("a status", "PATCH", `${all}/app/status`, { status: { a: 1 } }, merge);
    await ring("a deletion", "DELETE", `${all}/app`);
    await api.call("POST", all, app("first"));
    await ring("a deletion of all", "DELETE", all);
    await api.call("POST", all, app("last"));
    await ring("a deletion of the definition", "DELETE", `${definitions}/${definition.metadata.name}`);
    await api.settle();
  });
};

export const rings: readonly Scenario[] = [
  { name: "rings of changed pods", run: changed },
  { name: "rings of pods that end", run: ended },
  { name: "rings of custom objects", run: custom },
];
