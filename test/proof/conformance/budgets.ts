/** PodDisruptionBudgets: the evictions that they block, and the messages. */
import { testCase } from "../../support/test-case.ts";
import { pod } from "./basics.ts";
import type { Api, Scenario } from "./scenario.ts";

const pods = (ns: string) => `/api/v1/namespaces/${ns}/pods`;
const budgets = (ns: string) => `/apis/policy/v1/namespaces/${ns}/poddisruptionbudgets`;
const merge = { "content-type": "application/merge-patch+json" } as const;

const budget = (name: string, app: string, rule: object) => ({
  metadata: { name },
  spec: { selector: { matchLabels: { app } }, ...rule },
});

const eviction = (name: string) => ({ apiVersion: "policy/v1", kind: "Eviction", metadata: { name } });

/** Creates a pod and writes its status as a kubelet would: Running, ready or not. An eviction needs no kubelet. */
const runs = async (api: Api, ns: string, name: string, app: string, ready = "True"): Promise<void> => {
  await api.call("POST", pods(ns), pod(name, {}, { labels: { app } }));
  const status = { phase: "Running", conditions: [{ type: "Ready", status: ready }] };
  await api.call("PATCH", `${pods(ns)}/${name}/status`, { status }, merge);
};

export const disruptions: readonly Scenario[] = [
  testCase("disruption budgets", async ({ ask, api, ns }) => {
    const evict = (what: string, name: string) => ask(what, "POST", `${pods(ns)}/${name}/eviction`, eviction(name));
    await api.call("POST", budgets(ns), budget("two", "a", { minAvailable: 2 }));
    await api.call("POST", budgets(ns), budget("first", "b", { minAvailable: 1 }));
    await api.call("POST", budgets(ns), budget("second", "b", { minAvailable: 1 }));
    for (const name of ["a1", "a2", "a3"]) await runs(api, ns, name, "a");
    await runs(api, ns, "ill", "a", "False");
    await runs(api, ns, "b1", "b");
    await api.call("POST", pods(ns), pod("pending", {}, { labels: { app: "a" } }));
    await api.settle();
    await evict("of one that is not ready", "ill");
    await evict("of one too many", "a1");
    await api.settle();
    await evict("of one more than that", "a2");
    await evict("of one that has not begun", "pending");
    await evict("of one with two budgets", "b1");
    await api.call("DELETE", `${budgets(ns)}/two`);
    await evict("of one whose budget is gone", "a2");
  }),
];
