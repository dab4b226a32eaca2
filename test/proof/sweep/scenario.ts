/** The data of scenarios: an application, the course of its pods, and the actions of its users. */

import type { Scripts } from "../../../shared/simulator/nodes/script.ts";
import type { Change } from "../../../shared/simulator/storage/store.ts";
import type { Demand } from "./demand-invariants.ts";
import { textAt } from "./fields.ts";
import type { SweptName } from "./kinds.ts";
import type { Life } from "./volcano/simulator-parts.ts";

export type Writing = {
  readonly method: "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly body?: object;
};

/** A user action happens once, some time after a change of the cluster. */
export type UserAction = {
  readonly says: string;
  readonly when: (change: Change) => boolean;
  readonly afterMs: number;
  /** True: it may also happen between two calls of a step. Others wait until no call is under way. */
  readonly during?: boolean;
  readonly do:
    | { readonly type: "delete" }
    | { readonly type: "patch"; readonly spec: Readonly<Record<string, unknown>> }
    | { readonly type: "annotate"; readonly annotations: Readonly<Record<string, string>> }
    /** Of several pods with such a name, the one with the nth lowest number; absent: the lowest. */
    | {
        readonly type: "kill";
        readonly pod: RegExp;
        readonly nth?: number;
        readonly code: number;
        /** Reason of the ended container, such as OOMKilled. */
        readonly reason?: string;
      }
    | { readonly type: "evict"; readonly pod: RegExp }
    /** Freezes the machine of a pod; `thaw` continues all frozen machines. */
    | { readonly type: "freeze"; readonly pod: RegExp; readonly nth?: number }
    | { readonly type: "thaw" }
    /** A finalizer keeps a pod when it is deleted; `release` takes it away from all pods. */
    | { readonly type: "hold"; readonly pod: RegExp; readonly nth?: number }
    | { readonly type: "release" }
    /** A notice says that the machine of a pod goes in two minutes. */
    | { readonly type: "leaving"; readonly pod: RegExp; readonly nth?: number }
    /** All machines stay: earlier notices are taken back. */
    | { readonly type: "staying" }
    /** The machine of a pod is deleted without notice, which a watch of nodes passes on. */
    | { readonly type: "unplug"; readonly pod: RegExp; readonly nth?: number }
    | { readonly type: "remove"; readonly pod: string }
    /** Applies the application once more. */
    | { readonly type: "apply" }
    /** All processes that run steps die at once, and begin anew. */
    | { readonly type: "restart" }
    /** Breaks the watch, and lists anew after this time. */
    | { readonly type: "unhear"; readonly ms: number }
    /** Triggers the step from outside this many times. */
    | { readonly type: "trigger"; readonly times: number }
    /** Changes the record, as another version or another cluster would have written it. */
    | { readonly type: "record"; readonly spec: Readonly<Record<string, unknown>> }
    /** Changes the record, as a user edits it. */
    | { readonly type: "edit"; readonly spec: Readonly<Record<string, unknown>> }
    /** `rekindle recover --mode cleanup`, which dies after its first save. */
    | { readonly type: "cleanup"; readonly graceSeconds: number }
    /** Creates a Command for the scenario's object, or for another one of its kind. */
    | { readonly type: "command"; readonly action: string; readonly of?: string }
    /** The other controller of the scenario, or the tenant that forges its signs, acts. */
    | { readonly type: "controller"; readonly does: ControllerAction }
    /** Any other write. */
    | ({ readonly type: "write" } & Writing)
    /** The scheduler sets the phase of the job's PodGroup. */
    | { readonly type: "group"; readonly phase: string }
    /** Creates a queue, or sets its state. */
    | { readonly type: "queue"; readonly queue: string; readonly state: string };
};

/** The sign of a controller: its Deployment, its Ready pod, or its lease; `none`: there is only what a tenant forges. */
export type ControllerSign = "deployment" | "pod" | "lease" | "none";
/** A controller begins, renews its lease, and goes; a tenant forges a status, or deletes what it has forged. */
export type ControllerAction = "begins" | "renews" | "goes" | "forges" | "deletes";

/** The reaction of a listener to an update: see `listeners.ts`. */
export type Mood = "acknowledges" | "fails" | "hangs" | "mute" | "later";
/** By the number of the request; the last holds for all later ones. */
export type Listeners = Readonly<Record<string, readonly Mood[]>>;

export type Scenario = {
  readonly name: string;
  /** The kind of the application under test; absent: SparkApplication. */
  readonly kind?: SweptName;
  readonly what: string;
  readonly spec: Readonly<Record<string, unknown>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly scripts: Scripts;
  /** Courses of a job's pods, by pod and by their retry; the last holds for all later ones. */
  readonly lives?: Readonly<Record<string, readonly Life[]>>;
  readonly userActions: readonly UserAction[];
  /** Bugs of upstream's that it would reveal: their numbers in the catalogue, and their reports. */
  readonly upstream?: string;
  /** Machines; absent: one. */
  readonly machines?: readonly string[];
  /** Pods of others that exist from the beginning. */
  readonly strangers?: readonly string[];
  /** Objects that are applied before the application: path and body; `PATCH`: one that the cluster has already. */
  readonly stands?: readonly (readonly [path: string, body: object, method?: "PATCH"])[];
  /** Status and driver that another controller left when the application was applied. */
  readonly left?: { readonly status?: Readonly<Record<string, unknown>>; readonly driver: string };
  /** The readable parts of a damaged record are kept. */
  readonly lenient?: true;
  /**
   * Functions run its steps beside another controller, which shows by this sign: from the `first`, or by user actions. A
   * tenant forges every sign of it meanwhile.
   */
  readonly beside?: { readonly by: ControllerSign; readonly first?: true };
  /**
   * Rekindle alone admits PodGroups: by their queues, or when they fit the nodes, too, or for a scheduler that places gangs.
   * Absent: a stand-in for Volcano's scheduler does.
   */
  readonly gang?: "here" | "builtin" | "native";
  /** A stand-in for Kueue's controller admits and evicts its Workload; `growths`: a queue with quota, and its growths. */
  readonly kueued?: true | "growths";
  /** Ends of drivers' logs are kept: `keepDriverLogs`. */
  readonly keepsLogs?: true;
  /** With `gang: builtin`: whose pods are evicted for groups that lack room; absent: nobody's. */
  readonly gangEvict?: "preempt" | "reclaim";
  /** Its steps are a host's, with its watch and its memory. */
  readonly hosted?: true;
  /** No watch is open: the bell sends the keys of its changes. */
  readonly belled?: true;
  /** Its steps are calls of functions by a dispatcher. */
  readonly dispatched?: true;
  /** Listeners of its updates, by URL: the reactions to all requests, one after the other. */
  readonly listeners?: Listeners;
  /** The final state without a fault; "gone" when the application is deleted. */
  readonly ends: string;
  /** The reason of an event that its user sees in a run without a fault. */
  readonly tells?: string;
  /** Families of faults that last longer than its own times: their effects are intended. */
  readonly without?: readonly string[];
  /** The demand of its driver, for the judge: the number of executors follows it. */
  readonly demand?: Demand;
  /** The memory of its executors' containers, MiB: the first, and each that follows an OOMKilled one. */
  readonly sizes?: readonly number[];
  /** Revisions by which a read may be stale, in the place of the usual ones. */
  readonly behindBy?: readonly number[] | undefined;
  /** Further families for a thin scenario. */
  readonly also?: readonly string[];
  /** Run whole only when it is chosen by name: it would be a third of a sweep of all. */
  readonly drawn?: true;
  /** The share of cases that are run; see `cases.ts`. */
  readonly breadth: "whole" | "part" | "thin" | "sparse";
};

/** Name and namespace of the application under test. */
export const appName = "pi";
export const namespace = "default";

/** Secrets of the manifest: they belong into the driver's pod and conf, and into nothing else. */
export const canaries = ["CANARY-env-7f3a", "CANARY-conf-9c1d"] as const;

export const base = {
  type: "Scala",
  mode: "cluster",
  sparkVersion: "4.1.1",
  image: "docker.io/apache/spark:4.1.1",
  mainClass: "org.apache.spark.examples.SparkPi",
  mainApplicationFile: "local:///opt/spark/examples/jars/spark-examples.jar",
  arguments: ["1000"],
  sparkConf: { "spark.ssl.keyPassword": canaries[1] },
  restartPolicy: { type: "Never" },
  driver: { cores: 1, memory: "512m", serviceAccount: "spark", env: [{ name: "TOKEN", value: canaries[0] }] },
  executor: { instances: 2, cores: 1, memory: "512m" },
} as const;

export const isDriver = ({ object }: Change): boolean => object.metadata.labels?.["spark-role"] === "driver";
export const isExecutor = ({ object }: Change): boolean => object.metadata.labels?.["spark-role"] === "executor";
const runs = (change: Change): boolean =>
  change.table === "pods" && textAt(change.object, "status", "phase") === "Running";

export const driverRuns = (change: Change): boolean => runs(change) && isDriver(change);
export const executorRuns = (change: Change): boolean => runs(change) && isExecutor(change);
/** The status lists this many running executors. */
const executorsRun =
  (count: number) =>
  ({ table, object }: Change): boolean => {
    const states: readonly unknown[] = Object.values(Object(Object(object["status"])["executorState"]));
    return table.startsWith("sparkapplications.") && states.filter((state) => state === "RUNNING").length === count;
  };
export const bothRun = executorsRun(2);
export const threeRun = executorsRun(3);
export const stateIs =
  (state: string) =>
  (change: Change): boolean =>
    change.table === "sparkapplications.sparkoperator.k8s.io" &&
    textAt(change.object, "status", "applicationState", "state") === state;
