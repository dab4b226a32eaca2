/**
 * The kinds of a function or of a host, each loaded with the first message for it, so that a process loads only the
 * kinds that it serves.
 */
import { keyKindOf } from "../../core/object.ts";
import type { Operator } from "../../core/operator.ts";
import { readMessage } from "../../engine/message.ts";
import { type Delivered, longestBody } from "../../engine/reconcile/intake.ts";
import { defaultFamilies } from "../../kube/resources.ts";
import { loaders } from "../../registry/loaders.ts";
import type { DeploymentKinds } from "../common/kind-settings.ts";

const settingsOfKinds = () => import("../common/kind-settings.ts");

export type Families = {
  readonly kinds: readonly Pick<Operator<unknown>, "kind" | "resource" | "family">[];
  /** Returns the operator of a kind that `load` or `prepare` has loaded. */
  readonly operatorOf: (kind: string) => Operator<unknown> | undefined;
  /** Loads a kind, if it is one of those to run. */
  load(kind: string): Promise<void>;
  prepare(delivered: readonly Delivered[]): Promise<void>;
};

/** Opens the kinds of the families to run, without loading any. */
export const openFamilies = (settings: DeploymentKinds = {}): Families => {
  const run = loaders.filter(({ kind }) => (settings.families ?? defaultFamilies).includes(kind.family));
  const known = new Map<string, Operator<unknown>>();
  const load = async (kind: string): Promise<void> => {
    const loader = known.has(kind) ? undefined : run.find((one) => keyKindOf(one.kind.resource) === kind);
    if (loader === undefined) return;
    const [operator, { kindSettings, loadParts }] = await Promise.all([loader.load(), settingsOfKinds()]);
    known.set(kind, operator(kindSettings(settings, await loadParts(settings))));
  };
  return {
    kinds: run.map(({ kind: { resource, group = resource.group } }) => ({
      kind: keyKindOf(resource),
      resource,
      family: group,
    })),
    operatorOf: (kind) => known.get(kind),
    load,
    prepare: async (delivered) => {
      const short = delivered.filter(({ body }) => body.length <= longestBody);
      const kinds = new Set(short.map(({ body }) => readMessage(body)?.kind));
      await Promise.all([...kinds].map((kind) => (kind === undefined ? undefined : load(kind))));
    },
  };
};
