/** The kinds of a host: what it watches of each, and their decisions, which are loaded with their first step. */
import type { Watcher } from "../../core/operator.ts";
import { defaultFamilies } from "../../kube/resources.ts";
import { runs } from "../../registry/names.ts";
import { watchers } from "../../registry/watchers.ts";
import type { Options } from "../../spark/auxiliary-objects/options.ts";
import type { QueueOptions } from "../../volcano/queue/decide.ts";
import type { DeploymentKinds } from "../common/kind-settings.ts";
import { type Families, openFamilies } from "../reconcile/families.ts";

type Settings = Pick<DeploymentKinds, "families" | "timing"> & QueueOptions & { readonly spark: Options };

export type HostKinds = {
  readonly families: Families;
  readonly operators: readonly Watcher[];
  readonly watcherOf: (about: string) => Watcher | undefined;
};

/** Opens the kinds of the families to run. */
export const kindsOf = (settings: Settings): HostKinds => {
  const operators = watchers.filter(runs(settings.families ?? defaultFamilies));
  return {
    families: openFamilies({ ...settings, options: settings.spark, queues: settings }),
    operators,
    watcherOf: (about) => operators.find(({ kind }) => kind === about),
  };
};
