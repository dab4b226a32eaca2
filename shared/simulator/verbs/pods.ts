/** The API server's part in pods: defaults, admission, refusals, and the fields that may not change. */

import { type Fields, fieldsAt, isFields, itemsAt, numberAt, same, textAt, withField } from "../storage/json.ts";
import type { Draft, Item } from "../storage/metadata.ts";
import { type Cause, cause } from "../storage/refusal.ts";

const containerDefaults: Fields = {
  resources: {},
  terminationMessagePath: "/dev/termination-log",
  terminationMessagePolicy: "File",
};

const pullPolicy = (image: string): string => {
  const tag = image.includes("@") ? "digest" : /:([^/:]+)$/.exec(image)?.[1];
  return tag === undefined || tag === "latest" ? "Always" : "IfNotPresent";
};

/** Requests follow limits where only limits are given. */
const resourcesOf = (container: Fields): Fields => {
  const resources = fieldsAt(container, "resources");
  const limits = fieldsAt(resources, "limits");
  if (Object.keys(limits).length === 0) return resources;
  return { ...resources, requests: { ...limits, ...fieldsAt(resources, "requests") } };
};

const withProtocol = (port: unknown): unknown => (isFields(port) ? { protocol: "TCP", ...port } : port);

const fieldRef = (env: unknown): unknown => {
  const ref = fieldsAt(env, "valueFrom", "fieldRef");
  if (!isFields(env) || textAt(ref, "fieldPath") === undefined || "apiVersion" in ref) return env;
  return { ...env, valueFrom: { ...fieldsAt(env, "valueFrom"), fieldRef: { apiVersion: "v1", ...ref } } };
};

const container = (value: unknown, mount: Fields | undefined): unknown => {
  if (!isFields(value)) return value;
  const mounts = itemsAt(value, "volumeMounts");
  const mounted = mounts.some((each) => textAt(each, "mountPath") === tokenPath);
  return {
    ...value,
    ...containerDefaults,
    imagePullPolicy: textAt(value, "imagePullPolicy") ?? pullPolicy(textAt(value, "image") ?? ""),
    ...(value["terminationMessagePolicy"] !== undefined && {
      terminationMessagePolicy: value["terminationMessagePolicy"],
    }),
    resources: resourcesOf(value),
    ...(value["ports"] !== undefined && { ports: itemsAt(value, "ports").map(withProtocol) }),
    ...(value["env"] !== undefined && { env: itemsAt(value, "env").map(fieldRef) }),
    ...(mount !== undefined && !mounted && { volumeMounts: [...mounts, mount] }),
  };
};

const volume = (value: unknown): unknown => {
  if (!isFields(value)) return value;
  const kind = Object.keys(value).find((key) => key === "configMap" || key === "secret" || key === "projected");
  if (kind === undefined) return Object.keys(value).length > 1 ? value : { ...value, emptyDir: {} };
  return { ...value, [kind]: { defaultMode: 420, ...fieldsAt(value, kind) } };
};

const tokenPath = "/var/run/secrets/kubernetes.io/serviceaccount";

const tokenVolume = (name: string): Fields => ({
  name,
  projected: {
    sources: [
      { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
      { configMap: { items: [{ key: "ca.crt", path: "ca.crt" }], name: "kube-root-ca.crt" } },
      {
        downwardAPI: {
          items: [{ fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" }, path: "namespace" }],
        },
      },
    ],
    defaultMode: 420,
  },
});

const toleration = (key: string): Fields => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 });
const nodeTroubles = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] as const;

const tolerates = (tolerations: readonly unknown[], key: string): boolean =>
  tolerations.some((each) => {
    const effect = textAt(each, "effect") ?? "";
    const own = textAt(each, "key") ?? "";
    return (effect === "" || effect === "NoExecute") && (own === key || own === "");
  });

const withTolerations = (tolerations: readonly unknown[]): readonly unknown[] => [
  ...tolerations,
  ...nodeTroubles.filter((key) => !tolerates(tolerations, key)).map(toleration),
];

const amount = (container: unknown, what: "limits" | "requests", resource: string): unknown =>
  fieldsAt(container, "resources", what)[resource];

const qosOf = (spec: Fields): string => {
  const containers = [...itemsAt(spec, "containers"), ...itemsAt(spec, "initContainers")];
  const resources = ["cpu", "memory"] as const;
  const requested = containers.some((each) =>
    resources.some((r) => amount(each, "limits", r) !== undefined || amount(each, "requests", r) !== undefined),
  );
  if (!requested) return "BestEffort";
  const bound = containers.every((each) =>
    resources.every(
      (r) => amount(each, "limits", r) !== undefined && same(amount(each, "limits", r), amount(each, "requests", r)),
    ),
  );
  return bound ? "Guaranteed" : "Burstable";
};

const specDefaults: Fields = {
  restartPolicy: "Always",
  terminationGracePeriodSeconds: 30,
  dnsPolicy: "ClusterFirst",
};

/** The service account that a pod runs as. */
export const accountOf = (spec: Fields): string => {
  const name = textAt(spec, "serviceAccountName") || textAt(spec, "serviceAccount");
  return name === undefined || name === "" ? "default" : name;
};

const specOf = (given: Fields, token: string): Fields => {
  const account = accountOf(given);
  const mountsToken = given["automountServiceAccountToken"] !== false;
  const mount = mountsToken ? { name: token, readOnly: true, mountPath: tokenPath } : undefined;
  const inits = itemsAt(given, "initContainers");
  const volumes = [...itemsAt(given, "volumes").map(volume), ...(mountsToken ? [tokenVolume(token)] : [])];
  return {
    ...specDefaults,
    ...given,
    ...(volumes.length > 0 && { volumes }),
    ...(inits.length > 0 && { initContainers: inits.map((each) => container(each, mount)) }),
    containers: itemsAt(given, "containers").map((each) => container(each, mount)),
    serviceAccountName: account,
    serviceAccount: account,
    securityContext: fieldsAt(given, "securityContext"),
    schedulerName: textAt(given, "schedulerName") ?? "default-scheduler",
    tolerations: withTolerations(itemsAt(given, "tolerations")),
    priority: numberAt(given, "priority") ?? 0,
    enableServiceLinks: given["enableServiceLinks"] ?? true,
    preemptionPolicy: textAt(given, "preemptionPolicy") ?? "PreemptLowerPriority",
  };
};

const gated = (spec: Fields): boolean => itemsAt(spec, "schedulingGates").length > 0;

/** A pod as the server first stores it. `suffix` is five characters for the name of its token volume. */
export const newPod = (draft: Draft, suffix: string, time: string): Draft => {
  const spec = specOf(fieldsAt(draft, "spec"), `kube-api-access-${suffix}`);
  const held = {
    conditions: [
      {
        type: "PodScheduled",
        status: "False",
        lastProbeTime: null,
        lastTransitionTime: time,
        reason: "SchedulingGated",
        message: "Scheduling is blocked due to non-empty scheduling gates",
      },
    ],
  };
  return { ...draft, spec, status: { phase: "Pending", ...(gated(spec) && held) } };
};

/** A pod with the class of service that its resources give it. */
export const withQos = (pod: Draft): Draft => ({
  ...pod,
  status: { ...fieldsAt(pod, "status"), qosClass: qosOf(fieldsAt(pod, "spec")) },
});

const nameOk = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const labelWords =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

const containerFaults = (value: unknown, path: string): readonly Cause[] => {
  const name = textAt(value, "name") ?? "";
  const image = textAt(value, "image") ?? "";
  return [
    ...(name === "" ? [cause.required(`${path}.name`)] : []),
    ...(name !== "" && !nameOk.test(name) ? [cause.invalid(`${path}.name`, name, labelWords)] : []),
    ...(image.trim() === "" ? [cause.required(`${path}.image`)] : []),
  ];
};

const duplicateFaults = (containers: readonly unknown[]): readonly Cause[] => {
  const names = containers.map((each) => textAt(each, "name"));
  return names.flatMap((name, i) =>
    names.indexOf(name) < i ? [cause.duplicate(`spec.containers[${i}].name`, name)] : [],
  );
};

const mountFaults = (spec: Fields): readonly Cause[] => {
  const known = new Set(itemsAt(spec, "volumes").map((each) => textAt(each, "name")));
  return itemsAt(spec, "containers").flatMap((each, i) =>
    itemsAt(each, "volumeMounts").flatMap((mount, j) => {
      const name = textAt(mount, "name") ?? "";
      const field = `spec.containers[${i}].volumeMounts[${j}].name`;
      return known.has(name)
        ? []
        : [{ reason: "FieldValueNotFound", message: `Not found: ${JSON.stringify(name)}`, field }];
    }),
  );
};

const policies = ["Always", "OnFailure", "Never"] as const;

const hostnameFaults = (spec: Fields): readonly Cause[] => {
  const hostname = textAt(spec, "hostname") ?? "";
  if (hostname === "") return [];
  const tooLong = hostname.length > 63;
  return [
    ...(tooLong ? [cause.invalid("spec.hostname", hostname, "must be no more than 63 characters")] : []),
    ...(nameOk.test(hostname) ? [] : [cause.invalid("spec.hostname", hostname, labelWords)]),
  ];
};

/** The faults of a pod's spec. */
export const podFaults = (pod: Draft): readonly Cause[] => {
  const spec = fieldsAt(pod, "spec");
  const containers = itemsAt(spec, "containers");
  const policy = textAt(spec, "restartPolicy") ?? "Always";
  return [
    ...(containers.length === 0 ? [cause.required("spec.containers")] : []),
    ...containers.flatMap((each, i) => containerFaults(each, `spec.containers[${i}]`)),
    ...itemsAt(spec, "initContainers").flatMap((each, i) => containerFaults(each, `spec.initContainers[${i}]`)),
    ...duplicateFaults(containers),
    ...mountFaults(spec),
    ...hostnameFaults(spec),
    ...(policies.some((each) => each === policy) ? [] : [cause.unsupported("spec.restartPolicy", policy, policies)]),
  ];
};

const withoutImage = (value: unknown): unknown => (isFields(value) ? withField(value, "image", undefined) : value);

/** The part of a pod's spec that never changes. */
const fixed = (pod: Draft): unknown => {
  const { tolerations, activeDeadlineSeconds, schedulingGates, nodeName, ...spec } = fieldsAt(pod, "spec");
  return {
    ...spec,
    containers: itemsAt(spec, "containers").map(withoutImage),
    initContainers: itemsAt(spec, "initContainers").map(withoutImage),
  };
};

/** The faults of an update of a pod. */
export const podUpdateFaults = (before: Item, after: Draft): readonly Cause[] => {
  const node = textAt(before, "spec", "nodeName");
  const movesNode = node !== textAt(after, "spec", "nodeName");
  return same(fixed(before), fixed(after)) && !movesNode
    ? []
    : [
        cause.forbidden(
          "spec",
          "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
        ),
      ];
};
