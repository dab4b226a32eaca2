/** ResourceQuota: the usage that counts, the requests that it refuses and the messages, and the status. */
import { testCase } from "../../support/test-case.ts";
import { map, pod } from "./basics.ts";
import type { Scenario, Tell } from "./scenario.ts";

const core = (ns: string, plural: string) => `/api/v1/namespaces/${ns}/${plural}`;

const quota = (name: string, hard: object, more: object = {}) => ({
  apiVersion: "v1",
  kind: "ResourceQuota",
  metadata: { name },
  spec: { hard, ...more },
});

const sized = (name: string, requests: object, limits: object = {}, more: object = {}) =>
  pod(name, { containers: [{ name: "main", image: "busybox:1", resources: { requests, limits } }], ...more });

/** Creates a quota and waits until the server enforces it. */
const keep = async ({ api, ns }: Tell, name: string, hard: object, more: object = {}): Promise<void> => {
  await api.call("POST", core(ns, "resourcequotas"), quota(name, hard, more));
  await api.settle();
};

export const quotas: readonly Scenario[] = [
  testCase("quota of numbers", async (tell) => {
    const { ask, api, ns } = tell;
    await ask(
      "as it is made",
      "POST",
      core(ns, "resourcequotas"),
      quota("small", { pods: "2", "count/configmaps": 3 }),
    );
    await api.settle();
    await ask("its status", "GET", `${core(ns, "resourcequotas")}/small`);
    await ask("a pod within", "POST", core(ns, "pods"), pod("one"));
    await api.call("POST", core(ns, "pods"), pod("two"));
    await ask("used up", "GET", `${core(ns, "resourcequotas")}/small`);
    await ask("a pod beyond", "POST", core(ns, "pods"), pod("three"));
    await ask("a dry run beyond", "POST", `${core(ns, "pods")}?dryRun=All`, pod("three"));
    await api.call("POST", core(ns, "configmaps"), map("one"));
    await api.call("POST", core(ns, "configmaps"), map("two"));
    await ask("a config map beyond", "POST", core(ns, "configmaps"), map("three"));
    await ask("what is not counted", "POST", core(ns, "secrets"), { metadata: { name: "one" } });
    await api.call("DELETE", `${core(ns, "pods")}/one?gracePeriodSeconds=0`);
    await api.settle();
    await api.settle();
    await ask("given back", "GET", `${core(ns, "resourcequotas")}/small`);
    await ask("a pod again", "POST", core(ns, "pods"), pod("three"));
  }),
  testCase("quota of resources", async (tell) => {
    const { ask, ns } = tell;
    await keep(tell, "compute", { "requests.cpu": "1", "requests.memory": "1Gi", "limits.memory": "2Gi", cpu: "2" });
    await ask("without sizes", "POST", core(ns, "pods"), pod("one"));
    await ask("with some sizes", "POST", core(ns, "pods"), sized("one", { cpu: "100m" }));
    await ask("within", "POST", core(ns, "pods"), sized("one", { cpu: "600m", memory: "512Mi" }, { memory: "1Gi" }));
    await ask("its status", "GET", `${core(ns, "resourcequotas")}/compute`);
    await ask(
      "too much cpu",
      "POST",
      core(ns, "pods"),
      sized("two", { cpu: "500m", memory: "1Mi" }, { memory: "1Mi" }),
    );
    await ask(
      "too much of several",
      "POST",
      core(ns, "pods"),
      sized("two", { cpu: "2", memory: "2Gi" }, { memory: "4Gi" }),
    );
    await ask("exactly", "POST", core(ns, "pods"), sized("two", { cpu: "400m", memory: "512Mi" }, { memory: "1Gi" }));
  }),
  testCase("quota of ended pods", async (tell) => {
    const { ask, api, ns } = tell;
    await keep(tell, "ends", { pods: "1", "count/pods": "2" });
    await api.call("POST", core(ns, "pods"), pod("one"));
    await ask("while it may run", "POST", core(ns, "pods"), pod("two"));
    await api.call(
      "PATCH",
      `${core(ns, "pods")}/one/status`,
      { status: { phase: "Succeeded" } },
      {
        "content-type": "application/merge-patch+json",
      },
    );
    await api.settle();
    await api.settle();
    await ask("its status when it has ended", "GET", `${core(ns, "resourcequotas")}/ends`);
    await ask("the next", "POST", core(ns, "pods"), pod("two"));
    await ask("and one more", "POST", core(ns, "pods"), pod("three"));
  }),
  testCase("several quotas", async (tell) => {
    const { ask, ns } = tell;
    await keep(tell, "first", { pods: "0" });
    await keep(tell, "services", { services: "1", "services.nodeports": "0", persistentvolumeclaims: "0" });
    await ask("the first that refuses", "POST", core(ns, "pods"), pod("one"));
    await ask("another", "POST", core(ns, "persistentvolumeclaims"), {
      metadata: { name: "one" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    });
  }),
  testCase("scoped quotas", async (tell) => {
    const { ask, ns } = tell;
    await keep(tell, "best-effort", { pods: "0" }, { scopes: ["BestEffort"] });
    await keep(tell, "ending", { pods: "0" }, { scopes: ["Terminating"] });
    await ask("best effort", "POST", core(ns, "pods"), pod("one"));
    await ask("not best effort", "POST", core(ns, "pods"), sized("two", { cpu: "1m" }));
    await ask("that ends", "POST", core(ns, "pods"), sized("three", { cpu: "1m" }, {}, { activeDeadlineSeconds: 5 }));
  }),
];
