/**
 * Finds the listener of an object: its own annotation comes first, then its namespace's, then the operator's
 * configuration. Namespaces are read at most once a minute, not in every step.
 */
import { deliveryKey, type Key } from "../core/key.ts";
import {
  hasUserPart,
  isOfOthers,
  listenerAnnotation,
  namespacesListener,
  operatorsListener,
  userPartSaying,
} from "../core/updates.ts";
import type { Checkpoints, Cluster, Report, Updates } from "../engine/ports.ts";
import { namespaces } from "../kube/resources.ts";
import type { DeliveryContext } from "./deliver.ts";

/** Prefix of a destination that is not allowed: nothing is sent to it, and the refusal is reported. */
const unlistened = "refused:";

const isNobody = (text: string): boolean => text === "" || text === "none";

type Labels = Readonly<Record<string, string>>;

type Parts = {
  readonly cluster: Pick<Cluster, "get">;
  readonly checkpoints: Pick<Checkpoints, "load">;
  readonly readDelivery: DeliveryContext["readDelivery"];
  readonly report: Report;
  /** The listener if neither the object nor its namespace names one; "": none. */
  readonly fallback: string;
  /** Epoch ms, or any monotonic time in ms. */
  readonly now: () => number;
};

/** The time for which a namespace's annotation is cached, ms. */
const freshMs = 60_000;

export type Listeners = Updates & Pick<DeliveryContext, "listenerAt">;

type Known = { readonly at: number; readonly annotations: Promise<Labels> };

/** Replaces a URL with a name and a password, so that the record does not contain it. */
const withoutSecret = (text: string): string => (hasUserPart(text) ? `${unlistened} ${userPartSaying}` : text);

/**
 * Refuses queues that an object names: they are reached with the operator's credentials, so only users who may change
 * namespaces may name them.
 */
const saidByObject = (text: string): string =>
  isOfOthers(text) ? `${unlistened} a queue is named on the namespace or by the operator` : withoutSecret(text);

/** Returns the destination that a namespace's annotation names. */
const saidByNamespace = (text: string): string => {
  const said = withoutSecret(text);
  return said === "events" || said.startsWith(unlistened) ? said : namespacesListener(said);
};

/** Opens the ports through which steps and deliveries find listeners. If namespaces cannot be read, their annotations are ignored. */
export const openUpdates = ({ cluster, checkpoints, readDelivery, report, fallback, now }: Parts): Listeners => {
  const known = new Map<string, Known>();
  const ask = async (name: string): Promise<Labels> => {
    try {
      return (await cluster.get({ resource: namespaces, name })).value?.metadata.annotations ?? {};
    } catch (cause) {
      report("debug", "cannot read the listener of a namespace", { namespace: name, error: String(cause) });
      return {};
    }
  };
  const annotationsOf = (name: string): Promise<Labels> => {
    const found = known.get(name);
    if (found !== undefined && now() - found.at < freshMs) return found.annotations;
    const annotations = name === "" ? Promise.resolve({}) : ask(name);
    known.set(name, { at: now(), annotations });
    return annotations;
  };
  const namespaceSays = async (name: string): Promise<string | undefined> =>
    (await annotationsOf(name))[listenerAnnotation]?.trim();
  return {
    destinationOf: async ({ namespace }, annotations) => {
      const own = annotations?.[listenerAnnotation]?.trim() ?? "";
      if (own !== "") return isNobody(own) ? undefined : saidByObject(own);
      const said = await namespaceSays(namespace);
      if (said === undefined) return isNobody(fallback) ? undefined : operatorsListener;
      return isNobody(said) ? undefined : saidByNamespace(said);
    },
    listenerAt: async ({ namespace }, to) => {
      if (to === operatorsListener) return fallback;
      if (!isOfOthers(to)) return to;
      const said = (await namespaceSays(namespace)) ?? "";
      return namespacesListener(said) === to ? said : `${unlistened} the namespace names another listener now`;
    },
    acknowledged: async (key: Key) => {
      const loaded = await checkpoints.load(deliveryKey(key));
      const found = loaded === undefined ? undefined : readDelivery(loaded.record);
      return found?.ok === true ? found.record.acknowledged : undefined;
    },
  };
};
