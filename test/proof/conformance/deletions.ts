/** DELETE: fences, grace, finalizers, collections, owners, namespaces. */
import { testCase } from "../../support/test-case.ts";
import { map, pod } from "./basics.ts";
import { metaOf } from "./changes.ts";
import type { Said, Scenario } from "./scenario.ts";

const pods = (ns: string) => `/api/v1/namespaces/${ns}/pods`;
const maps = (ns: string) => `/api/v1/namespaces/${ns}/configmaps`;
const merge = { "content-type": "application/merge-patch+json" } as const;
const wrong = "00000000-0000-4000-8000-000000000000";

const bind = (ns: string, name: string) =>
  [
    `${pods(ns)}/${name}/binding`,
    { apiVersion: "v1", kind: "Binding", metadata: { name }, target: { kind: "Node", name: "nowhere" } },
  ] as const;

const time = "2026-11-02T08:00:00Z";

const ended = {
  phase: "Succeeded",
  containerStatuses: [
    {
      name: "main",
      image: "x",
      imageID: "x",
      ready: false,
      restartCount: 0,
      lastState: {},
      state: { terminated: { exitCode: 0, startedAt: time, finishedAt: time } },
    },
  ],
};

/** Returns the instant at which the deletion of a pod was requested, in seconds of the server's clock. */
const askedAt = (said: Said): number => {
  const { deletionTimestamp = "", deletionGracePeriodSeconds = 0 } = metaOf(said);
  return Date.parse(deletionTimestamp) / 1000 - deletionGracePeriodSeconds;
};

/** The writes of a kubelet for a pod whose deletion was requested: the terminal phase, and then the removal. */
const terminal: Scenario = testCase("terminal phase", async ({ ask, api, note, watch, ns }) => {
  const held = { finalizers: ["example.com/held"] };
  for (const [name, metadata] of [
    ["plain", {}],
    ["held", held],
  ] as const) {
    const { uid } = metaOf(await api.call("POST", pods(ns), pod(name, {}, metadata)));
    await api.call("POST", ...bind(ns, name));
    const path = `${pods(ns)}/${name}`;
    const up = await api.call("PATCH", `${path}/status`, { status: { phase: "Running" } }, merge);
    const first = await ask(`${name}: a user deletes`, "DELETE", path);
    await ask(`${name}: its processes end with 0`, "PATCH", `${path}/status`, { status: ended }, merge);
    // Times are whole seconds: without a pause the request and the removal have the same time.
    await api.settle();
    await api.settle();
    const last = await ask(`${name}: its kubelet is done`, "DELETE", path, {
      gracePeriodSeconds: 0,
      preconditions: { uid },
    });
    note(`${name}: the removal moves the time of the deletion to its own`, askedAt(first) < askedAt(last));
    const since = metaOf(up).resourceVersion;
    const query = `watch=1&fieldSelector=metadata.name%3D${name}&resourceVersion=${since}`;
    await watch(`${name}: as a watch tells it`, `${pods(ns)}?${query}`, 10);
  }
  const unbound = metaOf(await api.call("POST", pods(ns), pod("unbound")));
  await ask("unbound: goes at once", "DELETE", `${pods(ns)}/unbound`);
  const query = `watch=1&fieldSelector=metadata.name%3Dunbound&resourceVersion=${unbound.resourceVersion}`;
  await watch("unbound: as a watch tells it", `${pods(ns)}?${query}`, 10);
  await ask("held: let go", "PATCH", `${pods(ns)}/held`, { metadata: { finalizers: null } }, merge);
  await ask("held: gone", "GET", `${pods(ns)}/held`);
  await api.call("POST", pods(ns), pod("over", {}, held));
  await api.call("POST", ...bind(ns, "over"));
  await api.call("PATCH", `${pods(ns)}/over/status`, { status: ended }, merge);
  await ask("over: it ended before, and gets no grace", "DELETE", `${pods(ns)}/over`);
  await api.call("PATCH", `${pods(ns)}/over`, { metadata: { finalizers: null } }, merge);
});

export const deletions: readonly Scenario[] = [
  terminal,
  testCase("delete", async ({ ask, api, ns }) => {
    const made = metaOf(await api.call("POST", maps(ns), map("m")));
    await ask("wrong uid", "DELETE", `${maps(ns)}/m`, { preconditions: { uid: wrong } });
    await ask("wrong revision", "DELETE", `${maps(ns)}/m`, { preconditions: { resourceVersion: "1" } });
    await ask("wrong both", "DELETE", `${maps(ns)}/m`, { preconditions: { uid: wrong, resourceVersion: "1" } });
    await ask("dry", "DELETE", `${maps(ns)}/m?dryRun=All`);
    await ask("right", "DELETE", `${maps(ns)}/m`, {
      preconditions: { uid: made.uid, resourceVersion: made.resourceVersion },
    });
    await ask("again", "DELETE", `${maps(ns)}/m`);
    await ask("bad options", "DELETE", `${maps(ns)}/m`, { propagationPolicy: "Sideways" });
    await api.call("POST", maps(ns), map("n"));
    await ask("bad propagation", "DELETE", `${maps(ns)}/n`, { propagationPolicy: "Sideways" });
    await ask("not JSON", "DELETE", `${maps(ns)}/n`, "{");
    await ask("an unbound pod", "POST", pods(ns), pod("p"));
    await ask("goes at once", "DELETE", `${pods(ns)}/p`);
    await ask("and is gone", "GET", `${pods(ns)}/p`);
    await api.call("POST", `/api/v1/namespaces/${ns}/services`, {
      metadata: { name: "s" },
      spec: { clusterIP: "None" },
    });
    await ask("a service", "DELETE", `/api/v1/namespaces/${ns}/services/s`);
    await api.call("POST", `/api/v1/namespaces/${ns}/secrets`, { metadata: { name: "s" } });
    await ask("a secret", "DELETE", `/api/v1/namespaces/${ns}/secrets/s`);
    await api.call("POST", `/api/v1/namespaces/${ns}/events`, {
      metadata: { name: "e" },
      involvedObject: { namespace: ns },
    });
    await ask("an event", "DELETE", `/api/v1/namespaces/${ns}/events/e`);
    await api.call("POST", `/apis/coordination.k8s.io/v1/namespaces/${ns}/leases`, { metadata: { name: "l" } });
    await ask("a lease", "DELETE", `/apis/coordination.k8s.io/v1/namespaces/${ns}/leases/l`);
    await api.call("POST", `/api/v1/namespaces/${ns}/serviceaccounts`, { metadata: { name: "sa" } });
    await ask("an account", "DELETE", `/api/v1/namespaces/${ns}/serviceaccounts/sa`);
  }),
  testCase("grace", async ({ ask, api, note, ns }) => {
    await api.call("POST", pods(ns), pod("p", { terminationGracePeriodSeconds: 20 }));
    await api.call("POST", ...bind(ns, "p"));
    await ask("begins", "DELETE", `${pods(ns)}/p`);
    await ask("again", "DELETE", `${pods(ns)}/p`);
    await ask("longer", "DELETE", `${pods(ns)}/p`, { gracePeriodSeconds: 60 });
    await ask("shorter", "DELETE", `${pods(ns)}/p?gracePeriodSeconds=5`);
    await ask("label meanwhile", "PATCH", `${pods(ns)}/p`, { metadata: { labels: { a: "b" } } }, merge);
    await ask("finalizer meanwhile", "PATCH", `${pods(ns)}/p`, { metadata: { finalizers: ["example.com/f"] } }, merge);
    await ask("zero with a wrong uid", "DELETE", `${pods(ns)}/p`, {
      gracePeriodSeconds: 0,
      preconditions: { uid: wrong },
    });
    await ask("zero", "DELETE", `${pods(ns)}/p`, { gracePeriodSeconds: 0 });
    await ask("gone", "GET", `${pods(ns)}/p`);
    await api.call("POST", pods(ns), pod("q"));
    await api.call("POST", ...bind(ns, "q"));
    await api.call("PATCH", `${pods(ns)}/q/status`, { status: { phase: "Succeeded" } }, merge);
    await ask("an ended pod goes at once", "DELETE", `${pods(ns)}/q`);
    await api.call("POST", pods(ns), pod("r"));
    await api.call("POST", ...bind(ns, "r"));
    await ask("evicted", "POST", `${pods(ns)}/r/eviction`, {
      apiVersion: "policy/v1",
      kind: "Eviction",
      metadata: { name: "r", namespace: ns },
    });
    const after = await ask("after the eviction", "GET", `${pods(ns)}/r`);
    note("is being deleted", JSON.stringify(after.body).includes("deletionTimestamp"));
    await ask("eviction of nothing", "POST", `${pods(ns)}/zz/eviction`, {
      apiVersion: "policy/v1",
      kind: "Eviction",
      metadata: { name: "zz" },
    });
    await api.call("DELETE", `${pods(ns)}/r`, { gracePeriodSeconds: 0 });
  }),
  testCase("finalizers", async ({ ask, api, ns }) => {
    await api.call("POST", maps(ns), map("m", {}, { finalizers: ["example.com/a", "example.com/b"] }));
    await ask("begins", "DELETE", `${maps(ns)}/m`);
    await ask("again", "DELETE", `${maps(ns)}/m`);
    await ask("created anew", "POST", maps(ns), map("m"));
    await ask(
      "a new one",
      "PATCH",
      `${maps(ns)}/m`,
      { metadata: { finalizers: ["example.com/a", "example.com/b", "example.com/c"] } },
      merge,
    );
    await ask("one less", "PATCH", `${maps(ns)}/m`, { metadata: { finalizers: ["example.com/a"] } }, merge);
    await ask("data changes", "PATCH", `${maps(ns)}/m`, { data: { x: "y" } }, merge);
    await ask("the last", "PATCH", `${maps(ns)}/m`, { metadata: { finalizers: null } }, merge);
    await ask("gone", "GET", `${maps(ns)}/m`);
    await api.call("POST", pods(ns), pod("p", {}, { finalizers: ["example.com/a"] }));
    await ask("an unbound pod with one", "DELETE", `${pods(ns)}/p`);
    await ask("by force", "DELETE", `${pods(ns)}/p`, { gracePeriodSeconds: 0 });
    await ask("freed", "PATCH", `${pods(ns)}/p`, { metadata: { finalizers: [] } }, merge);
    await ask("and gone", "GET", `${pods(ns)}/p`);
  }),
  testCase("owners", async ({ ask, api, note, ns }) => {
    const owner = async (name: string) => {
      const { uid } = metaOf(await api.call("POST", maps(ns), map(name)));
      return { apiVersion: "v1", kind: "ConfigMap", name, uid };
    };
    const [a, b] = [await owner("a"), await owner("b")];
    const owned = (name: string, ownerReferences: object[]) =>
      api.call("POST", maps(ns), map(name, {}, { ownerReferences }));
    await owned("of-a", [a]);
    await owned("of-both", [a, b]);
    await owned("of-nobody", [{ ...a, uid: wrong }]);
    await owned("of-a-and-nobody", [b, { ...a, uid: wrong }]);
    await owned("of-unknown", [{ apiVersion: "example.com/v1", kind: "Thing", name: "x", uid: wrong }]);
    await api.settle();
    const left = async () => {
      const { body } = await api.call("GET", maps(ns));
      const items: { metadata: { name: string; ownerReferences?: { name: string }[] } }[] = JSON.parse(
        JSON.stringify(body),
      ).items;
      return items.map(
        ({ metadata }) => `${metadata.name}:${(metadata.ownerReferences ?? []).map(({ name }) => name)}`,
      );
    };
    note("at first", await left());
    await ask("one owner goes", "DELETE", `${maps(ns)}/a`, { propagationPolicy: "Background" });
    await api.settle();
    note("then", await left());
    await ask("orphaned", "DELETE", `${maps(ns)}/b`, { propagationPolicy: "Orphan" });
    await api.settle();
    note("at last", await left());
    const c = await owner("c");
    await owned("blocks", [{ ...c, blockOwnerDeletion: true }]);
    await api.settle();
    await ask("foreground", "DELETE", `${maps(ns)}/c`, { propagationPolicy: "Foreground" });
    await api.settle();
    note("after the foreground", await left());
  }),
  testCase("collections", async ({ ask, api, ns }) => {
    for (const name of ["a", "b", "c"])
      await api.call("POST", maps(ns), map(name, {}, { labels: { of: name === "c" ? "y" : "x" } }));
    await ask("some", "DELETE", `${maps(ns)}?labelSelector=of%3Dx`);
    await ask("are gone", "GET", `${maps(ns)}?labelSelector=of`);
  }),
  testCase("namespaces", async ({ ask, api, ns }) => {
    const name = `${ns}-sub`;
    await api.call("POST", "/api/v1/namespaces", { metadata: { name } });
    await api.settle();
    await api.call("POST", maps(name), map("held", {}, { finalizers: ["example.com/a"] }));
    await ask("begins", "DELETE", `/api/v1/namespaces/${name}`);
    for (let i = 0; i < 8; i += 1) await api.settle();
    await ask("nothing new in it", "POST", maps(name), map("late"));
    await ask("changes are allowed", "PATCH", `${maps(name)}/held`, { data: { a: "b" } }, merge);
    await api.call("PATCH", `${maps(name)}/held`, { metadata: { finalizers: null } }, merge);
    for (let i = 0; i < 8; i += 1) await api.settle();
    await ask("gone", "GET", `/api/v1/namespaces/${name}`);
  }),
];
