/** Decodes Kubernetes' protobuf, which kubectl's own commands send: fields are found by number, the result is JSON. */

import { type Fields, isFields } from "../storage/json.ts";
import { codesNamed } from "./openapi.ts";

/**
 * The numbers of fields on protobuf's wire: of the definitions of `fields.ts` and of metadata, one per field in their order;
 * `2.19` is field 19 of the inlined field 2, `!` marks a number or flag whose zero is meant. Read from Kubernetes 1.36's
 * generated.proto and types.go.
 */
const numbersText = `
AWSElasticBlockStoreVolumeSource 2 3 4 1 | Affinity 1 2 3 | AggregationRule 1 | AppArmorProfile 2 1 | AttachedVolume 2 1
AzureDiskVolumeSource 3 1 2 4 6 5! | AzureFilePersistentVolumeSource 3 1 4 2 | AzureFileVolumeSource 3 1 2
CSIPersistentVolumeSource 9 6 1 4 10 8 7 3 5 2 | CSIVolumeSource 1 3 5 2! 4 | Capabilities 1 2 | CephFSPersistentVolumeSource 1 2 6 4 5 3
CephFSVolumeSource 1 2 6 4 5 3 | CinderPersistentVolumeSource 2 3 4 1 | CinderVolumeSource 2 3 4 1 | ClientIPConfig 1! | ClusterRole 3 1 2
ClusterRoleBinding 1 3 2 | ClusterTrustBundleProjection 3 1 5! 4 2 | Condition 4 6 3 5 2 1 | ConfigMap 3 2 4! 1 | ConfigMapEnvSource 1.1 2!
ConfigMapKeySelector 2 1.1 3! | ConfigMapNodeConfigSource 5 2 1 4 3 | ConfigMapProjection 2 1.1 4! | ConfigMapVolumeSource 3! 2 1.1 4!
Container 4 3 7 19 2 14 12 10 1 6 11 23 8 24 25 15 22 16 17 13 20 18 21 9 5 | ContainerExtendedResourceRequest 1 3 2 | ContainerImage 1 2
ContainerPort 3! 5 2 1 4 | ContainerResizePolicy 1 2 | ContainerResourceMetricSource 3 1 2 | ContainerResourceMetricStatus 3 2 1
ContainerRestartRule 1 2 | ContainerRestartRuleOnExitCodes 1 2 | ContainerState 2 3 1 | ContainerStateRunning 1
ContainerStateTerminated 7 1! 6 4 3 2 5 | ContainerStateWaiting 2 1 | ContainerStatus 10 14 8 6 7 3 1 4! 11 5! 9! 2 15 13 12 | ContainerUser 1
CronJob 1 2 3 | CronJobSpec 3 7! 5 1 2! 6! 4! 8 | CronJobStatus 1 4 5 | CrossVersionObjectReference 3 1 2 | DaemonEndpoint 1! | DaemonSet 1 2 3
DaemonSetCondition 3 5 4 2 1 | DaemonSetSpec 4 6! 1 2 3 | DaemonSetStatus 9! 10 1! 3! 7 2! 4! 8 5 6 | DaemonSetUpdateStrategy 2 1 | Deployment 1 2 3
DeploymentCondition 7 6 5 4 2 1 | DeploymentSpec 5 7 9! 1! 6! 2 4 3 | DeploymentStatus 4 8! 6 1 7 2 9! 5 3 | DeploymentStrategy 2 1
DownwardAPIProjection 1 | DownwardAPIVolumeFile 2 4! 1 3 | DownwardAPIVolumeSource 2! 1 | EmptyDirVolumeSource 1 2 | EndpointAddress 3 1 4 2
EndpointPort 4 1 2! 3 | EndpointSubset 1 2 3 | Endpoints 1 2 | EnvFromSource 2 1 3 | EnvVar 1 2 3 | EnvVarSource 3 1 5 2 4
EphemeralContainer 1.4 1.3 1.7 1.19 1.2 1.14 1.12 1.10 1.1 1.6 1.11 1.23 1.8 1.24 1.25 1.15 1.22 1.16 1.17 2 1.13 1.20 1.18 1.21 1.9 1.5
EphemeralVolumeSource 1 | Event 12 8 10 6 2 7 4 1 3 13 14 15 11 5 9 | EventSeries 1 2 | EventSource 1 2 | ExecAction 1 | ExternalMetricSource 1 2
ExternalMetricStatus 2 1 | FCVolumeSource 3 2! 4 1 5 | FileKeySelector 3 4! 2 1 | FlexPersistentVolumeSource 1 2 5 4 3 | FlexVolumeSource 1 2 5 4 3
FlockerVolumeSource 1 2 | GCEPersistentDiskVolumeSource 2 3 1 4 | GRPCAction 1! 2 | GitRepoVolumeSource 3 1 2
GlusterfsPersistentVolumeSource 1 4 2 3 | GlusterfsVolumeSource 1 2 3 | HPAScalingPolicy 3! 1 2! | HPAScalingRules 2 1 3! 4 | HTTPGetAction 3 5 1 2 4
HTTPHeader 1 2 | HTTPIngressPath 2 1 3 | HTTPIngressRuleValue 1 | HorizontalPodAutoscaler 1 2 3 | HorizontalPodAutoscalerBehavior 2 1
HorizontalPodAutoscalerCondition 3 5 4 2 1 | HorizontalPodAutoscalerSpec 5 3! 4 2! 1 | HorizontalPodAutoscalerStatus 6 5 3 4! 2 1! | HostAlias 2 1
HostIP 1 | HostPathVolumeSource 1 2 | IPBlock 1 2 | ISCSIPersistentVolumeSource 8 11 5 12 2 4 3! 7 6 10 1
ISCSIVolumeSource 8 11 5 12 2 4 3! 7 6 10 1 | ImageVolumeSource 2 1 | ImageVolumeStatus 1 | Ingress 1 2 3 | IngressBackend 3 4
IngressLoadBalancerIngress 2 1 4 | IngressLoadBalancerStatus 1 | IngressPortStatus 3 1! 2 | IngressRule 1 2.1 | IngressServiceBackend 1 2
IngressSpec 1 4 3 2 | IngressStatus 1 | IngressTLS 1 2 | Job 1 2 3 | JobCondition 3 4 6 5 2 1
JobSpec 3! 7! 12! 9 2! 15 5! 13! 1! 11 14 4 16 10! 6 8! | JobStatus 4 7 3 1 6 10 9! 2 5 11! 8 | JobTemplateSpec 1 2 | KeyToPath 1 3! 2
LabelSelector 2 1 | LabelSelectorRequirement 1 2 3 | Lease 1 2 | LeaseSpec 3 1 2! 5! 7 4 6 | Lifecycle 1 2 3 | LifecycleHandler 1 2 4 3
LimitRange 1 2 | LimitRangeItem 4 5 2 6 3 1 | LimitRangeSpec 1 | LinuxContainerUser 2! 3 1! | LoadBalancerIngress 2 1 3 4 | LoadBalancerStatus 1
LocalObjectReference 1 | LocalVolumeSource 2 1 | ManagedFieldsEntry 3 6 7 1 2 8 4 | MatchCondition 2 1 | MetricIdentifier 1 2 | MetricSpec 7 5 2 3 4 1
MetricStatus 7 5 2 3 4 1 | MetricTarget 4! 3 1 2 | MetricValueStatus 3! 2 1 | ModifyVolumeStatus 2 1 | MutatingWebhook 8 2 4 12 9 1 5 11 10 3 6 7!
MutatingWebhookConfiguration 1 2 | NFSVolumeSource 2 3 1 | Namespace 1 2 3 | NamespaceCondition 4 6 5 2 1 | NamespaceSpec 1 | NamespaceStatus 2 1
NetworkPolicy 1 2 | NetworkPolicyEgressRule 1 2 | NetworkPolicyIngressRule 2 1 | NetworkPolicyPeer 3 2 1 | NetworkPolicyPort 3! 2 1
NetworkPolicySpec 3 2 1 4 | Node 1 2 3 | NodeAddress 2 1 | NodeAffinity 2 1 | NodeAllocatableResourceClaimStatus 2 1 3 | NodeCondition 3 4 6 5 2 1
NodeConfigSource 2 | NodeConfigStatus 2 1 4 3 | NodeDaemonEndpoints 1 | NodeFeatures 1! | NodeRuntimeHandler 2 1 | NodeRuntimeHandlerFeatures 1! 2!
NodeSelector 1 | NodeSelectorRequirement 1 2 3 | NodeSelectorTerm 1 2 | NodeSpec 6 2 1 7 3 5 4 | NodeStatus 5 2 1 4 11 6 14 13 8 7 3 12 10 9
NodeSwapStatus 1! | NodeSystemInfo 10 3 6 4 8 7 1 9 5 11 2 | ObjectFieldSelector 1 2 | ObjectMeta 12 8 10! 9 14 2 7 11 17 1 3 13 6 4 5
ObjectMetricSource 1 3 2 | ObjectMetricStatus 2 3 1 | ObjectReference 5 7 1 3 2 6 4 | OwnerReference 5 7! 6! 1 3 4 | PersistentVolume 1 2 3
PersistentVolumeClaim 1 2 3 | PersistentVolumeClaimCondition 3 4 6 5 2 1 | PersistentVolumeClaimSpec 1 7 8 2 4 5 9 6 3
PersistentVolumeClaimStatus 2 7 5 3 4 8 9 1 | PersistentVolumeClaimTemplate 1 2 | PersistentVolumeClaimVolumeSource 1 2
PersistentVolumeSpec 3 2.2 2.16 2.13 1 2.9 2.8 4 2.22 2.10 2.12 2.11 2.1 2.4 2.3 2.7 2.20 7 2.5 9 5 2.17 2.18 2.15 2.6 2.19 6 2.21 10 8 2.14
PersistentVolumeStatus 4 2 1 3 | PhotonPersistentDiskVolumeSource 2 1 | Pod 1 2 3 | PodAffinity 2 1 | PodAffinityTerm 1 5 6 4 2 3
PodAntiAffinity 2 1 | PodCertificateProjection 6 4 5 2 3! 1 7 | PodCondition 3 4 6 7 5 2 1 | PodDNSConfig 1 3 2 | PodDNSConfigOption 1 2
PodDisruptionBudget 1 2 3 | PodDisruptionBudgetSpec 3 1 2 4 | PodDisruptionBudgetStatus 7 4! 5! 2 3! 6! 1 | PodExtendedResourceClaimStatus 1 2
PodFailurePolicy 1 | PodFailurePolicyOnExitCodesRequirement 1 2 3 | PodFailurePolicyOnPodConditionsPattern 2 1 | PodFailurePolicyRule 1 2 3 | PodIP 1
PodOS 1 | PodReadinessGate 1 | PodResourceClaim 1 3 4 | PodResourceClaimStatus 1 2 | PodSchedulingGate 1 | PodSchedulingGroup 1
PodSecurityContext 11 5! 9 6! 3! 2! 13 1 10 4 12 7 8
PodSpec 5! 18 21! 2 26 6 30! 34 23 13 11 12 37! 16 41 15 20 10 7 36 32 31 25! 24 28 39 40 3 29 19 38 43 14 9 8 35! 27! 17 4! 22 33 1
PodStatus 19 2 8 13 18 5 16 10 3 21 11 17 1 6 12 9 4 14 15 20 7 | PodTemplateSpec 1 2 | PodsMetricSource 1 2 | PodsMetricStatus 2 1
PolicyRule 2 5 4 3 1 | PortStatus 3 1! 2 | PortworxVolumeSource 2 3 1 | PreferredSchedulingTerm 2 1! | PriorityClass 4 3 1 5 2!
Probe 1.1 6 1.4 1.2 2 4 5 1.3 7! 3 | ProjectedVolumeSource 2! 1 | QuobyteVolumeSource 5 3 1 6 4 2 | RBDPersistentVolumeSource 3 2 6 1 4 8 7 5
RBDVolumeSource 3 2 6 1 4 8 7 5 | ReplicaSet 1 2 3 | ReplicaSetCondition 3 5 4 2 1 | ReplicaSetSpec 4 1! 2 3 | ReplicaSetStatus 5 6 2 3 4 1! 7!
ReplicationController 1 2 3 | ReplicationControllerCondition 3 5 4 2 1 | ReplicationControllerSpec 4 1! 2 3 | ReplicationControllerStatus 5 6 2 3 4 1!
ResourceClaim 1 2 | ResourceFieldSelector 1 3 2 | ResourceHealth 2 6 1 | ResourceMetricSource 1 2 | ResourceMetricStatus 2 1 | ResourceQuota 1 2 3
ResourceQuotaSpec 1 3 2 | ResourceQuotaStatus 1 2 | ResourceRequirements 3 1 2 | ResourceStatus 1 2 | Role 1 2 | RoleBinding 1 3 2 | RoleRef 1 2 3
RollingUpdateDaemonSet 2 1 | RollingUpdateDeployment 2 1 | RollingUpdateStatefulSetStrategy 2 1! | RuleWithOperations 2.1 2.2 1 2.3 2.4
SELinuxOptions 4 2 3 1 | ScaleIOPersistentVolumeSource 9 1 5 10 3 4 7 6 2 8 | ScaleIOVolumeSource 9 1 5 10 3 4 7 6 2 8 | ScopeSelector 1
ScopedResourceSelectorRequirement 2 1 3 | SeccompProfile 2 1 | Secret 2 5! 1 4 3 | SecretEnvSource 1.1 2! | SecretKeySelector 2 1.1 3!
SecretProjection 2 1.1 4! | SecretReference 1 2 | SecretVolumeSource 3! 2 4! 1 | SecurityContext 7! 12 1 2! 9 6! 8! 5! 4! 3 11 10 | Service 1 2 3
ServiceAccount 4! 3 1 2 | ServiceAccountTokenProjection 1 2! 3 | ServiceBackendPort 1 2 | ServicePort 6 1 5 3! 2 4 | ServiceReference 2 1 3 4!
ServiceSpec 20! 3 18 5 10 11 12 22 19 17 21 8 9 1 13 2 7 14 23 4 | ServiceStatus 2 1 | SessionAffinityConfig 1 | SleepAction 1! | StatefulSet 1 2 3
StatefulSetCondition 3 5 4 2 1 | StatefulSetOrdinals 1! | StatefulSetPersistentVolumeClaimRetentionPolicy 1 2
StatefulSetSpec 9 11 10 6 1! 8! 2 5 3 7 4 | StatefulSetStatus 11! 9! 10 4 6 1 3 2! 7 5 | StatefulSetUpdateStrategy 2 1
StorageOSPersistentVolumeSource 3 4 5 1 2 | StorageOSVolumeSource 3 4 5 1 2 | Subject 2 1 3 4 | SuccessPolicy 1 | SuccessPolicyRule 2! 1 | Sysctl 1 2
TCPSocketAction 2 1 | Taint 3 1 4 2 | Toleration 4 1 2 5! 3 | TopologySpreadConstraint 4 8 1! 5! 6 7 2 3 | TypedLocalObjectReference 1 2 3
TypedObjectReference 1 2 3 4 | UncountedTerminatedPods 2 1 | ValidatingWebhook 8 2 4 11 9 1 5 10 3 6 7! | ValidatingWebhookConfiguration 1 2
Volume 2.4 2.22 2.18 2.14 2.13 2.19 2.28 2.16 2.2 2.29 2.17 2.12 2.15 2.3 2.5 2.9 2.1 2.30 2.8 1 2.7 2.10 2.23 2.24 2.26 2.21 2.11 2.25 2.6 2.27 2.20
VolumeDevice 2 1 | VolumeMount 3 5 1 2 7 4 6 | VolumeMountStatus 2 1 3 4 5 | VolumeNodeAffinity 1 | VolumeProjection 5 3 2 6 1 4
VolumeResourceRequirements 1 2 | VolumeStatus 1 | VsphereVirtualDiskVolumeSource 2 4 3 1 | WebhookClientConfig 2 1 3 | WeightedPodAffinityTerm 2 1!
WindowsSecurityContextOptions 2 1 4! 3
`;

/** Types that are posted and never stored, with their numbers: `field:type=number`. */
const postedText = `
DeleteOptions dryRun:[]s=5 gracePeriodSeconds:i=1! orphanDependents:b=3! preconditions:Preconditions=2 propagationPolicy:s=4
Preconditions resourceVersion:s=2 uid:s=1
Eviction deleteOptions:DeleteOptions=2 metadata:ObjectMeta=1
TokenRequest metadata:ObjectMeta=1 spec:TokenRequestSpec=2
TokenRequestSpec audiences:[]s=1 boundObjectRef:BoundObjectReference=3 expirationSeconds:i=4!
BoundObjectReference apiVersion:s=2 kind:s=1 name:s=3 uid:s=4
SelfSubjectReview metadata:ObjectMeta=1
SelfSubjectAccessReview metadata:ObjectMeta=1 spec:SelfSubjectAccessReviewSpec=2
SelfSubjectAccessReviewSpec nonResourceAttributes:NonResourceAttributes=2 resourceAttributes:ResourceAttributes=1
SelfSubjectRulesReview metadata:ObjectMeta=1 spec:SelfSubjectRulesReviewSpec=2
SelfSubjectRulesReviewSpec namespace:s=1
SubjectAccessReview metadata:ObjectMeta=1 spec:SubjectAccessReviewSpec=2
LocalSubjectAccessReview metadata:ObjectMeta=1 spec:SubjectAccessReviewSpec=2
SubjectAccessReviewSpec groups:[]s=4 nonResourceAttributes:NonResourceAttributes=2 resourceAttributes:ResourceAttributes=1 uid:s=6 user:s=3
NonResourceAttributes path:s=1 verb:s=2
ResourceAttributes group:s=3 name:s=7 namespace:s=1 resource:s=5 subresource:s=6 verb:s=2 version:s=4
`;

/** One field of a message: a value of this code, or the inlined fields of another message. */
type Field = { readonly name: string; readonly code: string; readonly zero: boolean } | { readonly inlined: Message };
type Message = Map<number, Field>;

/** Fields that are bytes: base64 in JSON. */
const bytes = new Set(["ConfigMap.binaryData", "Secret.data", "WebhookClientConfig.caBundle"]);

const put = (message: Message, place: readonly number[], field: Field): void => {
  const [number = 0, ...rest] = place;
  const there = message.get(number);
  if (rest.length === 0) {
    message.set(number, field);
    return;
  }
  const inlined = there !== undefined && "inlined" in there ? there.inlined : new Map();
  message.set(number, { inlined });
  put(inlined, rest, field);
};

const messageOf = (struct: string, fields: readonly (readonly [string, string, string])[]): Message => {
  const message: Message = new Map();
  for (const [name, code, number] of fields) {
    const read = bytes.has(`${struct}.${name}`) ? code.replace("s", "y") : code;
    const place = number.replace("!", "").split(".").map(Number);
    put(message, place, { name, code: read, zero: number.endsWith("!") });
  }
  return message;
};

const linesOf = (text: string): readonly string[] => text.trim().split(/\n| \| /);

const known = (line: string): readonly [string, Message] => {
  const [struct = "", ...numbers] = line.split(" ");
  const codes = [...(codesNamed(struct) ?? [])];
  return [
    struct,
    messageOf(
      struct,
      codes.map(([name, code], at) => [name, code, numbers[at] ?? "0"]),
    ),
  ];
};

const posted = (line: string): readonly [string, Message] => {
  const [struct = "", ...fields] = line.split(" ");
  return [
    struct,
    messageOf(
      struct,
      fields.map((field): [string, string, string] => {
        const [, name = "", code = "", number = "0"] = /^(\w+):(.*)=(.*)$/.exec(field) ?? [];
        return [name, code, number];
      }),
    ),
  ];
};

const messages: ReadonlyMap<string, Message> = new Map([
  ...linesOf(numbersText).map(known),
  ...linesOf(postedText).map(posted),
]);

/** A value on the wire: a number, or bytes. */
type Wire = { readonly number: number; readonly value: bigint | Buffer };

const varint = (data: Buffer, at: number): readonly [bigint, number] => {
  let value = 0n;
  for (let i = at, shift = 0n; i < data.length; i++, shift += 7n) {
    const byte = data[i] ?? 0;
    value |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) return [BigInt.asIntN(64, value), i + 1];
  }
  throw new Error("protobuf: a number without an end");
};

const fixed: Readonly<Record<number, number>> = { 1: 8, 5: 4 };

const wiresIn = (data: Buffer): readonly Wire[] => {
  const wires: Wire[] = [];
  for (let at = 0; at < data.length; ) {
    const [tag, after] = varint(data, at);
    const [number, type] = [Number(tag >> 3n), Number(tag & 7n)];
    const [lengthOrValue, begin] = type === 0 || type === 2 ? varint(data, after) : [BigInt(fixed[type] ?? -1), after];
    if (type !== 0 && (lengthOrValue < 0n || begin + Number(lengthOrValue) > data.length))
      throw new Error("protobuf: cut off");
    at = type === 0 ? begin : begin + Number(lengthOrValue);
    wires.push({ number, value: type === 0 ? lengthOrValue : data.subarray(begin, at) });
  }
  return wires;
};

const bytesOf = (value: Wire["value"] | undefined): Buffer => (Buffer.isBuffer(value) ? value : Buffer.alloc(0));

const first = (data: Wire["value"] | undefined, number: number): Wire["value"] | undefined =>
  wiresIn(bytesOf(data)).findLast((wire) => wire.number === number)?.value;

/** A quantity is a text; an IntOrString first says which of the two it is. */
const quantity = (data: Wire["value"]): string | number => {
  const type = first(data, 1);
  if (typeof type !== "bigint") return bytesOf(type).toString();
  return type === 0n ? Number(first(data, 2) ?? 0n) : bytesOf(first(data, 3)).toString();
};

const instant = (data: Wire["value"]): string | undefined => {
  const seconds = first(data, 1);
  if (typeof seconds !== "bigint") return undefined;
  const micros = Math.floor(Number(first(data, 2) ?? 0n) / 1_000);
  const text = new Date(Number(seconds) * 1_000).toISOString().slice(0, 19);
  return micros === 0 ? `${text}Z` : `${text}.${String(micros).padStart(6, "0")}Z`;
};

const leaves: Readonly<Record<string, (value: Wire["value"]) => unknown>> = {
  s: (value) => bytesOf(value).toString(),
  y: (value) => bytesOf(value).toString("base64"),
  i: Number,
  b: (value) => value !== 0n,
  n: (value) => (bytesOf(value).length === 8 ? bytesOf(value).readDoubleLE() : Number(value)),
  q: quantity,
  t: instant,
};

const decoded = (code: string, value: Wire["value"]): unknown => {
  const leaf = leaves[code];
  if (leaf !== undefined) return leaf(value);
  const message = messages.get(code);
  return message === undefined ? undefined : fieldsIn(message, bytesOf(value));
};

/** A field's value added to the values before it: lists and maps come an item at a time. */
const added = (before: unknown, code: string, value: Wire["value"]): unknown => {
  if (code.startsWith("{}")) {
    const key = bytesOf(first(value, 1)).toString();
    const item = first(value, 2) ?? Buffer.alloc(0);
    return { ...(isFields(before) ? before : {}), [key]: decoded(code.slice(2), item) };
  }
  const list = /^(?:<>|\[[^\]]*\])(.*)$/.exec(code);
  if (list === null) return decoded(code, value);
  return [...(Array.isArray(before) ? before : []), decoded(list[1] ?? "", value)];
};

const isZero = (value: unknown): boolean => value === 0 || value === false || value === "" || value === undefined;

/** Fields that no table knows are skipped, as by a decoder of an older version. */
const fieldsIn = (message: Message, data: Buffer): Fields => {
  let fields: Record<string, unknown> = {};
  for (const { number, value } of wiresIn(data)) {
    const field = message.get(number);
    if (field === undefined) continue;
    if ("inlined" in field) fields = { ...fields, ...fieldsIn(field.inlined, bytesOf(value)) };
    else {
      const item = added(fields[field.name], field.code, value);
      if (field.zero || !isZero(item)) fields[field.name] = item;
    }
  }
  return fields;
};

export const protobufType = "application/vnd.kubernetes.protobuf";

const magic = Buffer.from("k8s\0");

const read = (envelope: Buffer): string | undefined => {
  const type = bytesOf(first(envelope, 1));
  const [apiVersion, kind] = [1, 2].map((number) => bytesOf(first(type, number)).toString());
  const message = messages.get(kind ?? "");
  if (message === undefined) return undefined;
  return JSON.stringify({ apiVersion, kind, ...fieldsIn(message, bytesOf(first(envelope, 2))) });
};

/** The JSON of an object in Kubernetes' envelope; undefined for other bytes, a cut-off body, or an unknown kind. */
export const jsonOfProtobuf = (data: Buffer): string | undefined => {
  if (!data.subarray(0, magic.length).equals(magic)) return undefined;
  try {
    return read(data.subarray(magic.length));
  } catch {
    return undefined;
  }
};
