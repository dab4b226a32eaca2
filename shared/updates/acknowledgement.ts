/** Acknowledgements that come by themselves, after the listener had no time to answer: a message on the delivery's key. */
import { deliveryKey, type Key, type Message } from "../core/key.ts";
import type { Position } from "../core/outbox.ts";

const word = "acknowledged ";

const idForm = /^([0-9a-f]{16})\/([1-9]\d{0,14})$/;

/** The position that an update's id names; undefined when it is none. */
const positionIn = (id: string): Position | undefined => {
  const [, stream, sequence] = idForm.exec(id) ?? [];
  return stream === undefined ? undefined : { stream, sequence: Number(sequence) };
};

/** The message of an acknowledgement whose sender is known; undefined when `id` is no update's. */
export const acknowledgementOf = (key: Key, id: string): Message | undefined =>
  positionIn(id) === undefined ? undefined : { ...deliveryKey(key), reason: `${word}${id}` };

/** What a message acknowledges; undefined for every other one. */
export const acknowledgementIn = ({ reason }: Message): Position | undefined =>
  reason.startsWith(word) ? positionIn(reason.slice(word.length)) : undefined;
