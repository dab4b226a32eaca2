/** The rules of Volcano's kinds that CEL can express: without reads of other objects, and without graphs. */
import { jobPolicy } from "./jobs.ts";
import type { Policy, Rule, Variable } from "./policy.ts";

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
