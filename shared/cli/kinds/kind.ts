/**
 * A kind as the command line sees it, and the texts about an object that is being deleted: the pods and the finalizers
 * that it waits for. A new kind is a new file, and a row in `all.ts`.
 */
import type { Obj, Resource, Stored } from "../../core/object.ts";
import { waitingText } from "../../core/waiting-on.ts";
import { untilAdmitted } from "../../kube/kueue.ts";

/** The state of one object for `status` and `list`. */
export type ObjectState = {
  readonly state: string;
  readonly attempts: number | undefined;
  /** The error message in the object's status. */
  readonly message: string | undefined;
  /** Epoch ms of the last change that the object shows. */
  readonly since: number | undefined;
  /** Set when nothing more happens unless a user changes the object. */
  readonly ended: "well" | "badly" | undefined;
  readonly what: Advice;
};

/** The thing that an object waits for, and the advice for the user, as far as the state alone tells. */
export type Advice = { readonly waitsFor: string; readonly todo: string };

/** Further columns of a list by their heads; numbers are numbers in data. */
export type Cells = Readonly<Record<string, string | number>>;

export type ExecutorCount = {
  readonly running: number;
  /** Undefined where the driver's demand decides. */
  readonly wanted: number | undefined;
};

export type Kind = {
  readonly resource: Resource;
  readonly shortNames: readonly string[];
  /** Labels of the pods of one object. */
  readonly podLabels: (name: string) => Readonly<Record<string, string>>;
  readonly stateOf: (object: Obj) => ObjectState;
  /** The pod whose log tells most. */
  readonly mainPod: (object: Obj, pods: readonly Stored[]) => string | undefined;
  /** Heads and cells that `-o wide` shows beside the others: what upstream's columns show. */
  readonly wide: (object: Obj) => Cells;
  /** The executors of a driver or server that runs; absent, or undefined: it has none now. */
  readonly executors?: (object: Obj, pods: readonly Stored[]) => ExecutorCount | undefined;
  /** True while the object's pods wait until its PodGroup is admitted; absent: its kind has no PodGroup. */
  readonly awaitsGroup?: (object: Obj) => boolean;
  /** Whether `spec.suspend` holds an object of this kind back. */
  readonly suspends: boolean;
};

export const quiet = "nothing: it continues by itself";
export const unseen: Advice = {
  waitsFor: "a host to look at it",
  todo: "if this lasts, no host is running: rekindle host, or kubectl get deployments -A -l app.kubernetes.io/name=rekindle",
};

/** The outlook of an object that Kueue is to start, in this LocalQueue. */
export const untilStarted = (queue: string, { metadata: { namespace = "default" } }: Obj): Advice => ({
  waitsFor: waitingText(untilAdmitted(queue)),
  todo: `nothing: Kueue starts it; what it waits for: kubectl describe workloads -n ${namespace}`,
});

/** Kubernetes' own finalizers, which its garbage collector removes. */
const collected: ReadonlySet<string> = new Set(["foregroundDeletion", "orphan"]);

const finalizersOf = ({ metadata: { finalizers = [] } }: Stored): readonly string[] => finalizers;

const finalizerText = (names: readonly string[]): string =>
  `finalizer${names.length === 1 ? "" : "s"} ${names.join(", ")} to be removed`;

const podText = (pod: Stored): string => {
  const names = finalizersOf(pod);
  const held = pod.metadata.deletionTimestamp !== undefined && names.length > 0;
  return held ? `${pod.metadata.name} (held by ${names.join(", ")})` : pod.metadata.name;
};

const shownPods = 3;

const podsText = (pods: readonly Stored[]): string => {
  const names = pods.slice(0, shownPods).map(podText).join(", ");
  const more = pods.length - shownPods;
  return `${pods.length} of its pods to go (${names}${more > 0 ? `, and ${more} more` : ""})`;
};

/** One line about the deletion. A caller that has not read the pods omits them: then only finalizers are named. */
export const departureText = (object: Stored, pods: readonly Stored[] = []): string => {
  const names = finalizersOf(object);
  const parts = [...(pods.length === 0 ? [] : [podsText(pods)]), ...(names.length === 0 ? [] : [finalizerText(names)])];
  return `${parts.length === 0 ? "its deletion to be carried out" : parts.join(", and ")}, because it is being deleted`;
};

/** The advice for the user: wait, or remove a finalizer. */
export const departureHelp = (object: Stored, resource: Resource, pods: readonly Stored[]): string => {
  const names = finalizersOf(object).filter((name) => !collected.has(name));
  if (pods.length > 0 || names.length === 0) return quiet;
  const { name, namespace = "default" } = object.metadata;
  const type = `${resource.plural}.${resource.group}`;
  const patch = `kubectl patch ${type} -n ${namespace} ${name} --type merge -p '{"metadata":{"finalizers":null}}'`;
  return `the controller that added ${names.join(", ")} has to remove it; if it runs no more: ${patch}`;
};
