/** What scenarios are made of: an application, how its pods fare, and what users do to it on the way. All in data. */

import type { Scripts } from "../../../shared/simulator/script.ts";
import type { Change } from "../../../shared/simulator/store.ts";
import { textAt } from "./fields.ts";
import type { SweptName } from "./kinds.ts";
import type { Life } from "./volcano/players.ts";

export type Writing = {
  readonly method: "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly body?: object;
};

/** Something that happens once, so long after a change of the world that it waits for. */
export type Act = {
  readonly says: string;
  readonly when: (change: Change) => boolean;
  readonly afterMs: number;
  /** It may also come between two calls of a step; others wait until no call is under way. */
  readonly during?: boolean;
  readonly do:
    | { readonly act: "delete" }
    | { readonly act: "patch"; readonly spec: Readonly<Record<string, unknown>> }
    | { readonly act: "annotate"; readonly annotations: Readonly<Record<string, string>> }
    /** Of several pods of such a name the one with the nth lowest number, the lowest if it does not say. */
    | { readonly act: "kill"; readonly pod: RegExp; readonly nth?: number; readonly code: number }
    | { readonly act: "evict"; readonly pod: RegExp }
    /** The machine of a pod stands still; all that do go on. */
    | { readonly act: "freeze"; readonly pod: RegExp; readonly nth?: number }
    | { readonly act: "thaw" }
    /** Somebody tells that the machine of a pod goes in two minutes. */
    | { readonly act: "leaving"; readonly pod: RegExp; readonly nth?: number }
    | { readonly act: "remove"; readonly pod: string }
    /** The application is applied once more. */
    | { readonly act: "apply" }
    /** Everybody who steps dies at once, and begins anew. */
    | { readonly act: "restart" }
    /** The watch breaks off, and lists anew after so long. */
    | { readonly act: "unhear"; readonly ms: number }
    /** So many calls for a step from outside. */
    | { readonly act: "trigger"; readonly times: number }
    /** The record, as another version or another cluster would have written it. */
    | { readonly act: "record"; readonly spec: Readonly<Record<string, unknown>> }
    /** The record, as somebody edits it. */
    | { readonly act: "edit"; readonly spec: Readonly<Record<string, unknown>> }
    /** `rekindle recover --mode cleanup`, which dies after its first save. */
    | { readonly act: "cleanup"; readonly graceSeconds: number }
    /** A Command asks what the scenario is about for an action, or another one of its kind. */
    | { readonly act: "command"; readonly action: string; readonly of?: string }
    /** The other controller of the scenario begins, writes a status, or goes. */
    | { readonly act: "controller"; readonly does: ControllerAct }
    /** Some other write. */
    | ({ readonly act: "write" } & Writing)
    /** The scheduler says of the job's group that it is in this phase. */
    | { readonly act: "group"; readonly phase: string }
    /** A queue is made, or its state set. */
    | { readonly act: "queue"; readonly queue: string; readonly state: string };
};

/** What shows a controller that holds no lease: its Deployment, its Ready pod, or nothing but what it writes. */
export type ControllerSign = "deployment" | "pod" | "writes";
export type ControllerAct = "begins" | "writes" | "goes";

/** What a listener does with an update: see `listeners.ts`. */
export type Mood = "acknowledges" | "fails" | "hangs" | "mute" | "later";
/** By the number of the request; the last goes for all later ones. */
export type Listeners = Readonly<Record<string, readonly Mood[]>>;

export type Scenario = {
  readonly name: string;
  /** What the application under test is; a SparkApplication unless it says so. */
  readonly kind?: SweptName;
  readonly what: string;
  readonly spec: Readonly<Record<string, unknown>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly scripts: Scripts;
  /** How the pods of a job live, by pod and by the retry that they are of; the last goes for all later ones. */
  readonly lives?: Readonly<Record<string, readonly Life[]>>;
  readonly acts: readonly Act[];
  /** Bugs of upstream's that it would bring to light: their numbers in the catalogue, and where they were reported. */
  readonly upstream?: string;
  /** Machines; one, if it does not say. */
  readonly machines?: readonly string[];
  /** Pods of somebody else that stand from the beginning. */
  readonly strangers?: readonly string[];
  /** What is applied with it, before it: where, and what. */
  readonly stands?: readonly (readonly [path: string, body: object])[];
  /** What another controller left when the application was applied: its status, and its driver. */
  readonly left?: { readonly status?: Readonly<Record<string, unknown>>; readonly driver: string };
  /** What can be read of a record that cannot be read whole is kept. */
  readonly lenient?: true;
  /** Its steps are functions', which look for other controllers: one is there for a while, without a lease, and shows by this; from before the application on, or later by its acts. */
  readonly beside?: { readonly by: ControllerSign; readonly first?: true };
  /** Nobody lets groups of pods in but Rekindle; a stand-in for Volcano's scheduler does, where this is absent. */
  readonly gang?: "here";
  /** Its steps are a host's, which goes by what it watches and remembers. */
  readonly hosted?: true;
  /** Who may be told of its updates, by URL: what each does with what comes to all of them, one after the other. */
  readonly listeners?: Listeners;
  /** The state that it ends in when nothing goes wrong; "gone" when the application is deleted. */
  readonly ends: string;
  /** The reason of an event that its user is to see when nothing goes wrong. */
  readonly tells?: string;
  /** Families of faults that outlast its own times: what they change is meant. */
  readonly without?: readonly string[];
  /** Families that a thin scenario is put to besides. */
  readonly also?: readonly string[];
  /** Whole only when it is chosen by name: of a sweep of all it would be a third. */
  readonly drawn?: true;
  /** Everything everywhere, or of what others show already only a part, a thin one, or a sparse one: see `cases.ts`. */
  readonly breadth: "whole" | "part" | "thin" | "sparse";
};

/** The application under test, and a namesake's that nobody may touch. */
export const appName = "pi";
export const namespace = "default";

/** Secrets of the manifest: they belong into the driver's pod and conf, and nowhere else. */
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
/** Its status tells of so many executors that run. */
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
