/**
 * The namespaces that a deployment looks after: those that it names, and those whose labels a selector selects. Labels
 * come and go, so what is known of them is never older than `ageMs` when it is asked for.
 */
import { pages } from "../../adapters/kubernetes/requests.ts";
import type { Transport } from "../../core/http.ts";
import type { Report } from "../../engine/ports.ts";
import { namespaces as resource } from "../../kube/resources.ts";

/** True of the namespaces that are looked after; "" stands for what is in none, and belongs to who watches all. */
export type Within = (namespace: string) => boolean;

export type NamespaceScope = {
  /** What is to be watched and listed; empty: all namespaces. */
  readonly watched: readonly string[];
  /** As of a few seconds ago at most. Throws while nothing is known and the server cannot be asked. */
  within(): Promise<Within>;
  /** Calls `grown` when namespaces have come, and goes on until what it gives is called. */
  survey(everyMs: number, grown: () => void): () => void;
};

export type Chosen = {
  /** Names; empty: all namespaces, unless a selector chooses. */
  readonly namespaces: readonly string[];
  /** Label selector of namespaces; absent or empty: none. */
  readonly namespaceSelector?: string | undefined;
};

type Settings = Chosen & { readonly transport: Transport; readonly report: Report; readonly now: () => number };

const ageMs = 5_000;

const selected = async ({ transport, namespaceSelector: selector }: Settings): Promise<ReadonlySet<string>> => {
  const names = new Set<string>();
  for await (const page of pages(transport, { resource, selector, metadataOnly: true }))
    for (const { metadata } of page.items) names.add(metadata.name);
  return names;
};

/** What was known last stays known while the server cannot be asked. */
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
        error: cause instanceof Error ? cause.message : String(cause),
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
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const look = async (): Promise<void> => {
    const names = await selectedNow().catch(() => before);
    if (before !== undefined && [...(names ?? [])].some((name) => before?.has(name) !== true)) grown();
    before = names;
    if (!stopped) timer = setTimeout(() => void look(), everyMs);
  };
  void look();
  return (): void => {
    stopped = true;
    clearTimeout(timer);
  };
};

export const openNamespaceScope = (settings: Settings): NamespaceScope => {
  const { namespaces, namespaceSelector = "" } = settings;
  if (namespaceSelector === "") {
    const named: Within = (namespace) => namespaces.length === 0 || namespaces.includes(namespace);
    return { watched: namespaces, within: async () => named, survey: () => () => {} };
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
