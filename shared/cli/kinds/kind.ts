/** What a kind tells the command line about its objects. A kind more is a file more, and a row in `all.ts`. */
import type { Obj, Resource, Stored } from "../../core/object.ts";

/** What status and list show of one object. */
export type Standing = {
  readonly state: string;
  readonly attempts: number | undefined;
  /** What the object itself says went wrong. */
  readonly message: string | undefined;
  /** Epoch ms of the last change that the object tells of. */
  readonly since: number | undefined;
  /** Nothing more will happen unless somebody changes it. */
  readonly ended: "well" | "badly" | undefined;
  readonly what: Outlook;
};

/** What it waits for and what to do about it, as far as its state alone tells. */
export type Outlook = { readonly waitsFor: string; readonly todo: string };

export type Kind = {
  readonly resource: Resource;
  readonly shortNames: readonly string[];
  /** Labels of the pods of one object. */
  readonly podLabels: (name: string) => Readonly<Record<string, string>>;
  readonly standingOf: (object: Obj) => Standing;
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
