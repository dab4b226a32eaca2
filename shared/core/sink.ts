/** The interface of listeners to status updates. */
import type { Key } from "./key.ts";
import type { Update } from "./outbox.ts";

/** One update as a listener receives it. */
export type Parcel = {
  readonly key: Key;
  /** UID of the object, as far as it is known. */
  readonly uid: string;
  /** `stream/sequence`: a listener that has seen it drops the copy, and acknowledges again. */
  readonly id: string;
  readonly stream: string;
  readonly update: Update;
  /** JSON text. */
  readonly body: string;
  /** W3C trace context of the event that led to the update; not part of the signed text. */
  readonly trace?: string | undefined;
};

/** The outcome of sending. `refused`: nothing was sent, and nothing will be until the configuration changes. */
export type Sent =
  | { readonly did: "acknowledged" }
  | { readonly did: "failed"; readonly error: string }
  | { readonly did: "refused"; readonly error: string };

/**
 * Sends one update and waits for its acknowledgement, 2 s at most. `now` by the API server's clock, epoch ms. Never
 * throws.
 */
export type Sink = (to: string, parcel: Parcel, now: number) => Promise<Sent>;

/** Annotation on an object or its namespace: the listener for its status updates. */
export const listenerAnnotation = "rekindle.dev/updates-to";

/**
 * Stands for the listener in the operator's configuration: its URL may hold a token and must not be in a tenant's
 * record.
 */
export const operatorsListener = "operator";

/** The forms of a listener that an object may name; a namespace may also name `sqs:` and a queue's URL. */
export const listenerForms = "an https:// URL, events, or none";

/**
 * Why a URL with a name and a password is not a listener: records contain the URL and must not contain secrets. The
 * text contains nothing of the URL.
 */
export const userPartSaying = "a listener's URL holds no name and no password: take them out";

/** True for a URL with a user name or a password before its host. */
export const hasUserPart = (text: string): boolean => {
  if (!/^https?:/.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username !== "" || password !== "";
};

/** True for a valid listener, whether or not the operator allows it. */
export const isListener = (text: string): boolean =>
  text === "events" || text === "none" || (/^https?:/.test(text) && URL.canParse(text) && !hasUserPart(text));

/**
 * Returns the listener annotation for objects that this one creates, so that they have the same listener. Empty if it
 * names none.
 */
export const inheritedListener = (annotations: Readonly<Record<string, string>> = {}): Record<string, string> => {
  const listener = annotations[listenerAnnotation];
  return listener === undefined ? {} : { [listenerAnnotation]: listener };
};
