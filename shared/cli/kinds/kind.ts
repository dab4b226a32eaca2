/** A kind as the command line sees it. A new kind is a new file, and a row in `all.ts`. */
import type { Obj, Resource, Stored } from "../../core/object.ts";

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
  readonly what: Outlook;
};

/** The thing that an object waits for, and the advice for the user, as far as the state alone tells. */
export type Outlook = { readonly waitsFor: string; readonly todo: string };

export type Kind = {
  readonly resource: Resource;
  readonly shortNames: readonly string[];
  /** Labels of the pods of one object. */
  readonly podLabels: (name: string) => Readonly<Record<string, string>>;
  readonly stateOf: (object: Obj) => ObjectState;
  /** The pod whose log tells most. */
  readonly mainPod: (object: Obj, pods: readonly Stored[]) => string | undefined;
  /** Heads and cells that `-o wide` shows beside the others: what upstream's columns show. */
  readonly wide: (object: Obj) => Readonly<Record<string, string>>;
  /** Whether `spec.suspend` holds an object of this kind back. */
  readonly suspends: boolean;
};

export const quiet = "nothing: it continues by itself";
export const unseen: Outlook = {
  waitsFor: "a host to look at it",
  todo: "if this lasts, no host is running: rekindle host, or kubectl get deployments -A -l app.kubernetes.io/name=rekindle",
};
