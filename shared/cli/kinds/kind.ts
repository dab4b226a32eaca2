/** What a kind tells the command line about its objects. */
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
  readonly ended: boolean;
  readonly what: Outlook;
};

/** What it waits for and what to do about it, as far as its state alone tells. */
export type Outlook = { readonly waitsFor: string; readonly todo: string };

export type Kind = {
  readonly resource: Resource;
  /** Labels of the pods of one object. */
  readonly podLabels: (name: string) => Readonly<Record<string, string>>;
  readonly standingOf: (object: Obj) => Standing;
  /** The pod whose log tells most. */
  readonly mainPod: (object: Obj, pods: readonly Stored[]) => string | undefined;
};
