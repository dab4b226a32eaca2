/**
 * A pod under construction: Spark's own container apart from the rest, and every edit a new value. It begins with one
 * of the two pod templates: the user's, or Spark's container alone; without fields that Kubernetes does not know.
 */
import * as z from "zod";
import { isRecord } from "../../../core/json.ts";
import type { Json } from "../../../kube/responses.ts";
import type { Role } from "../arguments/pod.ts";

const loose = z.looseObject({});
const list = z.array(loose).optional();
/** A text, also where YAML reads a number or a boolean. */
const text = z.union([z.string(), z.number().transform(String), z.boolean().transform(String)]);
const texts = z.record(z.string(), text).optional();
const variables = z.array(z.looseObject({ value: text.optional() })).optional();
const port = z.union([z.number(), z.string().transform(Number)]);
const ports = z.array(z.looseObject({ containerPort: port.optional() })).optional();
/** Quantities are texts, also where YAML reads a number. */
const amounts = z.record(z.string(), z.union([z.string(), z.number().transform(String)]));

const containerSchema = z.looseObject({
  name: z.string().optional(),
  image: z.string().optional(),
  args: z.array(text).optional(),
  command: z.array(text).optional(),
  env: variables,
  envFrom: list,
  ports,
  volumeMounts: list,
  resources: z.looseObject({ requests: amounts.optional(), limits: amounts.optional() }).optional(),
  securityContext: loose.optional(),
  resizePolicy: list,
});

const metadataSchema = z.looseObject({ labels: texts, annotations: texts, ownerReferences: list });

const specSchema = z.looseObject({
  containers: z.array(containerSchema).optional(),
  initContainers: list,
  volumes: list,
  tolerations: list,
  hostAliases: list,
  imagePullSecrets: list,
  nodeSelector: texts,
});

const templateSchema = z.looseObject({ metadata: metadataSchema.optional(), spec: specSchema.optional() });

export type Container = z.infer<typeof containerSchema>;
export type PodMetadata = z.infer<typeof metadataSchema>;
export type PodSpec = z.infer<typeof specSchema>;

/** A pod whose `spec.containers` are the others; `at` is the index of Spark's container in its template. */
export type SparkPod = {
  readonly metadata: PodMetadata;
  readonly spec: PodSpec;
  readonly container: Container;
  readonly at: number;
};

export const emptyPod: SparkPod = { metadata: {}, spec: {}, container: {}, at: 0 };

const isNothing = (value: unknown): boolean => value === null || (Array.isArray(value) && value.length === 0);

/** Removes nulls and empty lists, which mean the same as absence in Kubernetes. */
const withoutNothing = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.filter((item) => item !== null).map(withoutNothing);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => !isNothing(item))
      .map(([key, item]) => [key, withoutNothing(item)]),
  );
};

/** The index of the container that Spark takes as its own: the named one, or else the first. */
const chosen = (containers: readonly Container[], name: string | undefined): number => {
  const named = containers.flatMap((container, at) => (container.name === name ? [at] : []));
  return named.length === 1 ? (named[0] ?? 0) : 0;
};

/** Parses a pod template, or returns its error. */
export const podOf = (template: unknown, containerName: string | undefined): SparkPod | { readonly error: string } => {
  const parsed = templateSchema.safeParse(withoutNothing(template));
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return { error: `${issue?.path.join(".") ?? ""}: ${issue?.message ?? "not a pod"}` };
  }
  const { metadata = {}, spec } = parsed.data;
  if (spec === undefined) return { error: "it has no spec" };
  const containers = spec.containers ?? [];
  const at = chosen(containers, containerName);
  return {
    metadata,
    spec: { ...spec, containers: containers.filter((_, index) => index !== at) },
    container: containers[at] ?? {},
    at,
  };
};

export const inContainer = (pod: SparkPod, fields: Container): SparkPod => ({
  ...pod,
  container: { ...pod.container, ...fields },
});

export const inSpec = (pod: SparkPod, fields: PodSpec): SparkPod => ({ ...pod, spec: { ...pod.spec, ...fields } });

/** A volume, and its mount in Spark's container. */
type Mounted = { readonly volume: Json; readonly mount: Json };

const withMounts = (pod: SparkPod, mounts: readonly Json[]): SparkPod =>
  inContainer(pod, { volumeMounts: [...(pod.container.volumeMounts ?? []), ...mounts] });

export const withMount = (pod: SparkPod, mount: Json): SparkPod => withMounts(pod, [mount]);

/** Adds several volumes at once, because each addition copies the pod's lists. */
export const withVolumes = (pod: SparkPod, mounted: readonly Mounted[]): SparkPod => {
  if (mounted.length === 0) return pod;
  const volumes = [...(pod.spec.volumes ?? []), ...mounted.map(({ volume }) => volume)];
  return withMounts(
    inSpec(pod, { volumes }),
    mounted.map(({ mount }) => mount),
  );
};

export const withVolume = (pod: SparkPod, volume: Json, mount: Json): SparkPod => withVolumes(pod, [{ volume, mount }]);

export const withEnv = (pod: SparkPod, env: readonly Json[]): SparkPod =>
  env.length === 0 ? pod : inContainer(pod, { env: [...(pod.container.env ?? []), ...env] });

type Whole = { readonly metadata: Json; readonly spec: Json };

const whole = (pod: SparkPod, containers: readonly Json[]): Whole => ({
  metadata: filled(pod.metadata),
  spec: filled({ ...pod.spec, containers }),
});

/** Assembles a pod as Spark's client does: its own container after the others. */
export const assembled = (pod: SparkPod, sidecars: readonly Json[] = []): Whole =>
  whole(pod, [...(pod.spec.containers ?? []), pod.container, ...sidecars]);

/** Assembles a template with the containers in their order: Spark takes the first when none has the expected name. */
export const asTemplate = (pod: SparkPod, sidecars: readonly Json[] = []): Whole => {
  const others = pod.spec.containers ?? [];
  return whole(pod, [...others.slice(0, pod.at), pod.container, ...others.slice(pod.at), ...sidecars]);
};

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  (Array.isArray(value) && value.length === 0) ||
  (isRecord(value) && Object.keys(value).length === 0);

const collections = new Set([
  "labels",
  "annotations",
  "nodeSelector",
  "volumes",
  "imagePullSecrets",
  "ownerReferences",
]);

/** Removes empty collections and undefined fields. */
const filled = (fields: Json): Json =>
  Object.fromEntries(
    Object.entries(fields).filter(([key, value]) => value !== undefined && !(collections.has(key) && isEmpty(value))),
  );

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
