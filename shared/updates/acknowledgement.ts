/** Acknowledgements that come by themselves, after the listener had no time to answer: a message on the delivery's key. */
import { deliveryKey, digest, type Key, type Message } from "../core/key.ts";
import type { Position } from "../core/outbox.ts";

const word = "acknowledged ";

const idForm = /^([0-9a-f]{16})\/([1-9]\d{0,14})$/;

/** The position that an update's id names; undefined when it is none. */
const positionIn = (id: string): Position | undefined => {
  const [, stream, sequence] = idForm.exec(id) ?? [];
  return stream === undefined ? undefined : { stream, sequence: Number(sequence) };
};

/** The listener's name in messages: a digest, because its URL may hold a token and messages are logged. */
const nameOf = (listener: string): string =>
  digest(URL.canParse(listener) ? new URL(listener).href : listener).slice(0, 32);

/** The message of an acknowledgement by this listener; undefined when `id` is no update's. */
export const acknowledgementOf = (key: Key, id: string, listener: string): Message | undefined =>
  positionIn(id) === undefined ? undefined : { ...deliveryKey(key), reason: `${word}${id} by ${nameOf(listener)}` };

export type Acknowledgement = {
  readonly position: Position;
  /** True for the listener that sent it. */
  readonly isBy: (listener: string) => boolean;
};

/** The acknowledgement that a message carries; undefined for a message of another reason. */
export const acknowledgementIn = ({ reason }: Message): Acknowledgement | undefined => {
  if (!reason.startsWith(word)) return undefined;
  const [id = "", by] = reason.slice(word.length).split(" by ");
  const position = positionIn(id);
  return position === undefined ? undefined : { position, isBy: (listener) => by === nameOf(listener) };
};
