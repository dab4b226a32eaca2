/** Records that cannot be gone on with, in the middle of a run: another cluster's, damaged, given up, and an order to end everything. */
import type { Change } from "../../shared/simulator/store.ts";
import { at } from "./fields.ts";
import { type Act, appName, base, executorRuns, namespace, type Scenario } from "./plot.ts";

/** What happens to the record, and a moment later something that a host hears of. */
const inTheMiddle = (says: string, what: Act["do"], when = executorRuns): readonly Act[] => [
  { says, when, afterMs: 1_000, do: what },
  {
    says: "kubectl annotate",
    when,
    afterMs: 2_000,
    do: { act: "annotate", annotations: { "example.com/looked": "yes" } },
  },
];

/** The status tells of both executors: everything that it says of a run is known. */
const executorsTold = ({ table, object }: Change): boolean =>
  table === "sparkapplications.sparkoperator.k8s.io" &&
  Object.values(Object(at(object, "status", "executorState"))).filter((state) => state === "RUNNING").length === 2;

/** The status tells of a run of ours, whatever has become of it. */
const isTold = ({ table, object }: Change): boolean =>
  table === "sparkapplications.sparkoperator.k8s.io" && at(object, "status", "submissionID") !== undefined;

const twice = { [appName]: [{ hangs: true }, { jobMs: 2_000 }] };
const damage = { memory: { state: { phase: "NONSENSE" }, history: 7 }, runs: "none", trouble: 1 };

export const recoveries: readonly Scenario[] = [
  {
    name: "another-cluster",
    what: "the cluster is another one: the run under way becomes the next attempt",
    spec: base,
    scripts: twice,
    acts: inTheMiddle("restored into another cluster", { act: "record", spec: { cluster: "another" } }),
    ends: "COMPLETED",
    breadth: "thin",
  },
  {
    name: "afresh",
    what: "the cluster is another one, and the record of a newer schema: it starts afresh, by what the status tells",
    spec: base,
    scripts: twice,
    // Without a record, and before a first status, nobody knows that there was a run.
    acts: inTheMiddle(
      "restored by a newer Rekindle",
      { act: "record", spec: { cluster: "another", schema: 9 } },
      executorsTold,
    ),
    ends: "COMPLETED",
    breadth: "thin",
  },
  {
    name: "damaged",
    what: "its record is damaged while it runs, and what can be read of it is kept",
    spec: base,
    scripts: { [appName]: [{ jobMs: 8_000 }] },
    lenient: true,
    acts: inTheMiddle("kubectl edit checkpoint", { act: "edit", spec: damage }),
    ends: "COMPLETED",
    breadth: "thin",
  },
  {
    name: "emptied",
    what: "its record is emptied while it runs, and its driver is adopted",
    spec: base,
    scripts: { [appName]: [{ jobMs: 8_000 }] },
    lenient: true,
    acts: inTheMiddle("somebody empties the memory", {
      act: "edit",
      spec: { memory: { driver: 7, state: 7, spec: 7 } },
    }),
    ends: "COMPLETED",
    breadth: "thin",
  },
  {
    name: "cleanup",
    what: "everything is to be ended, and whoever was told so dies between any two deletions",
    spec: base,
    scripts: { [appName]: [{ hangs: true }] },
    acts: inTheMiddle("rekindle recover --mode cleanup", { act: "cleanup", graceSeconds: 5 }, executorsTold),
    ends: "FAILED",
    breadth: "thin",
  },
  {
    name: "reconfigured",
    what: "its record was made under a shorter fence: it runs on, and the next write takes the longer one in",
    spec: base,
    scripts: { [appName]: [{ jobMs: 8_000 }] },
    acts: inTheMiddle("deployed with other settings", {
      act: "record",
      spec: { made: { fenceMs: 5_000, requestTimeoutMs: 5_000 } },
    }),
    ends: "COMPLETED",
    breadth: "sparse",
  },
  {
    name: "older-status",
    what: "an older writer's status comes after ours: it is set right from the record",
    spec: base,
    scripts: { [appName]: [{ jobMs: 8_000 }] },
    acts: inTheMiddle(
      "counts from before",
      {
        act: "write",
        method: "PATCH",
        path: `/apis/sparkoperator.k8s.io/v1beta2/namespaces/${namespace}/sparkapplications/${appName}/status`,
        body: { status: { driverInfo: {}, submissionAttempts: 7, executionAttempts: 7 } },
      },
      isTold,
    ),
    ends: "COMPLETED",
    breadth: "sparse",
  },
];
