/** The part of a kind that an installation needs: rights of steps and of people, and the operations that admission judges. */

/** A right on a kind's objects, with its purpose for the table of rights. */
export type KindRight = {
  /** Absent: on the objects themselves. */
  readonly on?: "status" | "finalizers";
  readonly verbs: readonly string[];
  readonly for: string;
};

type Operation = "CREATE" | "UPDATE" | "DELETE";

export type KindInstallation = {
  /** The rights of steps. */
  readonly rights: readonly KindRight[];
  /** The verbs by which the page and the HTTP API read its objects; absent: they show none. */
  readonly read?: readonly ("get" | "list")[];
  /** The verbs of the page's actions; absent: there are none. */
  readonly actions?: readonly string[];
  /** The verbs by which admission reads its objects for other kinds; absent: it reads none. */
  readonly admissionReads?: readonly string[];
  /** The operations that admission judges. */
  readonly validated: readonly Operation[];
  /** The operations at which admission writes defaults; absent: none. */
  readonly mutated?: readonly Operation[];
};

export const writes: readonly Operation[] = ["CREATE", "UPDATE"];

export const writeStatus: KindRight = { on: "status", verbs: ["patch"], for: "write their status" };

/** The right to own objects in clusters that check it; `objects` names them. */
export const ownObjects = (objects: string): KindRight => ({
  on: "finalizers",
  verbs: ["update"],
  for: `set blockOwnerDeletion on ${objects}, in clusters with OwnerReferencesPermissionEnforcement`,
});
