/**
 * The rules of Volcano's kinds that CEL can express, without reads of other objects and without graphs; in upstream's
 * words where upstream has some.
 */
import type { Policy, Rule, Variable } from "../../kube/admission-policy.ts";

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
const jobPolicy = (topology: Rule): Policy => ({
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

const noTwoTiers = (owner: string, prefix: string): Rule => ({
  expression: `!has(${owner}.networkTopology) || !has(${owner}.networkTopology.highestTierAllowed) || !has(${owner}.networkTopology.highestTierName) || ${owner}.networkTopology.highestTierName == ''`,
  message: `${prefix}must not specify 'highestTierAllowed' and 'highestTierName' in networkTopology simultaneously`,
});

/** CEL: a part of the new object as `dyn`, whatever its schema; empty for a deletion. */
const part = (name: string): Variable => ({
  name,
  expression: `request.operation != 'DELETE' && has(object.${name}) ? dyn(object.${name}) : dyn({})`,
});

const within = (name: string, path: string): Variable => ({
  name,
  expression: `has(variables.${path}) ? variables.${path} : dyn({})`,
});

const isAmount = (field: string, label: string): readonly Rule[] => [
  {
    expression: `variables.${field}.all(name, isQuantity(string(variables.${field}[name])))`,
    message: `${label}: every amount must be one that Kubernetes reads, such as 500m or 2Gi`,
  },
  {
    expression: `variables.${field}.all(name, !isQuantity(string(variables.${field}[name])) || quantity(string(variables.${field}[name])).compareTo(quantity('0')) >= 0)`,
    message: `${label}: every amount must be greater than or equal to 0`,
  },
];

/** CEL: no amount of `less` exceeds its namesake in `more`. Another rule reports amounts that are no quantities. */
const atMost = (less: string, more: string): string =>
  `variables.${less}.all(name, !(name in variables.${more}) || !isQuantity(string(variables.${less}[name])) || !isQuantity(string(variables.${more}[name])) || quantity(string(variables.${less}[name])).compareTo(quantity(string(variables.${more}[name]))) <= 0)`;

const annotation = (key: string): string =>
  `request.operation != 'DELETE' && has(object.metadata.annotations) && '${key}' in object.metadata.annotations ? object.metadata.annotations['${key}'] : ''`;

const annotationsOf = (owner: string): string =>
  `(has(${owner}.metadata.annotations) ? ${owner}.metadata.annotations : {})`;

const queuePolicy: Policy = {
  name: "queues.volcano.rekindle.dev",
  group: "scheduling.volcano.sh",
  apiVersion: "v1beta1",
  resource: "queues",
  scope: "Cluster",
  operations: ["CREATE", "UPDATE", "DELETE"],
  conditions: [
    {
      name: "is-new",
      expression: `request.operation != 'UPDATE' || !has(object.spec) || !has(oldObject.spec) || object.spec != oldObject.spec || ${annotationsOf("object")} != ${annotationsOf("oldObject")}`,
    },
  ],
  variables: [
    part("spec"),
    part("status"),
    within("capability", "spec.capability"),
    within("deserved", "spec.deserved"),
    within("guaranteed", "spec.guarantee"),
    within("guarantee", "guaranteed.resource"),
    { name: "path", expression: annotation("volcano.sh/hierarchy") },
    { name: "weights", expression: annotation("volcano.sh/hierarchy-weights") },
  ],
  rules: [
    {
      expression: "request.operation != 'DELETE' || !(oldObject.metadata.name in ['default', 'root'])",
      messageExpression: "'`' + oldObject.metadata.name + '` queue can not be deleted'",
    },
    {
      expression: "!has(variables.status.state) || variables.status.state in ['', 'Open', 'Closed']",
      message: "status.state: queue state must be in [Open Closed]",
    },
    ...isAmount("capability", "spec.capability"),
    ...isAmount("deserved", "spec.deserved"),
    ...isAmount("guarantee", "spec.guarantee.resource"),
    { expression: atMost("deserved", "capability"), message: "spec.deserved must be <= capability" },
    {
      expression: `variables.guarantee.all(name, name in variables.deserved) && ${atMost("guarantee", "deserved")}`,
      message: "spec.deserved must be >= guarantee",
    },
    {
      expression: "variables.path.split('/').size() == variables.weights.split('/').size()",
      message: "metadata.annotations: volcano.sh/hierarchy must have the same length with volcano.sh/hierarchy-weights",
    },
    {
      expression:
        "(variables.path == '' && variables.weights == '') || variables.weights.split('/').all(weight, weight.matches('^[+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$') && weight.matches('^[^eE]*[1-9]'))",
      message: "metadata.annotations: every weight of volcano.sh/hierarchy-weights must be a number larger than 0",
    },
    {
      expression: "!has(variables.spec.parent) || variables.spec.parent != object.metadata.name",
      message: "spec.parent: a queue cannot use itself as parent",
    },
  ],
};

const groupPolicy: Policy = {
  name: "podgroups.volcano.rekindle.dev",
  group: "scheduling.volcano.sh",
  apiVersion: "v1beta1",
  resource: "podgroups",
  operations: ["CREATE"],
  variables: [
    part("spec"),
    { name: "parts", expression: "has(variables.spec.subGroupPolicy) ? variables.spec.subGroupPolicy : dyn([])" },
  ],
  rules: [
    noTwoTiers("variables.spec", "spec.networkTopology: "),
    {
      ...noTwoTiers("part", "spec.subGroupPolicy: "),
      expression: `variables.parts.all(part, ${noTwoTiers("part", "").expression})`,
    },
  ],
};

const budgets = ["volcano.sh/jdb-min-available", "volcano.sh/jdb-max-unavailable"] as const;

const held = (key: string): string => `'${key}' in object.metadata.annotations`;

const budget = (key: string): Rule => ({
  expression: `!(${held(key)}) || object.metadata.annotations['${key}'].matches('^[+]?0*[1-9][0-9]*$') || object.metadata.annotations['${key}'].matches('^[+]?0*[1-9][0-9]?%$')`,
  message: `metadata.annotations: ${key} must be a positive integer or a valid percentage which between 1% ~ 99%`,
});

const podPolicy: Policy = {
  name: "pods.volcano.rekindle.dev",
  group: "",
  apiVersion: "v1",
  resource: "pods",
  operations: ["CREATE"],
  conditions: [
    {
      name: "has-a-budget-of-volcano",
      expression: `has(object.spec.schedulerName) && object.spec.schedulerName == 'volcano' && has(object.metadata.annotations) && (${budgets.map(held).join(" || ")})`,
    },
  ],
  variables: [],
  rules: [
    {
      expression: `!(${budgets.map(held).join(" && ")})`,
      message: `metadata.annotations: not allow configure multiple annotations <[${budgets.join(" ")}]> at same time`,
    },
    ...budgets.map(budget),
  ],
};

const targets = (flow: string): string =>
  `(has(${flow}.dependsOn) && has(${flow}.dependsOn.targets) ? ${flow}.dependsOn.targets : [])`;

const flowPolicy: Policy = {
  name: "jobflows.volcano.rekindle.dev",
  group: "flow.volcano.sh",
  apiVersion: "v1alpha1",
  resource: "jobflows",
  variables: [
    { name: "flows", expression: "has(object.spec) && has(object.spec.flows) ? dyn(object.spec.flows) : dyn([])" },
    { name: "names", expression: "variables.flows.map(flow, flow.name)" },
  ],
  rules: [
    {
      expression: `variables.flows.all(flow, ${targets("flow")}.all(target, target in variables.names))`,
      message: "spec.flows: jobflow Flow is not DAG: vertex is not defined",
    },
    {
      expression: `variables.flows.all(flow, !(flow.name in ${targets("flow")}))`,
      message: "spec.flows: jobflow Flow is not DAG: a flow has self-dependency",
    },
    {
      expression: `variables.flows.all(flow, variables.flows.all(other, !(other.name in ${targets("flow")} && flow.name in ${targets("other")}) || flow.name == other.name))`,
      message: "spec.flows: jobflow Flow is not DAG",
    },
  ],
};

const cronPolicy: Policy = {
  name: "cronjobs.volcano.rekindle.dev",
  group: "batch.volcano.sh",
  apiVersion: "v1alpha1",
  resource: "cronjobs",
  variables: [],
  rules: [
    {
      expression: "has(object.spec.schedule) && object.spec.schedule != ''",
      message: "spec.schedule: schedule is required, but got empty",
    },
    {
      expression: "!has(object.spec.schedule) || !object.spec.schedule.contains('TZ')",
      message: "spec.schedule: schedule should not contain TZ or CRON_TZ, TZ should only be set in the timeZone field",
    },
    {
      expression: "!has(object.spec.timeZone) || object.spec.timeZone != ''",
      message: "spec.timeZone: timeZone must be nil or non-empty string, got empty string",
    },
    {
      expression: "!has(object.spec.timeZone) || object.spec.timeZone.lowerAscii() != 'local'",
      message: "spec.timeZone: timeZone can't be Local, and must be defined in https://www.iana.org/time-zones",
    },
    {
      expression: "!has(object.metadata.name) || size(object.metadata.name) <= 52",
      message: "metadata.name: cronJob name must be no more than 52 characters to accommodate job name suffix",
    },
  ],
};

export const volcanoPolicies: readonly Policy[] = [
  jobPolicy(noTwoTiers("object.spec", "spec.networkTopology: ")),
  queuePolicy,
  groupPolicy,
  podPolicy,
  flowPolicy,
  cronPolicy,
];
