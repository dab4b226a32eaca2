/**
 * The scope of a deployment: the keys of one cluster whose objects its selector selects, in the namespaces that it
 * names or that its label selector selects. Labels change, so the selected names are never older than `ageMs` when
 * they are used.
 */
import { pages } from "../../adapters/kubernetes/requests.ts";
import type { Transport } from "../../core/http.ts";
import type { Key } from "../../core/key.ts";
import { errorText } from "../../core/text.ts";
import type { World } from "../../engine/context/world.ts";
import type { Report } from "../../engine/ports.ts";
import { startRounds } from "../../forward/pause.ts";
import { namespaces as resource } from "../../kube/resources.ts";
import { selectorOf } from "../../kube/selector.ts";

/**
 * True for a namespace in scope. "" stands for cluster-scoped objects, which belong to a deployment that watches all
 * namespaces.
 */
export type Within = (namespace: string) => boolean;

export type NamespaceScope = {
  /** Namespaces to watch and list; empty: all namespaces. */
  readonly watched: readonly string[];
  /** Returns the check, at most a few seconds old. Throws while no list is known and the server cannot be read. */
  within(): Promise<Within>;
  /** Begins no other survey, and resolves when the one in flight has ended. */
  survey(everyMs: number, grown: () => void): () => Promise<void>;
};

export type NamespaceChoice = {
  /** Names; empty: all namespaces, unless a selector chooses. */
  readonly namespaces: readonly string[];
  /** Label selector of namespaces; absent or empty: none. */
  readonly namespaceSelector?: string | undefined;
};

type Settings = NamespaceChoice & {
  readonly transport: Transport;
  readonly report: Report;
  readonly now: () => number;
};

const ageMs = 5_000;

const selected = async ({ transport, namespaceSelector: selector }: Settings): Promise<ReadonlySet<string>> => {
  const names = new Set<string>();
  for await (const page of pages(transport, { resource, selector, metadataOnly: true }))
    for (const { metadata } of page.items) names.add(metadata.name);
  return names;
};

/** Caches the selected names. The last list stays in use while the server cannot be read. */
const openSelected = (settings: Settings): (() => Promise<ReadonlySet<string>>) => {
  const { report, now } = settings;
  let known: ReadonlySet<string> | undefined;
  let at = Number.NEGATIVE_INFINITY;
  let asking: Promise<ReadonlySet<string>> | undefined;
  const ask = async (): Promise<ReadonlySet<string>> => {
    try {
      known = await selected(settings);
    } catch (cause) {
      if (known === undefined) throw cause;
      report("warn", "cannot list namespaces: continuing with those that were selected last", {
        error: errorText(cause),
      });
    } finally {
      asking = undefined;
    }
    at = now();
    return known;
  };
  return async () => {
    if (known !== undefined && now() - at < ageMs) return known;
    asking ??= ask();
    return await asking;
  };
};

const startSurvey = (selectedNow: () => Promise<ReadonlySet<string>>, everyMs: number, grown: () => void) => {
  let before: ReadonlySet<string> | undefined;
  return startRounds(async () => {
    const names = await selectedNow().catch(() => before);
    if (before !== undefined && [...(names ?? [])].some((name) => before?.has(name) !== true)) grown();
    before = names;
    return everyMs;
  });
};

export const openNamespaceScope = (settings: Settings): NamespaceScope => {
  const { namespaces, namespaceSelector = "" } = settings;
  if (namespaceSelector === "") {
    const named: Within = (namespace) => namespaces.length === 0 || namespaces.includes(namespace);
    return { watched: namespaces, within: async () => named, survey: () => async () => {} };
  }
  const selectedNow = openSelected(settings);
  return {
    watched: [],
    within: async () => {
      const names = await selectedNow();
      return (namespace) => namespace === "" || namespaces.includes(namespace) || names.has(namespace);
    },
    survey: (everyMs, grown) => startSurvey(selectedNow, everyMs, grown),
  };
};

export type Scope = {
  /** Alias of the cluster in keys. */
  readonly cluster: string;
  /** Namespaces to watch and list; empty: all namespaces. */
  readonly namespaces: readonly string[];
  /** Label selector of the applications. */
  readonly selector: string | undefined;
};

type Charge = Pick<Scope, "cluster" | "selector"> & { readonly namespaceScope: NamespaceScope };

/**
 * Returns the check of a key against the scope. `labels` undefined: the object is not read yet, and the key alone
 * decides.
 */
export const scopeCheckOf = ({ cluster, selector, namespaceScope }: Charge): NonNullable<World["inCharge"]> => {
  const selects = selectorOf(selector ?? "") ?? (() => false);
  return async (key: Key, labels) =>
    key.cluster === cluster &&
    (labels === undefined || key.namespace === "" || selects(labels)) &&
    (await namespaceScope.within())(key.namespace);
};
