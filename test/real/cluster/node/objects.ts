/** The fields of Kubernetes objects that the agent reads; it ignores all others. */

export type Meta = {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
};

export type FieldRef = { readonly fieldPath: string };
export type ResourceFieldRef = {
  readonly resource: string;
  readonly divisor?: string;
  readonly containerName?: string;
};
export type KeyRef = { readonly name: string; readonly key: string; readonly optional?: boolean };
export type ObjectRef = { readonly name: string; readonly optional?: boolean };

export type EnvVar = {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly fieldRef?: FieldRef;
    readonly resourceFieldRef?: ResourceFieldRef;
    readonly configMapKeyRef?: KeyRef;
    readonly secretKeyRef?: KeyRef;
  };
};

export type EnvFrom = { readonly prefix?: string; readonly configMapRef?: ObjectRef; readonly secretRef?: ObjectRef };

export type Mount = {
  readonly name: string;
  readonly mountPath: string;
  readonly subPath?: string;
  readonly subPathExpr?: string;
  readonly readOnly?: boolean;
};

export type Act = {
  readonly exec?: { readonly command: readonly string[] };
  readonly httpGet?: {
    readonly path?: string;
    readonly port: number | string;
    readonly host?: string;
    readonly scheme?: string;
    readonly httpHeaders?: readonly { readonly name: string; readonly value: string }[];
  };
  readonly tcpSocket?: { readonly port: number | string; readonly host?: string };
  readonly sleep?: { readonly seconds: number };
};

export type Probe = Act & {
  readonly initialDelaySeconds?: number;
  readonly periodSeconds?: number;
  readonly timeoutSeconds?: number;
  readonly successThreshold?: number;
  readonly failureThreshold?: number;
};

export type Security = {
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly runAsNonRoot?: boolean;
  readonly readOnlyRootFilesystem?: boolean;
  readonly fsGroup?: number;
  readonly supplementalGroups?: readonly number[];
};

export type Container = {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly workingDir?: string;
  readonly env?: readonly EnvVar[];
  readonly envFrom?: readonly EnvFrom[];
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
  readonly resources?: {
    readonly limits?: Readonly<Record<string, string>>;
    readonly requests?: Readonly<Record<string, string>>;
  };
  readonly volumeMounts?: readonly Mount[];
  readonly readinessProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly startupProbe?: Probe;
  readonly lifecycle?: { readonly postStart?: Act; readonly preStop?: Act };
  readonly restartPolicy?: string;
  readonly securityContext?: Security;
  readonly terminationMessagePath?: string;
  readonly terminationMessagePolicy?: string;
};

export type KeyPath = { readonly key: string; readonly path: string; readonly mode?: number };
export type KeysOf = ObjectRef & { readonly items?: readonly KeyPath[] };
export type DownwardItem = {
  readonly path: string;
  readonly mode?: number;
  readonly fieldRef?: FieldRef;
  readonly resourceFieldRef?: ResourceFieldRef;
};

/** A source of a projected volume; the first three are also volumes of their own. */
export type Source = {
  readonly configMap?: KeysOf;
  readonly secret?: Omit<KeysOf, "name"> & { readonly name?: string; readonly secretName?: string };
  readonly downwardAPI?: { readonly items?: readonly DownwardItem[] };
  readonly serviceAccountToken?: {
    readonly path: string;
    readonly audience?: string;
    readonly expirationSeconds?: number;
  };
};

export type Volume = {
  readonly name: string;
  readonly configMap?: KeysOf & { readonly defaultMode?: number };
  readonly secret?: Omit<KeysOf, "name"> & { readonly secretName: string; readonly defaultMode?: number };
  readonly downwardAPI?: { readonly items?: readonly DownwardItem[]; readonly defaultMode?: number };
  readonly projected?: { readonly sources?: readonly Source[]; readonly defaultMode?: number };
  readonly emptyDir?: { readonly medium?: string; readonly sizeLimit?: string };
  readonly hostPath?: { readonly path: string; readonly type?: string };
  readonly persistentVolumeClaim?: { readonly claimName: string; readonly readOnly?: boolean };
};

export type Condition = {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string | null;
  readonly reason?: string | null;
  readonly message?: string | null;
};

export type Terminated = {
  readonly exitCode: number;
  readonly reason: string;
  readonly message?: string;
  readonly startedAt?: string;
  readonly finishedAt?: string;
  readonly containerID?: string;
};

export type ContainerState =
  | { readonly waiting: { readonly reason: string; readonly message?: string } }
  | { readonly running: { readonly startedAt: string } }
  | { readonly terminated: Terminated };

export type ContainerStatus = {
  readonly name: string;
  readonly state: ContainerState;
  readonly lastState: ContainerState | Record<string, never>;
  readonly ready: boolean;
  readonly started: boolean;
  readonly restartCount: number;
  readonly image: string;
  readonly imageID: string;
  readonly containerID?: string;
};

export type PodStatus = {
  readonly phase: string;
  readonly reason?: string | null;
  readonly message?: string | null;
  readonly conditions?: readonly Condition[];
  readonly podIP?: string;
  readonly podIPs?: readonly ({ readonly ip: string } | { readonly $patch: "replace" })[];
  readonly hostIP?: string;
  readonly hostIPs?: readonly ({ readonly ip: string } | { readonly $patch: "replace" })[];
  readonly startTime?: string;
  readonly initContainerStatuses?: readonly ContainerStatus[];
  readonly containerStatuses?: readonly ContainerStatus[];
};

export type Pod = {
  readonly metadata: Meta;
  readonly spec: {
    readonly nodeName?: string;
    readonly restartPolicy?: "Always" | "OnFailure" | "Never";
    readonly containers: readonly Container[];
    readonly initContainers?: readonly Container[];
    readonly volumes?: readonly Volume[];
    readonly serviceAccountName?: string;
    readonly hostNetwork?: boolean;
    readonly hostname?: string;
    readonly subdomain?: string;
    readonly hostAliases?: readonly { readonly ip: string; readonly hostnames?: readonly string[] }[];
    readonly securityContext?: Security;
    readonly terminationGracePeriodSeconds?: number;
    readonly activeDeadlineSeconds?: number;
  };
  readonly status?: PodStatus;
};

export type Service = {
  readonly metadata: Meta;
  readonly spec: {
    readonly clusterIP?: string;
    readonly selector?: Readonly<Record<string, string>>;
    readonly publishNotReadyAddresses?: boolean;
  };
};

/** Returns a pod's name for people and log lines. */
export const nameOf = (pod: { readonly metadata: Meta }): string => `${pod.metadata.namespace}/${pod.metadata.name}`;

export const isTerminal = (pod: Pod): boolean => pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
