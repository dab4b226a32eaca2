/** Objects around a Volcano job: queues, commands, its group, and others' objects that look like its own. */

import type { Store } from "../../../../shared/simulator/storage/store.ts";
import { home } from "../objects.ts";

type Made = readonly [path: string, body: object];
type Written = readonly [method: "POST" | "PATCH", path: string, body: object];

const namespace = "default";
const queues = "/apis/scheduling.volcano.sh/v1beta1/queues";
const group = "scheduling.volcano.sh/v1beta1";

/** The writes that create a queue where it is missing, and set its state. */
export const queueAt = (name: string, state: string, store: Store): readonly Written[] => {
  const made = store.get("queues.scheduling.volcano.sh", name) !== undefined;
  const spec = { weight: 1, ...(name === "root" ? {} : { parent: "root" }) };
  const body = { apiVersion: group, kind: "Queue", metadata: { name }, spec };
  const first: readonly Written[] = made ? [] : [["POST", queues, body]];
  return [...first, ["PATCH", `${queues}/${name}/status`, { status: { state } }]];
};

type Job = { readonly name: string; readonly uid: string };
type Target = Job & { readonly apiVersion: string; readonly kind: string };

/** A command as vcctl creates it: owner and target are a job or a queue. */
export const commandFor = ({ apiVersion, kind, name, uid }: Target, action: string): Made => {
  const target = { apiVersion, kind, name, uid, controller: true };
  return [
    `/apis/bus.volcano.sh/v1alpha1/namespaces/${namespace}/commands`,
    {
      apiVersion: "bus.volcano.sh/v1alpha1",
      kind: "Command",
      metadata: { generateName: `${name}-${action.toLowerCase()}-`, namespace, ownerReferences: [target] },
      action,
      target,
    },
  ];
};

/** Path of a job's group. */
export const groupOf = ({ name, uid }: Job): string =>
  `/apis/${group}/namespaces/${namespace}/podgroups/${name}-${uid}`;

const labels = { "volcano.sh/job-name": "pi", "volcano.sh/job-namespace": namespace };

const annotations = {
  "volcano.sh/task-spec": "worker",
  "volcano.sh/task-index": "7",
  "volcano.sh/job-version": "0",
  "volcano.sh/job-name": "pi",
};

const core = `/api/v1/namespaces/${namespace}`;

/** The namespace of the records of cluster-scoped objects. */
export const homeNamespace: Made = [
  "/api/v1/namespaces",
  { apiVersion: "v1", kind: "Namespace", metadata: { name: home } },
];

/** Objects of others with the labels, the annotations and nearly the names of a job's own. */
export const ofJobs: readonly Made[] = [
  homeNamespace,
  [
    `${core}/pods`,
    {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "pi-worker-7", namespace, labels, annotations },
      spec: { containers: [{ name: "main", image: "busybox" }], schedulingGates: [{ name: "example.com/held" }] },
    },
  ],
  [`${core}/configmaps`, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "pi", namespace, labels } }],
  [
    `/apis/${group}/namespaces/${namespace}/podgroups`,
    {
      apiVersion: group,
      kind: "PodGroup",
      metadata: { name: "pi-others", namespace, labels },
      spec: { minMember: 1 },
      status: { phase: "Running" },
    },
  ],
];
