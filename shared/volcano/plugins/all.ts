/** All plugins by name, and the combined result of those that a job names, always in the same order. */

import { type Draft, everywhere, withEnv } from "../pods/pod.ts";
import type { JobSpec } from "../schema/spec.ts";
import { hcclrank, mpi, pytorch, ray, tensorflow } from "./frameworks.ts";
import { ssh, svc } from "./network.ts";
import {
  indexOf,
  type Plugin,
  type PluginName,
  type PluginObject,
  pluginNames,
  type Scope,
  wrongFlag,
} from "./plugin.ts";

/** `env`: tells every container its pod's ordinal within its task. */
const env: Plugin = {
  flags: {},
  noted: true,
  onPod: (draft) => {
    const value = indexOf(draft);
    const variables = ["VK_TASK_INDEX", "VC_TASK_INDEX"].map((name) => ({ name, value }));
    return withEnv(draft, variables, everywhere);
  },
};

export const plugins: Readonly<Record<PluginName, Plugin>> = {
  svc,
  env,
  ssh,
  tensorflow,
  mpi,
  pytorch,
  ray,
  hcclrank,
};

type PluginArguments = NonNullable<JobSpec["plugins"]>;

const named = (requested: PluginArguments): readonly { name: PluginName; plugin: Plugin; args: readonly string[] }[] =>
  pluginNames
    .filter((name) => Object.hasOwn(requested, name))
    .map((name) => ({ name, plugin: plugins[name], args: requested[name] ?? [] }));

export const onPod = (draft: Draft, scope: Scope, requested: PluginArguments = {}): Draft =>
  named(requested).reduce((before, { plugin, args }) => plugin.onPod(before, scope, args), draft);

/** Returns the plugins' objects for the whole job. */
export const objectsOf = (scope: Scope, requested: PluginArguments = {}): readonly PluginObject[] =>
  named(requested).flatMap(({ plugin, args }) => plugin.objects?.(scope, args) ?? []);

/** Notes for `status.controlledResources`, as upstream writes them. */
export const notesOf = (requested: PluginArguments = {}): Readonly<Record<string, string>> =>
  Object.fromEntries(
    named(requested)
      .filter(({ plugin }) => plugin.noted)
      .map(({ name }) => [`plugin-${name}`, name]),
  );

/** Returns why no pods can be created; undefined if they can. */
export const refusedBy = (scope: Scope, requested: PluginArguments = {}): string | undefined =>
  named(requested)
    .map(({ plugin, args }) => plugin.refuses?.(scope, args))
    .find((saying) => saying !== undefined);

/** Returns the ignored flags, by field. Upstream logs the first of a plugin, and runs the job. */
const ignoredFlags = (requested: PluginArguments = {}): readonly string[] =>
  named(requested).flatMap(({ name, plugin, args }) => {
    const wrong = wrongFlag(args, plugin.flags);
    if (wrong === undefined) return [];
    const hint = wrong.near === undefined ? "" : `; did you mean ${wrong.near}?`;
    return [`spec.plugins.${name}: ${wrong.says}: ignored with all that follows it, as upstream does${hint}`];
  });

const notices = (scope: Scope, requested: PluginArguments): readonly string[] =>
  named(requested).flatMap(({ name, plugin, args }) =>
    (plugin.notices?.(scope, args) ?? []).map((text) => `spec.plugins.${name}: ${text}`),
  );

/** Returns the problems of a job's plugins that keep no pod from running: admission warns of them, reconcile tells them in Events. */
export const pluginProblems = (scope: Scope, requested: PluginArguments = {}) => [
  ...ignoredFlags(requested).map((message) => ({ reason: "PluginFlagIgnored", message })),
  ...notices(scope, requested).map((message) => ({ reason: "PluginNotice", message })),
];
