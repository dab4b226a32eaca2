/** The objects by which a tenant looks like a controller that Rekindle replaces, or like Volcano's scheduler. */
import { firstQueues } from "../../support/standins.ts";
import { application, container, type Fields, flow, job, type Obj, scheduled, type Texts, task } from "./objects.ts";
import { attackers, fresh } from "./stand.ts";
import { ownersRole } from "./tenant.ts";

export type Forgery = {
  readonly name: string;
  readonly objects: readonly Obj[];
  /** Written to the status of each object, under the field manager `manager`. */
  readonly status?: Fields;
  readonly manager?: string;
  /** The objects belong to the cluster, and the API server refuses the tenant's write of their status. */
  readonly isBarred?: boolean;
  /** Deletes and writes all so many times. */
  readonly rounds?: number;
};

/** 68 years, the largest duration that a Lease can state. */
const longestSeconds = 2_147_483_647;

export const lease = (name: string, namespace = attackers, more: Fields = {}): Obj => ({
  ...{ apiVersion: "coordination.k8s.io/v1", kind: "Lease" },
  metadata: { name, namespace },
  spec: {
    holderIdentity: "mallory",
    leaseDurationSeconds: longestSeconds,
    renewTime: new Date().toISOString().replace("Z", "000Z"),
    ...more,
  },
});

const deployment = (image: string, namespace = attackers, spec: Fields = {}, more: Fields = {}): Obj => {
  const labels = { app: fresh("controller") };
  return {
    ...{ apiVersion: "apps/v1", kind: "Deployment" },
    metadata: { name: labels.app, namespace },
    spec: {
      ...{ replicas: 1, selector: { matchLabels: labels } },
      template: { metadata: { labels }, spec: { containers: [{ name: "c", image }], ...spec } },
      ...more,
    },
  };
};

const pod = (labels: Texts, image: string, spec: Fields = {}): Obj => ({
  ...{ apiVersion: "v1", kind: "Pod" },
  metadata: { name: fresh("controller"), namespace: attackers, labels },
  spec: { containers: [{ name: "c", image }], ...spec },
});

const ready = {
  phase: "Running",
  conditions: [{ type: "Ready", status: "True" }],
  containerStatuses: [{ name: "c", image: "none", imageID: "", ready: true, restartCount: 0 }],
};

const images = {
  spark: "docker.io/kubeflow/spark-operator:2.1.0",
  controller: "ghcr.io/kubeflow/spark-operator/controller:2.4.0",
  google: "gcr.io/googlecloudplatform/spark-operator:v1beta2-1.3.8",
  mirrored: "mirror.example/spark-operator@sha256:00",
  volcano: "docker.io/volcanosh/vc-controller-manager:v1.12.1",
  scheduler: "docker.io/volcanosh/vc-scheduler:v1.12.1",
} as const;

const labels = {
  spark: { "app.kubernetes.io/name": "spark-operator" },
  volcano: { app: "volcano-controller" },
  scheduler: { app: "volcano-scheduler" },
} as const;

const leaseNames = ["spark-operator-lock", "spark-operator-controller-lock", "vc-controller-manager"] as const;
const schedulerLeases = ["volcano", "vc-scheduler"] as const;

const api = "rbac.authorization.k8s.io";

/** An account with a role in the attacker's namespace. */
const accountWith = (name: string, role: { readonly kind: string; readonly name: string }): readonly Obj[] => [
  { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace: attackers } },
  {
    ...{ apiVersion: `${api}/v1`, kind: "RoleBinding", metadata: { name, namespace: attackers } },
    roleRef: { apiGroup: api, ...role },
    subjects: [{ kind: "ServiceAccount", name, namespace: attackers }],
  },
];

/** An account that may write the kinds in its own namespace, as its owner can grant. */
const account = "forged-controller";
const ownRights = (): readonly Obj[] => {
  const role = "forged-controller";
  const metadata = { name: role, namespace: attackers };
  return [
    {
      ...{ apiVersion: `${api}/v1`, kind: "Role", metadata },
      rules: [
        { apiGroups: ["sparkoperator.k8s.io"], resources: ["sparkapplications/status"], verbs: ["update", "patch"] },
        { apiGroups: ["batch.volcano.sh"], resources: ["jobs/status"], verbs: ["update", "patch"] },
        { apiGroups: [""], resources: ["pods/binding"], verbs: ["create"] },
      ],
    },
    ...accountWith(account, { kind: "Role", name: role }),
  ];
};

const fromAccount = { serviceAccountName: account };

const leases: readonly Forgery[] = [
  ...[...leaseNames, ...schedulerLeases].map((name) => ({
    name: `a Lease ${name} of 68 years`,
    objects: [lease(name)],
  })),
  {
    name: "Leases that were renewed in the future",
    objects: leaseNames.map((name) => lease(name, `${attackers}-future`, { renewTime: "2099-01-01T00:00:00.000000Z" })),
  },
];

/** Namespaces of a tenant that may choose their names, each like one where a controller is usually installed. */
const alike: readonly Forgery[] = ["spark-operators", "volcano-system-1", "kube-system-a", "xrekindle"].map(
  (namespace) => ({
    name: `all signs in the namespace ${namespace}`,
    objects: [
      ...[...leaseNames, ...schedulerLeases].map((name) => lease(name, namespace)),
      ...Object.values(images).map((image) => deployment(image, namespace)),
    ],
  }),
);

const workloads: readonly Forgery[] = [
  ...Object.values(images).map((image) => ({ name: `a Deployment of ${image}`, objects: [deployment(image)] })),
  {
    name: "a Deployment of no replicas beside its Lease",
    objects: [deployment(images.controller, attackers, {}, { replicas: 0 }), lease("spark-operator-lock")],
  },
  ...(["spark", "volcano", "scheduler"] as const).flatMap((of): readonly Forgery[] => [
    { name: `a pod with the labels of ${of}`, objects: [pod(labels[of], "none")] },
    { name: `a Ready pod with labels and image of ${of}`, objects: [pod(labels[of], images[of])], status: ready },
  ]),
];

const rights: readonly Forgery[] = [
  {
    name: "a Deployment whose account may write in its own namespace",
    objects: [...ownRights(), deployment(images.spark, attackers, fromAccount)],
  },
  {
    name: "a Ready pod of Volcano whose account may write in its own namespace",
    objects: [...ownRights(), pod(labels.volcano, images.volcano, fromAccount)],
    status: ready,
  },
  ...(["controller", "volcano", "scheduler"] as const).map(
    (of): Forgery => ({
      name: `a Deployment of ${images[of]} whose account has a ClusterRole in its own namespace`,
      objects: [
        ...accountWith(`owner-${of}`, { kind: "ClusterRole", name: ownersRole }),
        deployment(images[of], attackers, { serviceAccountName: `owner-${of}` }),
      ],
    }),
  ),
  {
    name: "Deployments whose accounts have the names of upstream's",
    objects: ["spark-operator-controller", "volcano-controllers", "rekindle"].map((name) =>
      deployment(images.volcano, attackers, { serviceAccountName: name }),
    ),
  },
];

const withPod = (of: "driver" | "executor", more: Fields): Obj =>
  application(fresh("labelled"), { [of]: { cores: 1, memory: "512m", serviceAccount: "spark", ...more } });

const throughFields: readonly Forgery[] = [
  {
    name: "an application with upstream's label on its driver",
    objects: [withPod("driver", { labels: labels.spark })],
  },
  {
    name: "an application with upstream's label and image on its driver",
    objects: [withPod("driver", { labels: labels.spark, image: images.controller })],
  },
  {
    name: "an application with upstream's label on its executors",
    objects: [withPod("executor", { labels: labels.spark, instances: 1 })],
  },
  ...(["volcano", "scheduler"] as const).map((of) => ({
    name: `a job with the label of ${of} in its template`,
    objects: [
      job(fresh("labelled"), {
        tasks: [
          task("w", 1, {
            template: {
              metadata: { labels: labels[of] },
              spec: { restartPolicy: "Always", containers: [{ ...container, image: images[of] }] },
            },
          }),
        ],
      }),
    ],
  })),
];

const group = (): Obj => ({
  ...{ apiVersion: "scheduling.volcano.sh/v1beta1", kind: "PodGroup" },
  metadata: { name: fresh("written"), namespace: attackers },
  spec: { minMember: 1, queue: "default" },
});

const writes: readonly Forgery[] = [
  {
    name: "the status of an application by spark-operator",
    objects: [application(fresh("written"), { suspend: true })],
    ...{ status: { applicationState: { state: "SUBMITTED" }, driverInfo: {} }, manager: "spark-operator" },
  },
  {
    name: "the status of a schedule by spark-operator",
    objects: [scheduled(fresh("written"), { suspend: true })],
    ...{ status: { scheduleState: "Scheduled" }, manager: "spark-operator" },
  },
  {
    name: "the status of a job by vc-controller-manager",
    objects: [job(fresh("written"), {})],
    ...{ status: { state: { phase: "Pending" } }, manager: "vc-controller-manager" },
  },
  {
    name: "the status of a flow by vc-controller-manager",
    objects: [flow(fresh("written"), [{ name: "a" }])],
    ...{ status: { state: { phase: "Pending" } }, manager: "vc-controller-manager" },
  },
  {
    name: "the status of groups by vc-scheduler",
    objects: [group(), group()],
    ...{ status: { phase: "Inqueue" }, manager: "vc-scheduler" },
  },
  {
    name: "the status of the queue default by vc-scheduler",
    objects: firstQueues,
    ...{ status: { state: "Open", running: 1 }, manager: "vc-scheduler", isBarred: true },
  },
  {
    name: "a job that is written and deleted again and again",
    objects: [job(fresh("written"), {})],
    ...{ status: { state: { phase: "Pending" } }, manager: "vc-controller-manager", rounds: 8 },
  },
  { name: "a Deployment that comes and goes", objects: [deployment(images.controller)], rounds: 8 },
];

const many: Forgery = {
  name: "30 Deployments, 30 pods and all Leases at once",
  objects: [
    ...Array.from({ length: 30 }, (_, at) => deployment(at % 2 === 0 ? images.controller : images.volcano)),
    ...Array.from({ length: 30 }, (_, at) => pod(at % 2 === 0 ? labels.spark : labels.volcano, "none")),
    ...[...leaseNames, ...schedulerLeases].map((name) => lease(name, `${attackers}-many`)),
  ],
};

export const forgeries: readonly Forgery[] = [
  ...leases,
  ...workloads,
  ...rights,
  ...throughFields,
  ...writes,
  ...alike,
  many,
];

export const shortForgeries: readonly Forgery[] = [
  { name: "Leases of all names, in short", objects: leaseNames.map((name) => lease(name)) },
  { name: "a Deployment of each image, in short", objects: Object.values(images).map((image) => deployment(image)) },
];
