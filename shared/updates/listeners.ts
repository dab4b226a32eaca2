/**
 * Who listens to what: an object's annotation comes first, then its namespace's, then what the operator configured.
 * Namespaces are asked for once in a while, not with every step.
 */
import { deliveryKey, type Key } from "../core/key.ts";
import { hasUserPart, listenerAnnotation, operatorsListener, userPartSaying } from "../core/sink.ts";
import type { Checkpoints, Cluster, Report, Updates } from "../engine/ports.ts";
import { namespaces } from "../kube/resources.ts";
import type { DeliveryContext } from "./deliver.ts";

/** Begins the address of a listener that is not allowed: nothing is sent to it, and the refusal is reported. */
const unlistened = "refused:";

const isNobody = (text: string): boolean => text === "" || text === "none";

type Labels = Readonly<Record<string, string>>;

type Parts = {
  readonly cluster: Pick<Cluster, "get">;
  readonly checkpoints: Pick<Checkpoints, "load">;
  readonly read: DeliveryContext["read"];
  readonly report: Report;
  /** The listener of objects for which neither the object nor its namespace names one; "": there is none. */
  readonly fallback: string;
  /** Epoch ms or anything that only grows. */
  readonly now: () => number;
};

/** So long a namespace's word counts before it is asked again, ms. */
const freshMs = 60_000;

type Known = { readonly at: number; readonly annotations: Promise<Labels> };

/** Nothing of a URL with a name and a password comes into a record. */
const withoutSecret = (text: string): string => (hasUserPart(text) ? `${unlistened} ${userPartSaying}` : text);

/** The operator's credentials send to queues: only who may change namespaces points them anywhere. */
const saidByObject = (text: string): string =>
  text.startsWith("sqs:") || text === operatorsListener
    ? `${unlistened} a queue is named on the namespace or by the operator`
    : text;

/** The port through which steps learn who listens. Whoever may not read namespaces hears nothing from them. */
export const openUpdates = ({ cluster, checkpoints, read, report, fallback, now }: Parts): Updates => {
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
  return {
    destinationOf: async ({ namespace }, annotations) => {
      const own = annotations?.[listenerAnnotation]?.trim();
      const said =
        own === undefined || own === ""
          ? (await annotationsOf(namespace))[listenerAnnotation]?.trim()
          : saidByObject(own);
      if (said === undefined) return isNobody(fallback) ? undefined : operatorsListener;
      return isNobody(said) ? undefined : withoutSecret(said);
    },
    acknowledged: async (key: Key) => {
      const loaded = await checkpoints.load(deliveryKey(key));
      const found = loaded === undefined ? undefined : read(loaded.record);
      return found?.ok === true ? found.record.acknowledged : undefined;
    },
  };
};
