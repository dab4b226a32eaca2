/** Groups that enter by plans, without Volcano's scheduler. `gang-judge.ts` holds what the scenarios must keep. */
import type { Change } from "../../../../shared/simulator/storage/store.ts";
import { textAt } from "../fields.ts";
import { appName, namespace, type Scenario, type UserAction } from "../scenario.ts";
import { flow, template } from "./flow/scenarios.ts";
import { living, slowly, task } from "./jobs.ts";

const cores = (cpu: string) => ({ name: "main", image: "busybox", resources: { requests: { cpu } } });

/** Pods of 24 cores; a node has 64. */
export const wide = (replicas = 2) =>
  task("main", { replicas }, { template: { spec: { restartPolicy: "Never", containers: [cores("24")] } } });

/** The job comes as soon as another runs: which of them is first must not depend on a fault. */
export const whileRunning = (name: string, other: string) => ({
  name,
  dependsOn: { targets: [other], probe: { taskStatusList: [{ taskName: "main", phase: "Running" }] } },
});

export const minutes = 60_000;

/** The group of the job with this name has this phase. */
const groupIs =
  (name: string, phase: string): UserAction["when"] =>
  ({ table, object }: Change) =>
    table === "podgroups.scheduling.volcano.sh" &&
    object.metadata.name.startsWith(`${appName}-${name}-`) &&
    textAt(object, "status", "phase") === phase;

const pods = `/api/v1/namespaces/${namespace}/pods`;

/** A pod that somebody binds to the first node without a scheduler. Its end takes 200 s. */
const thief = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "thief", namespace },
  spec: {
    ...{ nodeName: "node-1", restartPolicy: "Never", terminationGracePeriodSeconds: 300 },
    containers: [cores("30")],
  },
};

const templates = `/apis/flow.volcano.sh/v1alpha1/namespaces/${namespace}/jobtemplates`;

export const gangs: readonly Scenario[] = [
  flow({
    name: "gang-fit",
    what: "two jobs of two pods, and room for one of them: the second waits whole until the first has ended",
    gang: "builtin",
    stands: ["a", "b"].map((name) => template(name, { tasks: [wide()] })),
    spec: { flows: [{ name: "a" }, whileRunning("b", "a")] },
    lives: living({ "a-main-0": [slowly], "a-main-1": [slowly], "*": [{ runMs: 2_000 }] }),
    ends: "Succeed",
  }),
  flow({
    name: "gang-race",
    what: "three jobs of four pods at once, and room for one of them on two nodes: each starts whole, one after the other",
    gang: "builtin",
    machines: ["node-1", "node-2"],
    stands: ["a", "b", "c"].map((name) => template(name, { tasks: [wide(4)] })),
    spec: { flows: [{ name: "a" }, { name: "b" }, { name: "c" }] },
    lives: living({ "*": [{ runMs: 5 * minutes }] }),
    ends: "Succeed",
  }),
  flow({
    name: "gang-thief",
    what: "a pod of others takes a place of a plan: the group is taken back whole, and runs when that pod has gone",
    gang: "builtin",
    stands: [template("a", { tasks: [wide()] })],
    spec: { flows: [{ name: "a" }] },
    scripts: { thief: [{ stopMs: 200_000 }] },
    lives: { thief: [{}], "*": [{ runMs: 15 * minutes }] },
    userActions: [
      {
        says: "a pod is bound to the node of the plan",
        when: groupIs("a", "Inqueue"),
        afterMs: 0,
        during: true,
        do: { type: "write", method: "POST", path: pods, body: thief },
      },
      {
        says: "that pod goes",
        when: groupIs("a", "Inqueue"),
        afterMs: 20 * minutes,
        do: { type: "remove", pod: "thief" },
      },
    ],
    ends: "Succeed",
    breadth: "thin",
  }),
  flow({
    name: "gang-hold",
    what: "a group that has waited for room for ten minutes is not passed by a smaller one that comes later",
    gang: "builtin",
    stands: [template("a", { tasks: [wide(1)] }), template("big", { tasks: [wide()] })],
    spec: { flows: [{ name: "a" }, whileRunning("big", "a"), whileRunning("late", "a")] },
    lives: living({ "a-main-0": [{ runMs: 30 * minutes }], "*": [{ runMs: 20 * minutes }] }),
    userActions: [
      {
        says: "the template of the smaller job is created",
        when: groupIs("big", "Pending"),
        afterMs: 17 * minutes,
        do: { type: "write", method: "POST", path: templates, body: template("late", { tasks: [wide(1)] })[1] },
      },
    ],
    ends: "Succeed",
  }),
];
