/** The type of a plugin: its flags, its change to each pod, and its objects for the whole job. */
import type { Obj, Resource } from "../../core/object.ts";
import type { Draft } from "../pods/draft.ts";
import type { Owner } from "../pods/names.ts";
import { keys } from "../schema/resource.ts";
import { nameOf, type Task } from "../schema/spec.ts";
import type { Flag } from "./flags.ts";

/** The job as plugins see it. */
export type Scope = {
  readonly owner: Owner;
  readonly tasks: readonly Task[];
};

/** An object of a plugin. `fresh` names its random data, which is generated once, at its creation. */
export type Kept = { readonly resource: Resource; readonly object: Obj; readonly fresh?: "ssh-key" };

export type Plugin = {
  /** Its flags by name, with their defaults. */
  readonly flags: Readonly<Record<string, Flag>>;
  readonly onPod: (draft: Draft, scope: Scope, args: readonly string[]) => Draft;
  readonly objects?: (scope: Scope, args: readonly string[]) => readonly Kept[];
  /** Returns why no pod can be created with this plugin; undefined if pods can. */
  readonly refuses?: (scope: Scope, args: readonly string[]) => string | undefined;
  /** False: upstream does not note it in `status.controlledResources`. */
  readonly noted: boolean;
};

/** The task that a pod belongs to, as its annotation says. */
export const taskOf = ({ metadata }: Draft): string => metadata.annotations?.[keys.taskSpec] ?? "";

/** The pod's ordinal within its task: its label's, else the last part of its name. */
export const indexOf = ({ metadata }: Draft): string => {
  const parts = metadata.name.split("-");
  return metadata.labels?.[keys.taskIndex] ?? (parts.length >= 3 ? (parts.at(-1) ?? "") : "");
};

export const taskNamed = ({ tasks }: Scope, name: string): Task | undefined =>
  tasks.find((task) => nameOf(task) === name);
