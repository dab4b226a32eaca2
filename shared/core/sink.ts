/** The port to whoever listens to status updates. */
import type { Key } from "./key.ts";
import type { Update } from "./outbox.ts";

/** What a listener is handed. */
export type Parcel = {
  readonly key: Key;
  /** Of the object, as far as it is known. */
  readonly uid: string;
  /** `stream/sequence`: whoever has seen it drops the copy, and acknowledges again. */
  readonly id: string;
  readonly stream: string;
  readonly update: Update;
  /** JSON text. */
  readonly body: string;
  /** W3C trace context of what led to it; no part of what is signed. */
  readonly trace?: string | undefined;
};

/** What came of it. Refused: nothing was sent, and nothing will be until somebody changes the configuration. */
export type Sent =
  | { readonly did: "acknowledged" }
  | { readonly did: "failed"; readonly error: string }
  | { readonly did: "refused"; readonly error: string };

/** Sends one update and waits for its acknowledgement, 2 s at most. `now` by the API server's clock, epoch ms. Never throws. */
export type Sink = (to: string, parcel: Parcel, now: number) => Promise<Sent>;

/** On an object or on its namespace: who is told of every change of state. */
export const listenerAnnotation = "rekindle.dev/updates-to";

/** Stands for the listener that the operator configured: its URL may hold a token, and is in no record of a tenant. */
export const operatorsListener = "operator";

/** What an object may name as its listener; on a namespace also `sqs:` and a queue's URL. */
export const listenerForms = "an https:// URL, events, or none";

/** Why a URL with a name and a password is no listener: records keep who listens, and no secret. Nothing of the URL is in it. */
export const userPartSaying = "a listener's URL holds no name and no password: take them out";

/** True for a URL with a name or a password in front of its host. */
export const hasUserPart = (text: string): boolean => {
  if (!/^https?:/.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username !== "" || password !== "";
};

/** True for what can be a listener, whether or not the operator allows it. */
export const isListener = (text: string): boolean =>
  text === "events" || text === "none" || (/^https?:/.test(text) && URL.canParse(text) && !hasUserPart(text));

/** The annotation for what an object makes: a listener of the one hears of the other. Empty where the object names none. */
export const inheritedListener = (annotations: Readonly<Record<string, string>> = {}): Record<string, string> => {
  const listener = annotations[listenerAnnotation];
  return listener === undefined ? {} : { [listenerAnnotation]: listener };
};
