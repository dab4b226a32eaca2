/** The declaration of a kind: its names, which every part of the product derives from the registry and none lists again. */
import type { Resource } from "../core/object.ts";
import type { Family } from "./resources.ts";

export type DeclaredKind = {
  readonly resource: Resource;
  readonly family: Family;
  /** As users shorten it for kubectl. */
  readonly shortNames: readonly string[];
  /** The API group of the controllers beside which it stands by; absent: the group of its resource. */
  readonly group?: string;
  /** As the page names it; absent: as the API does. */
  readonly title?: string;
  /** Its objects create others at the instants of a time table. */
  readonly isSchedule?: true;
  /** The Commands by which users suspend and resume an object, and the phases in which it is held; absent: `spec.suspend` does. */
  readonly commands?: {
    readonly suspend: string;
    readonly resume: string;
    readonly held: readonly string[];
  };
  /** Its objects have no namespace. */
  readonly scope?: "Cluster";
  /** The kind of the objects that its objects create. */
  readonly creates?: Resource;
  /** Labels of alerts that name one of its objects; the first one that an alert has counts. Absent: there are none. */
  readonly alertLabels?: readonly string[];
  /** Its pods leave a node that is about to go, so that a notice about the node is a message for the kind. */
  readonly leavesNodes?: true;
};

/** True for the same kind; kinds of two groups may have one name. */
export const isSameKind = (a: Pick<Resource, "group" | "kind">, b: Pick<Resource, "group" | "kind">): boolean =>
  a.kind === b.kind && a.group === b.group;
