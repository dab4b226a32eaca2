/** Creating and reading: identities, defaults and refusals. */
import { testCase } from "../../support/test-case.ts";
import type { Scenario } from "./scenario.ts";

const pods = (ns: string) => `/api/v1/namespaces/${ns}/pods`;
const maps = (ns: string) => `/api/v1/namespaces/${ns}/configmaps`;

export const pod = (name: string, more: object = {}, meta: object = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, ...meta },
  spec: {
    schedulerName: "nobody",
    restartPolicy: "Never",
    containers: [{ name: "main", image: "busybox:1" }],
    ...more,
  },
});

export const map = (name: string, data: object = { a: "1" }, meta: object = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...meta },
  data,
});

export const basics: readonly Scenario[] = [
  testCase("create", async ({ ask, ns }) => {
    await ask("a config map", "POST", maps(ns), map("one"));
    await ask("again", "POST", maps(ns), map("one"));
    await ask("without kind and apiVersion", "POST", maps(ns), { metadata: { name: "two" } });
    await ask("of another kind", "POST", maps(ns), pod("x"));
    await ask("in no namespace that exists", "POST", maps("absent-namespace"), map("one"));
    await ask("of another namespace", "POST", maps(ns), map("three", {}, { namespace: "other" }));
    await ask("under a bad name", "POST", maps(ns), map("Bad_Name"));
    await ask("under no name", "POST", maps(ns), { metadata: {} });
    await ask("not JSON", "POST", maps(ns), "{");
    await ask("a list", "POST", maps(ns), []);
    await ask("with bad labels", "POST", maps(ns), map("four", {}, { labels: { "a b": "c d" } }));
    await ask("with a label too long", "POST", maps(ns), map("five", {}, { labels: { a: "x".repeat(64) } }));
    await ask("with labels of numbers", "POST", maps(ns), map("six", {}, { labels: { a: 1 } }));
    await ask("with a resourceVersion", "POST", maps(ns), map("seven", {}, { resourceVersion: "5" }));
    await ask("with a uid", "POST", maps(ns), map("eight", {}, { uid: "mine" }));
    await ask("as a dry run", "POST", `${maps(ns)}?dryRun=All`, map("nine"));
    await ask("which leaves nothing", "GET", `${maps(ns)}/nine`);
    await ask("with a bad dryRun", "POST", `${maps(ns)}?dryRun=Some`, map("nine"));
    await ask("with empty maps", "POST", maps(ns), map("ten", {}, { labels: {}, annotations: {}, finalizers: [] }));
    await ask("with unknown fields", "POST", maps(ns), {
      ...map("eleven"),
      extra: 1,
      metadata: { name: "eleven", extra: 1 },
    });
    await ask("with unknown fields, strictly", "POST", `${maps(ns)}?fieldValidation=Strict`, {
      ...map("twelve"),
      extra: 1,
    });
    await ask("to a name", "POST", `${maps(ns)}/one`, map("one"));
    await ask(
      "with bad owners",
      "POST",
      maps(ns),
      map("owned", {}, { ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "", uid: "" }] }),
    );
    await ask("with a bad finalizer", "POST", maps(ns), map("final", {}, { finalizers: ["bad"] }));
  }),
  testCase("generateName", async ({ api, note, ns }) => {
    const { body, status } = await api.call("POST", maps(ns), { metadata: { generateName: "made-" } });
    note("status", status);
    note("form", /"name":"made-[a-z0-9]{5}"/.test(JSON.stringify(body)));
    note("kept", JSON.stringify(body).includes('"generateName":"made-"'));
  }),
  testCase("pods", async ({ ask, ns }) => {
    await ask("defaults", "POST", pods(ns), pod("plain"));
    await ask(
      "fuller",
      "POST",
      pods(ns),
      pod("full", {
        terminationGracePeriodSeconds: 5,
        serviceAccountName: "default",
        automountServiceAccountToken: false,
        tolerations: [
          { key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute", tolerationSeconds: 10 },
        ],
        volumes: [{ name: "v", configMap: { name: "c" } }, { name: "e" }, { name: "s", secret: { secretName: "x" } }],
        containers: [
          {
            name: "a",
            image: "x",
            ports: [{ containerPort: 1 }],
            env: [{ name: "P", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } }],
            volumeMounts: [{ name: "v", mountPath: "/v" }],
          },
          { name: "b", image: "y:latest", resources: { limits: { cpu: "1", memory: "1Gi" } } },
        ],
      }),
    );
    await ask(
      "guaranteed",
      "POST",
      pods(ns),
      pod("sure", { containers: [{ name: "a", image: "x:1", resources: { limits: { cpu: "1", memory: "1Gi" } } }] }),
    );
    await ask("gated", "POST", pods(ns), pod("gated", { schedulingGates: [{ name: "example.com/wait" }] }));
    await ask("without containers", "POST", pods(ns), pod("none", { containers: [] }));
    await ask("without image", "POST", pods(ns), pod("noimage", { containers: [{ name: "a" }] }));
    await ask("with a bad policy", "POST", pods(ns), pod("policy", { restartPolicy: "Sometimes" }));
    await ask("with an account that is not there", "POST", pods(ns), pod("account", { serviceAccountName: "nobody" }));
    await ask(
      "with a mount of nothing",
      "POST",
      pods(ns),
      pod("mount", { containers: [{ name: "a", image: "x", volumeMounts: [{ name: "v", mountPath: "/v" }] }] }),
    );
    await ask("with a hostname too long", "POST", pods(ns), pod("host", { hostname: "h".repeat(64) }));
    await ask("with a status of its own", "POST", pods(ns), { ...pod("status"), status: { phase: "Succeeded" } });
    await ask(
      "with a bad spec and an account that is not there",
      "POST",
      pods(ns),
      pod("both", { containers: [], serviceAccountName: "nobody" }),
    );
    await ask(
      "unknown fields in it",
      "POST",
      pods(ns),
      pod("unknown", { extra: 1, containers: [{ name: "a", image: "x", more: 2 }] }),
    );
    await ask(
      "a duplicate container",
      "POST",
      pods(ns),
      pod("dup", {
        containers: [
          { name: "a", image: "x" },
          { name: "a", image: "x" },
        ],
      }),
    );
    await ask("an empty namespace", "POST", "/api/v1/pods", pod("everywhere"));
  }),
  testCase("other kinds", async ({ ask, ns }) => {
    await ask("headless service", "POST", `/api/v1/namespaces/${ns}/services`, {
      metadata: { name: "headless" },
      spec: { clusterIP: "None", selector: { a: "b" }, ports: [{ name: "p", port: 7078, targetPort: 7078 }] },
    });
    await ask("service", "POST", `/api/v1/namespaces/${ns}/services`, {
      metadata: { name: "svc" },
      spec: { selector: { a: "b" }, ports: [{ port: 80 }] },
    });
    await ask("service with a bad name", "POST", `/api/v1/namespaces/${ns}/services`, {
      metadata: { name: "1svc" },
      spec: { ports: [{ port: 80 }] },
    });
    await ask("service name too long", "POST", `/api/v1/namespaces/${ns}/services`, {
      metadata: { name: "s".repeat(64) },
      spec: { ports: [{ port: 80 }] },
    });
    await ask("secret", "POST", `/api/v1/namespaces/${ns}/secrets`, {
      metadata: { name: "sec" },
      stringData: { a: "b" },
    });
    await ask("event", "POST", `/api/v1/namespaces/${ns}/events`, {
      metadata: { name: "ev" },
      involvedObject: { kind: "Pod", namespace: ns, name: "x" },
      reason: "R",
      message: "M",
      type: "Normal",
    });
    await ask("event about elsewhere", "POST", `/api/v1/namespaces/${ns}/events`, {
      metadata: { name: "ev2" },
      involvedObject: { kind: "Pod", namespace: "other", name: "x" },
    });
    await ask("lease", "POST", `/apis/coordination.k8s.io/v1/namespaces/${ns}/leases`, {
      metadata: { name: "l" },
      spec: { holderIdentity: "me", leaseDurationSeconds: 15 },
    });
    await ask("claim", "POST", `/api/v1/namespaces/${ns}/persistentvolumeclaims`, {
      metadata: { name: "pvc" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    });
    await ask("service account", "POST", `/api/v1/namespaces/${ns}/serviceaccounts`, { metadata: { name: "sa" } });
    await ask("role", "POST", `/apis/rbac.authorization.k8s.io/v1/namespaces/${ns}/roles`, {
      metadata: { name: "r" },
      rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
    });
    await ask("bad namespace", "POST", "/api/v1/namespaces", { metadata: { name: "Bad" } });
    await ask("namespace", "GET", `/api/v1/namespaces/${ns}`);
  }),
  testCase("paths", async ({ ask, ns }) => {
    await ask("nothing there", "GET", `${maps(ns)}/nothing`);
    await ask("no such resource", "GET", `/api/v1/namespaces/${ns}/nothings`);
    await ask("no such resource of a known group", "GET", `/apis/apps/v1/namespaces/${ns}/nothings`);
    await ask("no such group", "GET", "/apis/nowhere.example/v1/things");
    await ask("no such path", "GET", "/nowhere");
    await ask("no such subresource", "GET", `${pods(ns)}/x/nothing`);
    await ask("no such method", "POST", `${pods(ns)}/x/status`, {});
    await ask("list of a missing namespace", "GET", maps("absent-namespace"));
    await ask("put on a collection", "PUT", maps(ns), map("x"));
    await ask("patch of another type", "PATCH", `${maps(ns)}/x`, {}, { "content-type": "text/plain" });
    await ask("log of no pod", "GET", `${pods(ns)}/x/log`);
  }),
];
