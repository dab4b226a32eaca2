/** Asynchronous acknowledgements, for listeners that cannot answer in time: a message on the delivery's key. */
import { deliveryKey, digest, type Key, type Message } from "../core/key.ts";
import type { Position } from "../core/updates.ts";

const word = "acknowledged ";

const idForm = /^([0-9a-f]{16})\/([1-9]\d{0,14})$/;

/** Returns the position in an update's id; undefined if the id is not one. */
const positionIn = (id: string): Position | undefined => {
  const [, stream, sequence] = idForm.exec(id) ?? [];
  return stream === undefined ? undefined : { stream, sequence: Number(sequence) };
};

/** Returns the listener's name in messages: a digest, because its URL may hold a token and messages are logged. */
const nameOf = (listener: string): string =>
  digest(URL.canParse(listener) ? new URL(listener).href : listener).slice(0, 32);

/** Returns the message of an acknowledgement by this listener; undefined if `id` is not an update's. */
export const acknowledgementOf = (key: Key, id: string, listener: string): Message | undefined =>
  positionIn(id) === undefined ? undefined : { ...deliveryKey(key), reason: `${word}${id} by ${nameOf(listener)}` };

export type Acknowledgement = {
  readonly position: Position;
  /** True for the listener that acknowledged. */
  readonly isBy: (listener: string) => boolean;
};

/** Returns the acknowledgement in a message; undefined if the message has another reason. */
export const acknowledgementIn = ({ reason }: Message): Acknowledgement | undefined => {
  if (!reason.startsWith(word)) return undefined;
  const [id = "", by] = reason.slice(word.length).split(" by ");
  const position = positionIn(id);
  return position === undefined ? undefined : { position, isBy: (listener) => by === nameOf(listener) };
};
