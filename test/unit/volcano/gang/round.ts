/** Objects of an admission round with `gang: builtin`, and its verdicts as texts. */
import type { Stored } from "../../../../shared/core/object.ts";
import { timeText } from "../../../../shared/core/time.ts";
import { pinned } from "../../../../shared/kube/nodes.ts";
import { admissionOf } from "../../../../shared/volcano/gang/admission.ts";
import { openGround } from "../../../../shared/volcano/gang/ground.ts";

export type Fields = Readonly<Record<string, unknown>>;

export const eight = Date.UTC(2026, 10, 2, 8);

const stored = (kind: string, name: string, more: Fields, metadata: Fields = {}): Stored => ({
  apiVersion: kind === "Job" ? "batch.volcano.sh/v1alpha1" : "v1",
  kind,
  metadata: { name, namespace: "ns", uid: `${kind} ${name}`, resourceVersion: "1", ...metadata },
  ...more,
});

export const node = (name: string, cpu: number): Stored =>
  stored("Node", name, { status: { allocatable: { cpu: `${cpu}`, pods: "100" } } });

export type Task = { readonly cpu: number; readonly replicas: number; readonly least?: number; readonly more?: Fields };

export const job = (name: string, { cpu, replicas, least = replicas, more = {} }: Task): Stored => {
  const resources = { requests: { cpu: `${cpu}` } };
  const spec = { containers: [{ name: "main", image: "busybox", resources }], restartPolicy: "Never", ...more };
  return stored("Job", name, {
    spec: { minAvailable: least, tasks: [{ name: "w", replicas, minAvailable: least, template: { spec } }] },
  });
};

export type Marks = Readonly<Record<string, string>>;

export const planOf = (places: Fields): Marks => ({
  "rekindle.dev/plan": JSON.stringify({ since: timeText(eight), places }),
});

export const taken = (agoSeconds: number, times: number, nodes: readonly string[]): Marks => ({
  "rekindle.dev/taken-back": JSON.stringify({ at: timeText(eight - agoSeconds * 1_000), times, nodes }),
});

export const lacking = (agoSeconds: number): Marks => ({
  "rekindle.dev/lacks-room-since": timeText(eight - agoSeconds * 1_000),
});

const unmarked: Marks = {};

export const groupOf = (
  name: string,
  { age = 0, phase = "", owned = true, priorityClassName = "", annotations = unmarked } = {},
): Stored =>
  stored(
    "PodGroup",
    name,
    { spec: { queue: "q", ...(priorityClassName === "" ? {} : { priorityClassName }) }, status: { phase } },
    {
      annotations,
      creationTimestamp: timeText(eight - age * 1_000),
      ...(owned
        ? { ownerReferences: [{ apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job", name, uid: `Job ${name}` }] }
        : {}),
    },
  );

export const podOf = (
  name: string,
  group: string,
  { cpu = 1, on = "n", phase = "Running", nominated = "", metadata = {} } = {},
): Stored =>
  stored(
    "Pod",
    name,
    {
      spec: { ...(on === "" ? {} : { nodeName: on }), containers: [{ resources: { requests: { cpu: `${cpu}` } } }] },
      status: { phase, ...(nominated === "" ? {} : { nominatedNodeName: nominated }) },
    },
    { annotations: { "scheduling.k8s.io/group-name": group, "volcano.sh/task-spec": "w" }, ...metadata },
  );

export const pinnedTo = (name: string, pod: Stored): Stored => ({
  ...pod,
  spec: pinned(Object(pod["spec"]), name),
});

export const queue = stored("Queue", "q", { spec: {}, status: { state: "Open" } });

export type Given = {
  readonly nodes?: readonly Stored[];
  readonly pods?: readonly Stored[];
  readonly jobs: readonly Stored[];
  readonly groups: readonly Stored[];
  readonly hyperNodes?: readonly Stored[];
  readonly priorities?: Readonly<Record<string, number>>;
};

/** Empty for one node, whose name says nothing. */
const placesText = (places: readonly { readonly node: string; readonly count: number }[]): string =>
  new Set(places.map(({ node }) => node)).size < 2 && places[0]?.node !== "m"
    ? ""
    : places.map(({ node, count }) => `${count} on ${node}`).join(", ");

export const verdicts = ({ nodes = [node("n", 4)], pods = [], priorities = {}, ...given }: Given): Fields => {
  const values = new Map(Object.entries(priorities));
  const { groups } = given;
  const ground = openGround({ ...given, nodes, pods, priorities: values, now: eight });
  return Object.fromEntries(
    admissionOf({ queues: [queue], groups, priorities: values, ground }).verdicts.map((verdict) => [
      verdict.group.metadata.name,
      verdict.enters ? placesText(verdict.places) : verdict.why,
    ]),
  );
};

export const three: Task = { cpu: 1, replicas: 3 };
