/**
 * A kind as the command line sees it, and the texts about an object that is being deleted: the pods and the finalizers
 * that it waits for.
 */
import type { Resource, Stored } from "../../core/object.ts";
import type { DeclaredKind } from "../../kube/declared-kind.ts";
import { type KindInspection, quiet } from "../../kube/object-state.ts";

export type Kind = KindInspection & Pick<DeclaredKind, "resource" | "shortNames" | "commands">;

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
