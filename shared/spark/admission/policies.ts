/** The rules of Spark's kinds that CEL can express. */
import { subdomain } from "../../core/object.ts";
import type { Policy, Rule, Variable } from "../../kube/admission-policy.ts";
import { ownQueueKey, queueLabel } from "../../kube/kueue.ts";

const named = (longest: number): Rule => ({
  expression: `!has(object.metadata.name) || (size(object.metadata.name) <= ${longest} && object.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$'))`,
  message: `metadata.name must start with a lower case letter, end with a letter or digit, hold only lower case letters, digits and "-", and have at most ${longest} characters, because services are named after it`,
});

/** Confs that are refused; a test compares them with the rules of admission and reconcile. */
const denied: readonly string[] = [
  "spark.master",
  "spark.kubernetes.driver.master",
  "spark.kubernetes.container.image",
  "spark.kubernetes.driver.container.image",
  "spark.kubernetes.executor.container.image",
  "spark.kubernetes.authenticate.driver.serviceAccountName",
  "spark.kubernetes.authenticate.executor.serviceAccountName",
  "spark.kubernetes.authenticate.oauthToken",
  "spark.kubernetes.authenticate.oauthTokenFile",
  "spark.kubernetes.authenticate.driver.oauthToken",
  "spark.kubernetes.authenticate.driver.oauthTokenFile",
  "spark.kubernetes.authenticate.executor.oauthToken",
  "spark.kubernetes.authenticate.executor.oauthTokenFile",
];

/** `conf` is a variable that holds the confs. */
const confVariables = (owner: string): readonly Variable[] => [
  { name: "conf", expression: `has(${owner}.sparkConf) ? ${owner}.sparkConf : {}` },
  {
    name: "denied",
    expression: `[${denied.map((key) => `'${key}'`).join(", ")}].filter(key, key in variables.conf)`,
  },
];

/** A double quote inside a CEL string, as an escape: the literal one would need quoting in YAML. */
const quote = "\\u0022";

const confRules: readonly Rule[] = [
  {
    expression: "size(variables.denied) == 0",
    messageExpression: `'sparkConf key ${quote}' + variables.denied[0] + '${quote} is not allowed: use the field of the spec that stands for it, if there is one'`,
  },
  {
    expression:
      "!('spark.kubernetes.namespace' in variables.conf) || variables.conf['spark.kubernetes.namespace'] == request.namespace",
    messageExpression: `'sparkConf key ${quote}spark.kubernetes.namespace${quote} is not allowed: it must be ' + request.namespace + ', where the application is'`,
  },
];

const templated = (...pods: readonly string[]): Rule => ({
  expression: `!(${pods.map((pod) => `has(object.spec.${pod}.template)`).join(" || ")}) || !object.spec.sparkVersion.matches('^[012][.]')`,
  message: "spec.sparkVersion knows no pod templates: it must be 3.0.0 or newer",
});

/** The units depend on the Spark version, which this rule does not know: it accepts the units of all versions. */
const sized = (pod: string, field: string): Rule => ({
  expression: `!has(object.spec.${pod}.${field}) || object.spec.${pod}.${field}.matches('^(?i)[ ]*[0-9]+(b|[kmgtp]i?b?)?[ ]*$')`,
  message: `spec.${pod}.${field} is not a size that Spark reads; write it like "512m" or "2g"`,
});

const ingresses: readonly Rule[] = [
  {
    expression: "variables.ingresses.all(one, has(one.ingressURLFormat) && one.ingressURLFormat != '')",
    message: "spec.driverIngressOptions: every entry needs an ingressURLFormat",
  },
  {
    expression:
      "variables.ingresses.all(one, variables.ingresses.exists_one(other, has(one.servicePort) && has(other.servicePort) && other.servicePort == one.servicePort))",
    message: "spec.driverIngressOptions: every entry needs a servicePort, and no two entries may have the same",
  },
];

const scale = {
  variable: {
    name: "scale",
    expression:
      "has(object.spec.dynamicAllocation) && has(object.spec.dynamicAllocation.enabled) && object.spec.dynamicAllocation.enabled && has(object.spec.dynamicAllocation.minExecutors) && has(object.spec.dynamicAllocation.maxExecutors)",
  },
  rule: {
    expression:
      "!variables.scale || object.spec.dynamicAllocation.minExecutors <= object.spec.dynamicAllocation.maxExecutors",
    message: "spec.dynamicAllocation.minExecutors is greater than maxExecutors",
  },
} as const;

const allocator = "rekindle.dev/executors";

/** The value of a label or an annotation, "" without one. */
const marked = (kind: "labels" | "annotations", key: string): string =>
  `(has(object.metadata.${kind}) && '${key}' in object.metadata.${kind} ? object.metadata.${kind}['${key}'] : '')`;

/** `queue` is the LocalQueue of an application, "" without one; `ownQueue` is true where its annotation alone names it. */
const queueVariables: readonly Variable[] = [
  { name: "ownQueue", expression: `${marked("labels", queueLabel)} == ''` },
  {
    name: "queue",
    expression: `variables.ownQueue ? ${marked("annotations", ownQueueKey)} : ${marked("labels", queueLabel)}`,
  },
];

const queuePath = `'metadata.' + (variables.ownQueue ? 'annotations[${ownQueueKey}]' : 'labels[${queueLabel}]')`;

const queueNamed: Rule = {
  expression: `variables.queue == '' || (size(variables.queue) <= 253 && variables.queue.matches('${subdomain.source.replaceAll("\\.", "[.]")}'))`,
  messageExpression: `${queuePath} + ': ${quote}' + variables.queue + '${quote} is not the name of a LocalQueue, which has at most 253 lower case letters, digits, ${quote}-${quote} and ${quote}.${quote}'`,
};

/** The rule of applications that Kueue admits: their executors are as many as `spec` says, or Rekindle creates them. */
const admittedGrowth = (spec: string): Rule => ({
  expression: `variables.queue == '' || ${marked("annotations", allocator)}.trim() == 'own' || !((has(${spec}.dynamicAllocation) && has(${spec}.dynamicAllocation.enabled) && ${spec}.dynamicAllocation.enabled) || ['spark.dynamicAllocation.enabled', 'spark.streaming.dynamicAllocation.enabled'].exists(key, key in variables.conf && variables.conf[key].trim().lowerAscii() == 'true'))`,
  messageExpression: `${queuePath} + ': Kueue admits as many executors as spec.executor.instances says, and with dynamic allocation the driver would create more: set spec.executor.instances instead, or set the annotation ${allocator}: own, with which Rekindle creates no more than Kueue has admitted'`,
});

export const sparkPolicies: readonly Policy[] = [
  {
    name: "sparkapplications.rekindle.dev",
    group: "sparkoperator.k8s.io",
    apiVersion: "v1beta2",
    resource: "sparkapplications",
    variables: [
      ...confVariables("object.spec"),
      {
        name: "ingresses",
        expression: "has(object.spec.driverIngressOptions) ? object.spec.driverIngressOptions : []",
      },
      scale.variable,
      ...queueVariables,
    ],
    rules: [
      named(63),
      ...confRules,
      {
        expression:
          "!has(object.spec.nodeSelector) || !(has(object.spec.driver.nodeSelector) || has(object.spec.executor.nodeSelector))",
        message:
          "node selector cannot be defined at both SparkApplication and Driver/Executor: keep spec.nodeSelector or those of spec.driver and spec.executor",
      },
      templated("driver", "executor"),
      ...["driver", "executor"].flatMap((pod) => [sized(pod, "memory"), sized(pod, "memoryOverhead")]),
      ...ingresses,
      scale.rule,
      queueNamed,
      admittedGrowth("object.spec"),
    ],
  },
  {
    name: "scheduledsparkapplications.rekindle.dev",
    group: "sparkoperator.k8s.io",
    apiVersion: "v1beta2",
    resource: "scheduledsparkapplications",
    variables: [...confVariables("object.spec.template"), ...queueVariables],
    rules: [named(63), ...confRules, queueNamed, admittedGrowth("object.spec.template")],
  },
  {
    name: "sparkconnects.rekindle.dev",
    group: "sparkoperator.k8s.io",
    apiVersion: "v1alpha1",
    resource: "sparkconnects",
    variables: [...confVariables("object.spec"), scale.variable],
    rules: [
      named(56),
      ...confRules,
      templated("server", "executor"),
      ...["server", "executor"].map((pod) => sized(pod, "memory")),
      scale.rule,
    ],
  },
];
