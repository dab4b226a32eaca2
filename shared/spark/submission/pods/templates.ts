/** The two pod templates: the user's, or Spark's container alone; without fields that Kubernetes does not know. */

import { isRecord } from "../../../core/json.ts";
import type { Json } from "../../../kube/responses.ts";
import type { Role } from "../arguments/pod.ts";
import { podOf, type SparkPod } from "./pod.ts";

const known = (words: string): ReadonlySet<string> => new Set(words.split(" "));

const podFields = known(
  "activeDeadlineSeconds affinity automountServiceAccountToken containers dnsConfig dnsPolicy enableServiceLinks " +
    "ephemeralContainers hostAliases hostIPC hostNetwork hostPID hostUsers hostname hostnameOverride imagePullSecrets " +
    "initContainers nodeName nodeSelector os overhead preemptionPolicy priority priorityClassName readinessGates " +
    "resourceClaims resources restartPolicy runtimeClassName schedulerName schedulingGates securityContext " +
    "serviceAccount serviceAccountName setHostnameAsFQDN shareProcessNamespace subdomain " +
    "terminationGracePeriodSeconds tolerations topologySpreadConstraints volumes workloadRef schedulingGroup",
);

const containerFields = known(
  "args command env envFrom image imagePullPolicy lifecycle livenessProbe name ports readinessProbe resizePolicy " +
    "resources restartPolicy restartPolicyRules securityContext startupProbe stdin stdinOnce terminationMessagePath " +
    "terminationMessagePolicy tty volumeDevices volumeMounts workingDir",
);

const podSecurityFields = known(
  "appArmorProfile fsGroup fsGroupChangePolicy runAsGroup runAsNonRoot runAsUser seLinuxChangePolicy seLinuxOptions " +
    "seccompProfile supplementalGroups supplementalGroupsPolicy sysctls windowsOptions",
);

const containerSecurityFields = known(
  "allowPrivilegeEscalation appArmorProfile capabilities privileged procMount readOnlyRootFilesystem runAsGroup " +
    "runAsNonRoot runAsUser seLinuxOptions seccompProfile windowsOptions",
);

const only = (value: Json, fields: ReadonlySet<string>): Json =>
  Object.fromEntries(Object.entries(value).filter(([key]) => fields.has(key)));

/** Changes one field of an object, when it is there. */
const mapped = (value: Json, field: string, change: (one: unknown) => unknown): Json =>
  value[field] === undefined ? value : { ...value, [field]: change(value[field]) };

const container = (value: unknown): unknown =>
  isRecord(value)
    ? mapped(only(value, containerFields), "securityContext", (one) =>
        isRecord(one) ? only(one, containerSecurityFields) : one,
      )
    : value;

const containers = (value: unknown): unknown => (Array.isArray(value) ? value.map(container) : value);

const spec = (value: unknown): unknown => {
  if (!isRecord(value)) return value;
  const pod = mapped(only(value, podFields), "securityContext", (one) =>
    isRecord(one) ? only(one, podSecurityFields) : one,
  );
  return mapped(mapped(pod, "containers", containers), "initContainers", containers);
};

/** Removes the fields that core/v1 lacks from a template's pod, containers and security contexts. */
export const pruned = (template: Json): Json => ({
  ...(template["metadata"] === undefined ? {} : { metadata: template["metadata"] }),
  ...(template["spec"] === undefined ? {} : { spec: spec(template["spec"]) }),
});

const containerName = (role: Role): string => `spark-kubernetes-${role}`;

const bare = (role: Role): Json => ({ spec: { containers: [{ name: containerName(role) }] } });

/** The user's template without unknown fields, as a typed client would send it; a bare one when there is none. */
export const templateOf = (role: Role, template: Json | undefined): Json =>
  template === undefined ? bare(role) : { spec: {}, ...pruned(template) };

export const owned = (pod: SparkPod, owner: Json): SparkPod => ({
  ...pod,
  metadata: { ...pod.metadata, ownerReferences: [...(pod.metadata.ownerReferences ?? []), owner] },
});

/** The executors' template as a pod to which fields can be added. */
export const executorPod = (template: Json | undefined): SparkPod | { readonly error: string } =>
  podOf(templateOf("executor", template), containerName("executor"));
