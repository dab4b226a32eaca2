/** Objects of an installation that serves admission: the Service that the API server calls, and roles. */
import type { Obj } from "../../core/object.ts";
import { type Family, families } from "../../kube/families.ts";
import { noPodRules, type PodRules } from "../../kube/pod-rules.ts";
import { account, grant, named } from "./grants.ts";
import { certificateRules, registrationRulesOf } from "./roles.ts";

/** Name of the Service, and of the Secret with its certificate. */
const name = "rekindle-admission";

const port = 9443;

export const admissionPort = { name: "admission", containerPort: port, protocol: "TCP" } as const;

const podArgs = ({ queueGate, groups }: PodRules): readonly string[] => [
  ...(queueGate ? ["--admission-queue-gate"] : []),
  ...(groups.length === 0 ? [] : [`--admission-resource-groups=${JSON.stringify(groups)}`]),
];

/** The host's flags for admission: its address, its Service, the Secret of the shared certificate, rules for pods. */
export const admissionArgs = (namespace: string, pods: PodRules = noPodRules): readonly string[] => [
  "--admission",
  `--admission-listen=0.0.0.0:${port}`,
  `--admission-reach=${namespace}/${name}`,
  `--admission-secret=${namespace}/${name}`,
  "--admission-quota",
  ...podArgs(pods),
];

type Place = {
  readonly namespace: string;
  readonly host: boolean;
  /** Absent: all. */
  readonly families?: readonly Family[] | undefined;
};

const service = ({ namespace, host }: Place): Obj => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: named(name, namespace),
  spec: {
    // Without a host in the cluster the Service selects no pods: its endpoints come from elsewhere.
    ...(host ? { selector: { "app.kubernetes.io/name": "rekindle" } } : {}),
    ports: [{ name: "https", port: 443, targetPort: port, protocol: "TCP" }],
  },
});

export const admissionObjects = (place: Place): readonly Obj[] => {
  const to = [{ name: account, namespace: place.namespace }];
  return [
    service(place),
    ...grant({ name, within: undefined, rules: registrationRulesOf(place.families ?? families), to }),
    ...grant({ name, within: place.namespace, rules: certificateRules, to }),
  ];
};
