/** Groups that PodGroups of Kubernetes place. `native-judge.ts` holds what the scenarios must keep. */
import type { Scenario } from "../scenario.ts";
import { flow, template } from "./flow/scenarios.ts";
import { minutes, whileRunning, wide } from "./gangs.ts";
import { living, policy, slowly } from "./jobs.ts";

/** With this object the simulated cluster places gangs. */
const served: readonly [string, object] = [
  "/apis/apiregistration.k8s.io/v1/apiservices",
  { apiVersion: "apiregistration.k8s.io/v1", kind: "APIService", metadata: { name: "v1beta1.scheduling.k8s.io" } },
];

export const natives: readonly Scenario[] = [
  flow({
    name: "native-race",
    what: "two jobs of two pods, and room for one of them: the scheduler starts the second whole when the first has ended",
    gang: "native",
    stands: [served, ...["a", "b"].map((name) => template(name, { tasks: [wide()] }))],
    spec: { flows: [{ name: "a" }, whileRunning("b", "a")] },
    lives: living({ "a-main-0": [slowly], "a-main-1": [slowly], "*": [{ runMs: 2_000 }] }),
    ends: "Succeed",
  }),
  flow({
    name: "native-replaced",
    what: "one of two pods succeeds, and the other fails and is created again: the scheduler places it alone",
    gang: "native",
    stands: [served, template("a", { tasks: [wide()], policies: [policy("PodFailed", "RestartPod")] })],
    spec: { flows: [{ name: "a" }] },
    lives: living({
      "a-main-0": [{ runMs: 2_000 }],
      "a-main-1": [{ runMs: 10 * minutes, exitCode: 1 }, { runMs: 2_000 }],
    }),
    ends: "Succeed",
  }),
];
