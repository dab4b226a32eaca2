/** The intent of an external request or event: a step of a named object, a notice of a node, or nothing. */
import type { Ability } from "./callers.ts";

export type Named = { readonly kind: string; readonly namespace: string; readonly name: string };

/** `event`: deduplication id; two intents with the same one count once. */
export type Intent =
  | ({ readonly do: "step"; readonly event: string } & Named)
  /** `node`: its name, or its machine's. `until`: when it goes, epoch ms. */
  | { readonly do: "notice"; readonly node: string; readonly until: number; readonly event: string }
  | { readonly do: "nothing"; readonly why: string };

/** The ability that each intent needs. */
export const abilityFor: Readonly<Record<"step" | "notice", Ability>> = { step: "trigger", notice: "notice" };

/** The longest time after its node has gone at which a notice is still accepted, ms: a node may be late. */
const lateMs = 300_000;

const name = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const namespace = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/**
 * Returns whether the API server accepts a text as a name. Cluster-scoped objects have no namespace and cannot be named
 * here.
 */
export const isName = (text: string): boolean => name.test(text);
export const isNamespace = (text: string): boolean => namespace.test(text);

const nothing = (why: string): Intent => ({ do: "nothing", why });

export const stepOf = (named: Named, kinds: readonly string[], event: string): Intent => {
  if (!kinds.includes(named.kind)) return nothing(`kind must be one of ${kinds.join(", ")}`);
  if (!isNamespace(named.namespace) || !isName(named.name)) return nothing("not a Kubernetes name");
  return { do: "step", ...named, event };
};

/** Returns a notice; nothing where the name is not valid or the time is long over. `now`: epoch ms. */
export const noticeOf = (node: string, until: number, event: string, now: number): Intent => {
  if (!isName(node)) return nothing("not a node's name");
  return until + lateMs < now ? nothing("the node's time was over long ago") : { do: "notice", node, until, event };
};
