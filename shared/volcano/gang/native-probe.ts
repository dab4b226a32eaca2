/**
 * Finds out whether the cluster places pods as gangs, by a gang of its own: a PodGroup of Kubernetes that needs two pods, and
 * one pod, which no node accepts. Components whose feature gate is off show by what they do not do:
 *
 * - the API server does not serve the API, or drops the pod's `schedulingGroup`;
 * - the scheduler tries the single pod although its group needs two; with the gate on it tries the pod when the group
 *   needs one, and says so in the group's status;
 * - the controller manager leaves the deleted group behind, with its finalizer.
 *
 * A step does one thing and looks at its effect in the next. The objects belong to the group for whose namespace they were
 * created, so that they end with it. After a death in between, the next step goes on with what it finds.
 */
import { all, get, getIfAllowed, type Reads } from "../../core/decision.ts";
import { fieldsOf, recordsIn } from "../../core/json.ts";
import { apiVersionOf, type Metadata, type Obj, type Stored } from "../../core/object.ts";
import type { Effect } from "../../core/plan.ts";
import { instantOf } from "../../core/time.ts";
import { gangOf, minCountOf, nativeApi, nativeGroups } from "../../kube/native-gang.ts";
import { conditionOf, isEnding, nodeNameOf, ownedBy, podStatus } from "../../kube/pods.ts";
import { pods } from "../../kube/resources.ts";
import { podGroups } from "../schema/resource.ts";
import type { NativeProbe } from "./state/memory.ts";

/** How long a finding holds while groups wait, ms. */
const onMs = 3_600_000;
const offMs = 600_000;

/** The time for the objects of a probe to be there, ms: fence, timeout, rounding. */
const createMs = 20_000;
/** A scheduler without gangs has tried a pod by then, ms. */
const singleMs = 3_000;
/** The time for a scheduler with gangs, or for the controller manager, to act, ms. */
const actMs = 30_000;
/** Between the status of a pod and that of its group, ms. */
const betweenMs = 5_000;
const mostAvoids = 20;

/** `open`: not known yet. `looksAt`: when the probe is looked at again, epoch ms. */
export type ProbeTurn = {
  readonly verdict: "on" | "off" | "open";
  readonly why?: string;
  readonly native?: NativeProbe;
  readonly stages: readonly (readonly Effect[])[];
  readonly looksAt?: number;
};

type Probe = NonNullable<NativeProbe["probe"]>;

type Found = { readonly group: Stored | undefined; readonly pod: Stored | undefined };

const metadataOf = ({ namespace, name, uid }: Probe, owner: Stored): Metadata => ({
  ...{ name, namespace },
  ownerReferences: [{ apiVersion: apiVersionOf(podGroups), kind: podGroups.kind, name: owner.metadata.name, uid }],
});

/** A container that even a restricted namespace accepts; it never runs. */
const container = {
  ...{ name: "probe", image: "registry.k8s.io/pause:3.10" },
  resources: { requests: { cpu: "10m", memory: "16Mi" }, limits: { cpu: "10m", memory: "16Mi" } },
  securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
};

const podOf = (probe: Probe, owner: Stored): Obj => ({
  ...{ apiVersion: "v1", kind: pods.kind, metadata: metadataOf(probe, owner) },
  spec: {
    schedulingGroup: { podGroupName: probe.name },
    nodeSelector: { "rekindle.dev/probe": "no-node" },
    ...{ restartPolicy: "Never", terminationGracePeriodSeconds: 0, automountServiceAccountToken: false },
    securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: "RuntimeDefault" } },
    containers: [container],
  },
});

const creations = (probe: Probe, owner: Stored): readonly (readonly Effect[])[] => {
  const group: Obj = {
    ...{ apiVersion: apiVersionOf(nativeGroups), kind: nativeGroups.kind, metadata: metadataOf(probe, owner) },
    spec: gangOf(2),
  };
  const creation = { do: "create", owner: probe.uid, optional: true } as const;
  return [
    [{ ...creation, object: group, resource: nativeGroups }],
    [{ ...creation, object: podOf(probe, owner), resource: pods }],
  ];
};

function* look({ namespace, name, uid }: Probe): Reads<Found> {
  const [group, pod] = yield* all([
    get({ do: "get", ref: { resource: nativeGroups, namespace, name } }),
    get({ do: "get", ref: { resource: pods, namespace, name } }),
  ]);
  const own = (object: Stored | undefined): Stored | undefined =>
    object !== undefined && ownedBy(object, uid) ? object : undefined;
  return { group: own(group), pod: own(pod) };
}

const removals = ({ namespace, name }: Probe, { group, pod }: Found): readonly Effect[] =>
  [
    { resource: pods, object: pod },
    { resource: nativeGroups, object: group },
  ].flatMap(({ resource, object }): readonly Effect[] =>
    object === undefined || isEnding(object)
      ? []
      : [{ do: "delete", ref: { resource, namespace, name }, uid: object.metadata.uid }],
  );

/** Takes the finalizer off the probe's own group, which nobody else does. */
const freed = ({ namespace, name }: Probe, { group }: Found): readonly Effect[] => {
  if (group === undefined || !isEnding(group)) return [];
  const { uid, resourceVersion } = group.metadata;
  const ref = { resource: nativeGroups, namespace, name };
  return [{ do: "patch", ref, uid, resourceVersion, patch: { metadata: { finalizers: null } } }];
};

const wasTried = (pod: Stored): boolean =>
  nodeNameOf(pod) !== undefined || conditionOf(podStatus(pod), "PodScheduled") !== undefined;

const isSpoken = (group: Stored): boolean =>
  recordsIn(fieldsOf(group.status)["conditions"]).some(({ type }) => type === "PodGroupInitiallyScheduled");

const gate = "the feature gate GenericWorkload is off";

type Step = {
  readonly native: NativeProbe & { readonly probe: Probe };
  readonly found: Found;
  /** The group to which the objects belong, while it waits. */
  readonly owner: Stored | undefined;
  readonly now: number;
};

const off = ({ native, found, now }: Step, why: string, avoids: readonly string[] = []): ProbeTurn => ({
  ...{ verdict: "off", why },
  native: { is: "off", at: now, why, probe: native.probe, ...(avoids.length === 0 ? {} : { avoids: [...avoids] }) },
  stages: [removals(native.probe, found)],
});

const open = ({ native, now }: Step, stage: readonly Effect[] = [], is?: NativeProbe["is"]): ProbeTurn => ({
  verdict: "open",
  native: is === undefined ? native : { ...native, is, at: now },
  stages: [stage],
  looksAt: now + 1_000,
});

/** Creates again what a step did not come to, or what its answer left open. `at`: since when the objects may come. */
const made = (step: Step, owner: Stored, at: number): ProbeTurn => {
  const { found } = step;
  const native = { ...step.native, at, retried: true };
  const [group = [], pod = []] = creations(native.probe, owner);
  const missing = [...(found.group === undefined ? [group] : []), ...(found.pod === undefined ? [pod] : [])];
  return { ...open({ ...step, native }), stages: missing };
};

/** The group needs two pods, and there is one. */
const created = (step: Step): ProbeTurn => {
  const { native, found, now } = step;
  const { group, pod } = found;
  const { namespace, name } = native.probe;
  if (group === undefined || pod === undefined) {
    if (step.owner === undefined)
      return { verdict: "open", stages: [removals(native.probe, found)], looksAt: now + 1_000 };
    if (now < native.at + createMs) return made(step, step.owner, native.at);
    // The step that created them may have died, and nobody has looked since.
    if (native.retried !== true) return made(step, step.owner, now);
    const avoids = [...new Set([...(native.avoids ?? []), namespace])].slice(-mostAvoids);
    return off(step, `the objects of a probe could not be created in namespace ${namespace}`, avoids);
  }
  if (fieldsOf(pod.spec)["schedulingGroup"] === undefined)
    return off(step, `the API server drops the schedulingGroup of pods: ${gate}`);
  if (minCountOf(group) !== 2) return open(step, [], "lowered");
  if (wasTried(pod)) return off(step, `the scheduler has tried one pod of a group of two: ${gate}`);
  if (now < (instantOf(pod.metadata.creationTimestamp) ?? now) + singleMs) return open(step);
  const { uid, resourceVersion } = group.metadata;
  const ref = { resource: nativeGroups, namespace, name };
  return open(step, [{ do: "patch", ref, uid, resourceVersion, patch: { spec: gangOf(1) } }], "lowered");
};

/** The group needs one pod, which the scheduler tries. */
const lowered = (step: Step): ProbeTurn => {
  const { native, found, now } = step;
  const { group, pod } = found;
  if (group === undefined || pod === undefined)
    return { verdict: "open", stages: [removals(native.probe, found)], looksAt: now + 1_000 };
  if (isSpoken(group)) return open(step, removals(native.probe, found), "deleted");
  if (wasTried(pod) && now >= native.at + betweenMs)
    return off(step, `the scheduler has tried a pod and says nothing of its group: ${gate}`);
  return now < native.at + actMs ? open(step) : off(step, "the scheduler has not tried the pod of a probe within 30 s");
};

/** Both were deleted. */
const deleted = (step: Step): ProbeTurn => {
  const { native, found, now } = step;
  if (found.group === undefined && found.pod === undefined)
    return { verdict: "on", native: { is: "on", at: now }, stages: [] };
  if (now < native.at + actMs) return open(step, removals(native.probe, found));
  return off(step, `the controller manager does not end a deleted group: ${gate}`);
};

const steps = { created, lowered, deleted };

/** Begins a probe in the namespace of a waiting group; none if all of them are avoided. */
const begun = (waits: readonly Stored[], avoids: readonly string[], now: number): ProbeTurn | undefined => {
  const owner = waits.find(({ metadata }) => !avoids.includes(metadata.namespace ?? ""));
  if (owner === undefined) return undefined;
  const { namespace = "", uid } = owner.metadata;
  const probe = { namespace, name: `rekindle-probe-${uid}`, uid };
  const native: NativeProbe = {
    is: "created",
    at: now,
    probe,
    ...(avoids.length === 0 ? {} : { avoids: [...avoids] }),
  };
  return { verdict: "open", native, stages: creations(probe, owner), looksAt: now + 1_000 };
};

/** Clears what a probe that failed has left. */
function* tidied(native: NativeProbe, now: number): Reads<ProbeTurn> {
  const { probe, ...rest } = native;
  const known = { verdict: "off", ...(native.why === undefined ? {} : { why: native.why }) } as const;
  if (probe === undefined) return { ...known, native, stages: [] };
  const found = yield* look(probe);
  if (found.group === undefined && found.pod === undefined) return { ...known, native: rest, stages: [] };
  const isStuck = found.pod === undefined && now >= native.at + createMs;
  const stage = isStuck ? freed(probe, found) : removals(probe, found);
  return { ...known, native, stages: [stage], looksAt: now + createMs };
}

/** True if a finding no longer holds, or another namespace may allow what one has refused. */
const isOld = ({ is, at, probe, avoids }: NativeProbe, waits: readonly Stored[], now: number): boolean => {
  if (is === "on") return now - at >= onMs;
  if (probe !== undefined) return false;
  const mayElsewhere = avoids !== undefined && waits.some(({ metadata }) => !avoids.includes(metadata.namespace ?? ""));
  return now - at >= offMs || mayElsewhere;
};

/** Says off if the API server does not serve PodGroups. A host of single namespaces may not be allowed to ask for that. */
function* unserved(now: number): Reads<ProbeTurn | undefined> {
  const served = yield* getIfAllowed(nativeApi);
  if (!served.heard || served.value !== undefined) return undefined;
  const why = `the API server does not serve ${apiVersionOf(nativeGroups)}`;
  return { verdict: "off", why, native: { is: "off", at: now, why }, stages: [] };
}

/** Begins a probe if the API server serves PodGroups. */
function* beginning(native: NativeProbe | undefined, waits: readonly Stored[], now: number): Reads<ProbeTurn> {
  const gone = yield* unserved(now);
  if (gone !== undefined) return gone;
  const isFresh = native !== undefined && now - native.at < offMs;
  const turn = begun(waits, isFresh ? (native.avoids ?? []) : [], now);
  return turn ?? { verdict: "off", stages: [], ...(native === undefined ? {} : { native }) };
}

/** Decides one step of the probe. `waits`: the waiting groups, in whose namespaces it may be made. */
export function* probeTurn(native: NativeProbe | undefined, waits: readonly Stored[], now: number): Reads<ProbeTurn> {
  if (native === undefined)
    return waits.length === 0 ? { verdict: "open", stages: [] } : yield* beginning(native, waits, now);
  const { is, probe } = native;
  if (is !== "on" && is !== "off" && probe !== undefined)
    return steps[is]({
      ...{ native: { ...native, probe }, found: yield* look(probe), now },
      owner: waits.find(({ metadata }) => metadata.uid === probe.uid),
    });
  if (waits.length > 0 && isOld(native, waits, now)) return yield* beginning(native, waits, now);
  if (is !== "on") return yield* tidied(native, now);
  // The kind may be switched off while the finding holds; groups that are admitted then would have no pods.
  const gone = waits.length === 0 ? undefined : yield* unserved(now);
  return gone ?? { verdict: "on", native, stages: [] };
}
