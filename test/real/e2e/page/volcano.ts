/** Volcano's objects on the cluster of this lane: a job whose gang is whole, and a flow of which one job waits. */

const busybox = (args: readonly string[]) => ({
  spec: {
    restartPolicy: "Never",
    containers: [
      { name: "main", image: "busybox:1.37", args, resources: { requests: { cpu: "100m", memory: "64Mi" } } },
    ],
  },
});

const task = (name: string, replicas: number) => ({ name, replicas, template: busybox([name]) });

export const gang = {
  apiVersion: "batch.volcano.sh/v1alpha1",
  kind: "Job",
  metadata: { name: "gang", namespace: "team-a" },
  spec: { minAvailable: 4, queue: "default", tasks: [task("worker", 3), task("ps", 1)] },
};

/** A queue without room, and two jobs that wait in it. */
export const narrow = {
  apiVersion: "scheduling.volcano.sh/v1beta1",
  kind: "Queue",
  metadata: { name: "narrow" },
  spec: { weight: 1, capability: { cpu: "50m" } },
};

export const patient = ["team-b", "team-a"].map((namespace) => ({
  apiVersion: "batch.volcano.sh/v1alpha1",
  kind: "Job",
  metadata: { name: "patient", namespace },
  spec: { minAvailable: 1, queue: "narrow", tasks: [task("main", 1)] },
}));

const template = (name: string) => ({
  apiVersion: "flow.volcano.sh/v1alpha1",
  kind: "JobTemplate",
  metadata: { name, namespace: "team-a" },
  spec: { minAvailable: 1, queue: "default", tasks: [task("main", 1)] },
});

export const templates = ["extract", "train", "report"].map(template);

export const flow = {
  apiVersion: "flow.volcano.sh/v1alpha1",
  kind: "JobFlow",
  metadata: { name: "nightly", namespace: "team-a" },
  spec: {
    jobRetainPolicy: "retain",
    flows: [
      { name: "extract" },
      { name: "train", dependsOn: { targets: ["extract"] } },
      { name: "report", dependsOn: { targets: ["extract", "train"] } },
    ],
  },
};
