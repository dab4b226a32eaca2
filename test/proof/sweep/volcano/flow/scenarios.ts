/** Flows of jobs: each job comes once, after its dependencies, whichever call dies. */
import type { Change } from "../../../../../shared/simulator/storage/store.ts";
import { textAt } from "../../fields.ts";
import { appName, namespace, type Scenario, type UserAction } from "../../scenario.ts";
import { fails, jobQuota, living, long, slowly, task } from "../jobs.ts";

type Fields = Readonly<Record<string, unknown>>;

const group = "flow.volcano.sh/v1alpha1";
const templates = `/apis/${group}/namespaces/${namespace}/jobtemplates`;

const main = task("main");

/** A template of a job, of one pod unless it says otherwise. */
export const template = (name: string, more: Fields = {}): readonly [string, object] => [
  templates,
  {
    apiVersion: group,
    kind: "JobTemplate",
    metadata: { name, namespace },
    spec: { maxRetry: 3, tasks: [main], ...more },
  },
];

const after = (name: string, ...targets: readonly string[]): Fields => ({ name, dependsOn: { targets } });

export const jobIs =
  (name: string, phase: string): UserAction["when"] =>
  ({ table, object }: Change) =>
    table === "jobs.batch.volcano.sh" &&
    object.metadata.name === `${appName}-${name}` &&
    textAt(object, "status", "state", "phase") === phase;

const podOf = (name: string): string => `${name}-main-0`;

const jobPath = (name: string): string =>
  `/apis/batch.volcano.sh/v1alpha1/namespaces/${namespace}/jobs/${appName}-${name}`;

type Told = Pick<Scenario, "name" | "what" | "ends" | "spec"> & Partial<Scenario>;

/** A scenario about a JobFlow of templates a, b and c, which is run sparsely unless it says otherwise. */
export const flow = (told: Told): Scenario => ({
  kind: "JobFlow",
  scripts: {},
  lives: living({ "*": [{ runMs: 2_000 }] }),
  stands: ["a", "b", "c"].map((name) => template(name)),
  userActions: [],
  breadth: "sparse",
  ...told,
});

export const flows: readonly Scenario[] = [
  flow({
    name: "flow-quota",
    what: "a quota refuses the last of its jobs for ever: the status shows the two that have completed, and a deletion ends it",
    stands: [...["a", "b", "c"].map((name) => template(name)), jobQuota(2)],
    spec: { flows: [{ name: "a" }, after("b", "a"), after("c", "a", "b")] },
    userActions: [{ says: "kubectl delete", when: jobIs("b", "Completed"), afterMs: 300_000, do: { type: "delete" } }],
    ends: "gone",
  }),
  flow({
    name: "flow-order",
    what: "a flow: b after a, c after both",
    spec: { flows: [{ name: "a" }, after("b", "a"), after("c", "a", "b")] },
    ends: "Succeed",
    breadth: "thin",
    without: ["read-only-5m"],
  }),
  flow({
    name: "flow-probe-patch",
    what: "a flow: b, patched, as soon as a's pod runs",
    spec: {
      flows: [
        { name: "a" },
        {
          name: "b",
          dependsOn: { targets: ["a"], probe: { taskStatusList: [{ taskName: "main", phase: "Running" }] } },
          patch: { jobSpec: { minAvailable: 2, maxRetry: 7, tasks: [{ name: "main", replicas: 2 }] } },
        },
      ],
    },
    lives: living({ [podOf("a")]: [slowly], "*": [{ runMs: 2_000 }] }),
    ends: "Succeed",
  }),
  flow({
    name: "flow-jobs-removed",
    what: "a flow that takes its jobs away when it has succeeded",
    spec: { jobRetainPolicy: "delete", flows: [{ name: "a" }, after("b", "a")] },
    ends: "Succeed",
  }),
  flow({
    name: "flow-failed",
    what: "a flow of which a job fails: what depends on it is not made",
    spec: { flows: [{ name: "a" }, after("b", "a")] },
    lives: living({ [podOf("a")]: [fails] }),
    ends: "Failed",
  }),
  flow({
    name: "flow-retried",
    what: "a job of a flow fails twice, and is created again once: the flow has failed",
    spec: { flows: [{ name: "a" }, after("b", "a")] },
    annotations: { "rekindle.dev/job-retries": "1" },
    lives: living({ [podOf("a")]: [fails] }),
    ends: "Failed",
  }),
  flow({
    name: "flow-done-and-removed",
    what: "a job of a flow is complete and removed: it is not made again",
    spec: { flows: [{ name: "a" }, after("b", "a"), after("c", "b")] },
    lives: living({ [podOf("b")]: [slowly], "*": [{ runMs: 2_000 }] }),
    userActions: [
      {
        says: "kubectl delete the job that is complete",
        when: jobIs("b", "Running"),
        afterMs: 1_000,
        do: { type: "write", method: "DELETE", path: jobPath("a") },
      },
    ],
    ends: "Succeed",
  }),
  flow({
    name: "flow-template-late",
    what: "a flow whose second template comes later",
    spec: { flows: [{ name: "a" }, after("late", "a")] },
    userActions: [
      {
        says: "the template that is missing is created",
        when: jobIs("a", "Completed"),
        afterMs: 40_000,
        do: { type: "write", method: "POST", path: templates, body: template("late")[1] },
      },
    ],
    ends: "Succeed",
  }),
  flow({
    name: "flow-deletion",
    what: "a flow is deleted while a job of it runs",
    spec: { flows: [{ name: "a" }, after("b", "a")] },
    lives: living({ "*": [long] }),
    userActions: [{ says: "kubectl delete", when: jobIs("a", "Running"), afterMs: 1_000, do: { type: "delete" } }],
    ends: "gone",
  }),
];
