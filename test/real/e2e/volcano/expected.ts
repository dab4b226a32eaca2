/** The expected outcome of each of upstream's example files, with the reason: exactly one row per file. */

/** A phase, and the number of pods that its status counts by state. */
export type Wanted = {
  readonly phase: string;
  readonly counted: Readonly<Partial<Record<"running" | "succeeded" | "failed", number>>>;
};

export type Row = {
  readonly why: string;
  /** The expected outcome of Jobs, by name. */
  readonly jobs?: Readonly<Record<string, Wanted>>;
  /** The expected message of refused Jobs, by name. */
  readonly refused?: Readonly<Record<string, RegExp>>;
  /** Names of queues that become Open. */
  readonly queues?: readonly string[];
  readonly templates?: readonly string[];
  /** The final phase of JobFlows, by name. */
  readonly flows?: Readonly<Record<string, string>>;
  readonly crons?: readonly string[];
  /** Kinds of other controllers, which are not applied. */
  readonly others?: readonly string[];
};

const running = (pods: number): Wanted => ({ phase: "Running", counted: { running: pods, failed: 0 } });
const completed = (pods: number): Wanted => ({ phase: "Completed", counted: { succeeded: pods, running: 0 } });

const masterEnds = "the task policy TaskCompleted → CompleteJob of the master completes the job; its workers are ended";
const replicaSet = "a ReplicaSet: kube-controller-manager's";

export const expected: Readonly<Record<string, Row>> = {
  "job.yaml": { why: "six servers that never end", jobs: { "test-job": running(6) } },
  "job-plugin.yaml": { why: "three servers that never end", jobs: { "test-job-plugin": running(3) } },
  "cronjob/cronjob.yaml": {
    why: "the schedule makes a Job at the next fifth minute, whose command runs for real",
    crons: ["volcano-cronjob-example"],
  },
  "deployment/deployment.yaml": { why: "a Deployment: kube-controller-manager's", others: ["Deployment"] },
  "deployment/queue.yaml": { why: "a queue is opened by its controller", queues: ["test"] },
  "hierarchical-jobs/queues.yaml": {
    why: "queues are opened by their controller",
    queues: ["root-eng-prod", "root-eng-dev", "root-sci-prod", "root-sci-dev"],
  },
  "hierarchical-jobs/jobs.yaml": {
    why: "each waits for its queue, then six servers that never end",
    jobs: {
      "eng-prod-job": running(6),
      "eng-dev-job": running(6),
      "sci-prod-job": running(6),
      "sci-dev-job": running(6),
    },
  },
  "integrations/argo/10-job-step.yaml": { why: "Argo's controller makes its Jobs", others: ["Workflow"] },
  "integrations/argo/20-job-DAG.yaml": { why: "Argo's controller makes its Jobs", others: ["Workflow"] },
  "integrations/argo/mpi/hello-world.yaml": { why: "Argo's controller makes its Job", others: ["WorkflowTemplate"] },
  "integrations/argo/mpi/rbac.yaml": { why: "the API server's", others: ["Role", "RoleBinding"] },
  "integrations/mpi/mpi-example.yaml": { why: masterEnds, jobs: { "lm-mpi-job": completed(1) } },
  "integrations/mxnet/train/train-mnist-cpu.yaml": {
    why: "no policy: all five pods end well, as many as minAvailable",
    jobs: { "mxnet-job": completed(5) },
  },
  "integrations/paddlepaddle/ctr-paddlepaddle-on-volcano.yaml": {
    why: "TaskCompleted → CompleteJob of the two trainers; the servers are ended",
    jobs: { "ctr-volcano": completed(2) },
  },
  "integrations/ray/ray-example.yaml": {
    why: "head and workers never end; the plugin gives them their commands",
    jobs: { "ray-cluster-job": running(3) },
  },
  "integrations/tensorflow/benchmark/tf-example.yaml": {
    why: "TaskCompleted → CompleteJob of the two workers; the parameter server is ended",
    jobs: { "tensorflow-benchmark": completed(2) },
  },
  "integrations/tensorflow/dist-mnist/tf-dist-mnist-example.yaml": {
    why: "TaskCompleted → CompleteJob of the two workers; the parameter server is ended",
    jobs: { "tensorflow-dist-mnist": completed(2) },
  },
  "invalid_jobs/duplicatedPolicyEvent-webhook-deny.yaml": {
    why: "two policies for one event",
    refused: { "test-job-webhook-disallow": /duplicate event PodFailed {2}across different policy/ },
  },
  "invalid_jobs/duplicatedTaskName-webhook-deny.yaml": {
    why: "two tasks of one name",
    refused: { "test-job-webhook-disallow": /duplicated task name task-1/ },
  },
  "invalid_jobs/minAvailable-webhook-deny.yaml": {
    why: "more pods are needed than there can be",
    refused: { "test-job-webhook-disallow": /job 'minAvailable' should not be greater than total replicas in tasks/ },
  },
  "jobflow/JobTemplate.yaml": { why: "templates are kept for flows", templates: ["a", "b", "c", "d", "e"] },
  "jobflow/JobFlow.yaml": {
    why: "five Jobs after each other, as dependsOn says, each a command that runs for real",
    flows: { test: "Succeed" },
  },
  "kubecon-2019-china/drf/nginx.yaml": { why: replicaSet, others: ["ReplicaSet"] },
  "kubecon-2019-china/drf/nginx-1.yaml": { why: replicaSet, others: ["ReplicaSet"] },
  "kubecon-2019-china/drf/nginx-2.yaml": { why: replicaSet, others: ["ReplicaSet"] },
  "kubecon-2019-china/gang/nginx.yaml": { why: replicaSet, others: ["ReplicaSet"] },
  "kubecon-2019-china/gang/mpi-example.yaml": { why: masterEnds, jobs: { "lm-mpi-job": completed(1) } },
  "kubecon-2019-china/horovod-sample/lm-horovod-tf-mnist-v0.5.yaml": {
    why: masterEnds,
    jobs: { "lm-horovod-job": completed(1) },
  },
  "kubecon-2019-china/mpi-sample/mpi-example.yaml": { why: masterEnds, jobs: { "lm-mpi-job": completed(1) } },
  "kubecon-2019-china/node-selector/nginx.yaml": { why: replicaSet, others: ["ReplicaSet"] },
  "kubecon-2019-china/spark-sample/spark-pi.yaml": {
    why: "versions of 2019 that no CRD serves any more: SparkApplication v1beta1, PodGroup of scheduling.incubator.k8s.io",
    others: ["SparkApplication", "PodGroup"],
  },
  "kubecon-2019-china/task-priority/elastic-job.yaml": {
    why: "ten servers that never end, three of which are needed; priorityClass is no field of a pod, and is dropped",
    jobs: { "elastic-job": running(10) },
  },
  "kubecon-2019-china/task-priority/high-priority.yaml": {
    why: "scheduling.k8s.io/v1beta1, which no API server serves any more",
    others: ["PriorityClass"],
  },
  "kubecon-2019-china/task-priority/normal-priority.yaml": {
    why: "scheduling.k8s.io/v1beta1, which no API server serves any more",
    others: ["PriorityClass"],
  },
  "kubecon-2019-china/task-priority/nginx.yaml": { why: replicaSet, others: ["ReplicaSet"] },
  "kubecon-2019-china/tf-sample/tf-example.yaml": {
    why: "TaskCompleted → CompleteJob of the two workers; the parameter server is ended",
    jobs: { "tensorflow-benchmark": completed(2) },
  },
  "MindSpore-example/mindspore_cpu/mindspore-cpu.yaml": {
    why: "eight pods that all end well",
    jobs: { "mindspore-cpu": completed(8) },
  },
  "MindSpore-example/mindspore_gpu/mindspore-gpu.yaml": {
    why: "its master sleeps for an hour after the run, and sshd on the workers never ends",
    jobs: { "mindspore-gpu": running(3) },
  },
  "sharding/sharding-config-configmap.yaml": { why: "a ConfigMap: the API server's", others: ["ConfigMap"] },
  "task-start-dependency/job.yaml": {
    why: "servers that never end, each task after the one before it",
    jobs: { job: running(11) },
  },
  "task-start-dependency/mpi.yaml": { why: masterEnds, jobs: { "lm-mpi-job": completed(1) } },
};
