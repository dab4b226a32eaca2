/** The rules of Volcano's jobs that CEL can express, in upstream's words where upstream has some. */
import type { Policy, Rule } from "./policy.ts";

/** Lists that the code of jobs has, too: a test compares them. */
const events = ["*", "PodPending", "PodFailed", "PodEvicted", "Unknown", "TaskCompleted", "TaskFailed", "JobUpdated"];
const actions = [
  ...["AbortJob", "RestartJob", "RestartTask", "RestartPod", "RestartPartition"],
  ...["TerminateJob", "CompleteJob", "ResumeJob"],
];
const plugins = ["svc", "env", "ssh", "tensorflow", "mpi", "pytorch", "ray", "hcclrank"];

const mostPods = 20_000;

const listed = (words: readonly string[]): string => `[${words.map((word) => `'${word}'`).join(", ")}]`;

const atLeast0 = (field: string): Rule => ({
  expression: `!has(object.spec.${field}) || object.spec.${field} >= 0`,
  message: `spec.${field} must be at least 0`,
});

const ofTasks = (expression: string, message: string): Rule => ({
  expression: `variables.tasks.all(task, ${expression})`,
  message: `spec.tasks: ${message}`,
});

/** CEL: the events of a policy, from `events` and from `event`. */
const watched = (policy: string): string =>
  `((has(${policy}.events) ? dyn(${policy}.events) : dyn([])) + (has(${policy}.event) && ${policy}.event != '' ? dyn([${policy}.event]) : dyn([])))`;

const ofPolicies = (expression: string, message: string): Rule => ({
  expression: `variables.lists.all(list, list.all(policy, ${expression}))`,
  message: `spec.policies, spec.tasks.policies: ${message}`,
});

const policyRules: readonly Rule[] = [
  ofPolicies(
    `size(${watched("policy")}) == 0 || !has(policy.exitCode)`,
    "must not specify event and exitCode simultaneously",
  ),
  ofPolicies(`size(${watched("policy")}) > 0 || has(policy.exitCode)`, "either event and exitCode should be specified"),
  ofPolicies("!has(policy.exitCode) || policy.exitCode != 0", "0 is not a valid error code"),
  ofPolicies(`${watched("policy")}.all(event, event in ${listed(events)})`, "invalid policy event"),
  ofPolicies(
    `size(${watched("policy")}) == 0 || (has(policy.action) && policy.action in ${listed(actions)})`,
    "invalid policy action",
  ),
  ofPolicies(
    `${watched("policy")}.all(event, list.filter(other, event in ${watched("other")}).size() == 1)`,
    "duplicate event across different policy",
  ),
  ofPolicies(
    `!('*' in ${watched("policy")}) || list.all(other, ${watched("other")}.all(event, event == '*'))`,
    "if there's * here, no other policy should be here",
  ),
  {
    expression: "variables.codes.all(list, list.all(code, list.filter(other, other == code).size() == 1))",
    message: "spec.policies, spec.tasks.policies: duplicate exitCode",
  },
];

const claimed = "has(volume.volumeClaim)";
const claimNamed = "(has(volume.volumeClaimName) && volume.volumeClaimName != '')";

const ofVolumes = (expression: string, message: string): Rule => ({
  expression: `variables.volumes.all(volume, ${expression})`,
  message: `spec.volumes: ${message}`,
});

const volumeRules: readonly Rule[] = [
  ofVolumes("has(volume.mountPath) && volume.mountPath != ''", "mountPath is required"),
  ofVolumes(
    "!has(volume.mountPath) || variables.volumes.filter(other, has(other.mountPath) && other.mountPath == volume.mountPath).size() == 1",
    "duplicated mountPath",
  ),
  ofVolumes(`${claimed} || ${claimNamed}`, "either VolumeClaim or VolumeClaimName must be specified"),
];

const after = (task: string): string =>
  `(has(${task}.dependsOn) && has(${task}.dependsOn.name) ? ${task}.dependsOn.name : [])`;

/** Reconcile finds cycles of more than one task. */
const orderRules: readonly Rule[] = [
  ofTasks(
    `!has(task.name) || !(task.name in ${after("task")})`,
    "job has dependencies between tasks, but doesn't form a directed acyclic graph(DAG): a task depends on itself",
  ),
  ofTasks(
    `size(variables.names) < size(variables.tasks) || ${after("task")}.all(name, name in variables.names)`,
    "job has dependencies between tasks, but doesn't form a directed acyclic graph(DAG): a task depends on none of the job",
  ),
  ofTasks(
    `!has(task.name) || variables.tasks.all(other, !has(other.name) || other.name == task.name || !(other.name in ${after("task")} && task.name in ${after("other")}))`,
    "job has dependencies between tasks, but doesn't form a directed acyclic graph(DAG): two tasks depend on each other",
  ),
];

const taskRules: readonly Rule[] = [
  { expression: "size(variables.tasks) > 0", message: "spec.tasks: No task specified in job spec" },
  ofTasks("!has(task.replicas) || task.replicas >= 0", "'replicas' must be at least 0"),
  ofTasks("!has(task.minAvailable) || task.minAvailable >= 0", "'minAvailable' must be at least 0"),
  ofTasks(
    "!has(task.minAvailable) || task.minAvailable <= (has(task.replicas) ? task.replicas : 0)",
    "'minAvailable' is greater than 'replicas' in task",
  ),
  {
    expression: "variables.names.all(name, variables.names.filter(other, other == name).size() == 1)",
    message: "spec.tasks: duplicated task name",
  },
  {
    expression: `variables.total <= ${mostPods}`,
    messageExpression: `'spec.tasks ask for ' + string(variables.total) + ' pods together: at most ${mostPods}'`,
  },
  ofTasks(
    "!has(object.metadata.name) || size(object.metadata.name) + size(has(task.name) ? task.name : 'default0') + size(string(has(task.replicas) && task.replicas > 0 ? task.replicas - 1 : 0)) + 2 <= 63",
    "create pod with name validate failed: names of its pods must be no more than 63 characters, so shorten the task's or the job's",
  ),
];

/** CEL: true for a job whose spec reconcile found invalid: all its fields may change. */
const mended =
  "has(oldObject.status) && has(oldObject.status.state) && has(oldObject.status.state.reason) && oldObject.status.state.reason == 'InvalidSpec'";

const changeRules: readonly Rule[] = [
  {
    expression: `request.operation != 'UPDATE' || !has(oldObject.spec.tasks) || size(oldObject.spec.tasks) == size(variables.tasks) || (${mended})`,
    message: "spec.tasks: job updates may not add or remove tasks",
  },
  {
    expression: `request.operation != 'UPDATE' || (has(oldObject.spec.queue) ? oldObject.spec.queue : 'default') == (has(object.spec.queue) ? object.spec.queue : 'default') || (${mended})`,
    message:
      "spec.queue: job updates may not change fields other than `minAvailable`, `tasks[*].replicas under spec` and `PriorityClassName`",
  },
];

const nameRule: Rule = {
  expression:
    "!has(object.metadata.name) || (size(object.metadata.name) <= 63 && object.metadata.name.matches('^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$'))",
  message: "metadata.name: create job with this name validate failed: it must be one that a label can hold",
};

const otherRules: readonly Rule[] = [
  ...["minAvailable", "maxRetry", "minSuccess", "ttlSecondsAfterFinished"].map(atLeast0),
  {
    expression: "!has(object.spec.minAvailable) || object.spec.minAvailable <= variables.total",
    message: "spec.minAvailable: job 'minAvailable' should not be greater than total replicas in tasks",
  },
  {
    expression: `!has(object.spec.plugins) || object.spec.plugins.all(name, name in ${listed(plugins)})`,
    messageExpression: `'spec.plugins: unable to find job plugin: ' + object.spec.plugins.filter(name, !(name in ${listed(plugins)}))[0]`,
  },
  nameRule,
];

/** `topology` is the rule that PodGroups have, too. */
export const jobPolicy = (topology: Rule): Policy => ({
  name: "jobs.volcano.rekindle.dev",
  group: "batch.volcano.sh",
  apiVersion: "v1alpha1",
  resource: "jobs",
  variables: [
    { name: "tasks", expression: "has(object.spec.tasks) ? dyn(object.spec.tasks) : dyn([])" },
    { name: "volumes", expression: "has(object.spec.volumes) ? dyn(object.spec.volumes) : dyn([])" },
    { name: "total", expression: "variables.tasks.map(task, has(task.replicas) ? int(task.replicas) : 0).sum()" },
    {
      name: "names",
      expression: "variables.tasks.filter(task, has(task.name) && task.name != '').map(task, string(task.name))",
    },
    {
      name: "lists",
      expression:
        "[has(object.spec.policies) ? dyn(object.spec.policies) : dyn([])] + variables.tasks.map(task, has(task.policies) ? dyn(task.policies) : dyn([]))",
    },
    {
      name: "codes",
      expression:
        "variables.lists.map(list, list.filter(policy, has(policy.exitCode)).map(policy, int(policy.exitCode)))",
    },
  ],
  rules: [...taskRules, ...otherRules, ...policyRules, ...volumeRules, ...orderRules, ...changeRules, topology],
});
