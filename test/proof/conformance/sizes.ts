/** The sizes that the server gives to a new pod: a LimitRange's defaults, limits without requests, a RuntimeClass' overhead. */
import { testCase } from "../../support/test-case.ts";
import { pod } from "./basics.ts";
import type { Scenario, Tell } from "./scenario.ts";

const core = (ns: string, plural: string) => `/api/v1/namespaces/${ns}/${plural}`;

const range = (name: string, limits: readonly object[]) => ({
  ...{ apiVersion: "v1", kind: "LimitRange", metadata: { name } },
  spec: { limits },
});

const container = (resources: object, name = "main") => ({ name, image: "busybox:1", resources });

const sized = (name: string, resources: object, more: object = {}) =>
  pod(name, { containers: [container(resources)], ...more });

/** Creates a LimitRange and waits until the server applies it. */
const keep = async ({ api, ns }: Tell, name: string, limits: readonly object[]): Promise<void> => {
  await api.call("POST", core(ns, "limitranges"), range(name, limits));
  await api.settle();
};

const classes = "/apis/node.k8s.io/v1/runtimeclasses";

export const sizes: readonly Scenario[] = [
  testCase("sizes by a LimitRange", async (tell) => {
    const { ask, api, ns } = tell;
    const item = { type: "Container", default: { cpu: "3" }, defaultRequest: { cpu: "2", memory: "64Mi" } };
    await ask("as it is made", "POST", core(ns, "limitranges"), range("usual", [item]));
    await api.settle();
    await ask("a pod without sizes", "POST", core(ns, "pods"), pod("none"));
    await ask("a pod with a request", "POST", core(ns, "pods"), sized("asks", { requests: { cpu: "1" } }));
    await ask(
      "a pod with a limit",
      "POST",
      core(ns, "pods"),
      sized("limited", { limits: { cpu: "1", memory: "1Gi" } }),
    );
    await ask(
      "a pod whose first container runs before the others",
      "POST",
      core(ns, "pods"),
      sized("first", { requests: { cpu: "1" } }, { initContainers: [container({}, "before")] }),
    );
  }),
  testCase("sizes by the bounds of a LimitRange", async (tell) => {
    const { ask, ns } = tell;
    const item = { type: "Container", max: { cpu: "2", memory: "1Gi" }, min: { cpu: "100m" } };
    await ask("as it is made", "POST", core(ns, "limitranges"), range("bounds", [item]));
    await keep(tell, "second", [{ type: "Container", default: { memory: "512Mi" }, defaultRequest: { cpu: "200m" } }]);
    await ask("the second as it is kept", "GET", `${core(ns, "limitranges")}/second`);
  }),
  testCase("sizes by limits without requests", async ({ ask, api, ns }) => {
    const hard = { "requests.cpu": "1", "limits.cpu": "4" };
    const metadata = { name: "compute" };
    await ask("a limit alone", "POST", core(ns, "pods"), sized("one", { limits: { cpu: "500m", "x.org/gpu": "1" } }));
    await ask(
      "a limit beside another request",
      "POST",
      core(ns, "pods"),
      sized("two", { requests: { cpu: "100m" }, limits: { cpu: "1", memory: "64Mi" } }),
    );
    await api.call("POST", core(ns, "resourcequotas"), { metadata, spec: { hard } });
    await api.settle();
    await ask("counted so by a quota", "GET", `${core(ns, "resourcequotas")}/compute`);
    await ask("one too many", "POST", core(ns, "pods"), sized("three", { limits: { cpu: "500m" } }));
  }),
  testCase("sizes by a RuntimeClass", async ({ ask, api, ns }) => {
    const name = `${ns}-boxed`;
    const overhead = { podFixed: { cpu: "250m", memory: "120Mi" } };
    const scheduling = {
      nodeSelector: { boxed: "yes" },
      tolerations: [{ key: "boxed", operator: "Exists", effect: "NoSchedule" }],
    };
    await ask("as it is made", "POST", classes, { metadata: { name }, handler: "boxed", overhead, scheduling });
    await api.settle();
    const boxed = { runtimeClassName: name };
    await ask("a pod of it", "POST", core(ns, "pods"), sized("one", { requests: { cpu: "1" } }, boxed));
    await ask(
      "a pod with a selector of its own",
      "POST",
      core(ns, "pods"),
      sized("two", { limits: { cpu: "1" } }, { ...boxed, nodeSelector: { disk: "ssd" } }),
    );
    await ask("a pod of none that exists", "POST", core(ns, "pods"), sized("three", {}, { runtimeClassName: "none" }));
    await api.call("DELETE", `${classes}/${name}`);
  }),
];
