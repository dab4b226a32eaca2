/**
 * The digest of an execution's state between two events: equal digests go on in the same way. It drops nothing and
 * renames nothing. Left out are the ids that the queue remembers (see `continuations.ts`) and the instant that has
 * passed since the last event: nothing happens before the next one is due.
 */
import * as crypto from "node:crypto";
import type { Execution } from "./execution.ts";
import { collected } from "./forked.ts";

/** An object is immutable, and shared by the forks that did not change it. */
const digests = new WeakMap<object, string>();

const digestOf = (object: object): string => {
  const known = digests.get(object) ?? crypto.hash("sha1", JSON.stringify(object));
  digests.set(object, known);
  return known;
};

/** The instant of the next event. */
export const nextDue = (execution: Execution): number => {
  const { fixture, post, agenda, armed, down, nextSweep, nextLook } = execution;
  const times = [
    fixture.simulator.clock.nextDue(),
    ...(down ? [] : [post.nextDue(), post.nextWindow(), nextSweep, nextLook]),
    ...agenda.map(({ at }) => at),
    ...armed.map(({ at }) => at),
  ];
  return Math.max(execution.now(), Math.min(...times.filter((time) => time !== undefined)));
};

/** A list of the store is never altered in place. */
const listTexts = new WeakMap<readonly object[], string>();

const listText = (objects: readonly object[]): string => {
  const known = listTexts.get(objects) ?? objects.map(digestOf).join();
  listTexts.set(objects, known);
  return known;
};

const objectsIn = ({ fixture: { simulator } }: Execution): unknown =>
  simulator.store.tables().map((table) => [table, listText(simulator.store.list(table))]);

/** Parts of the state, each a plain value. */
export const stateParts: Readonly<Record<string, (execution: Execution) => unknown>> = {
  due: nextDue,
  objects: objectsIn,
  revision: ({ fixture }) => fixture.simulator.store.revision(),
  simulator: ({ fixture }) => {
    const { clock, memories } = fixture.simulator.snapshot();
    return [clock.timers, memories];
  },
  deliveries: ({ post }) => post.left(),
  windows: ({ post }) => post.windows(),
  watches: ({ watching }) => watching.state().map((objects) => objects.map(digestOf).toSorted()),
  oracle: ({ oracle }) => collected(() => oracle.copy()),
  identities: ({ identities }) => identities,
  schedule: ({ nextSweep, nextLook, armed, met, count }) => [nextSweep, nextLook, armed, met, count.told],
};

export type StateParts = typeof stateParts;

/**
 * The text of plain data, of maps and of sets: equal for equal data, and different for different data, as each string has
 * its length before it. What V8 serializes is not: how it holds a number depends on what it has optimised.
 */
const textOf = (value: unknown): string => {
  if (typeof value === "string") return `${value.length}:${value}`;
  if (typeof value !== "object" || value === null) return String(value);
  let text = "";
  if (Array.isArray(value)) {
    for (const item of value) text += `${textOf(item)},`;
    return `[${text}]`;
  }
  if (value instanceof Map) {
    for (const [key, item] of value) text += `${textOf(key)}=${textOf(item)},`;
    return `map(${text})`;
  }
  if (value instanceof Set) {
    for (const item of value) text += `${textOf(item)},`;
    return `set(${text})`;
  }
  for (const [name, field] of Object.entries(value)) text += `${textOf(name)}=${textOf(field)},`;
  return `{${text}}`;
};

export const stateDigest = (execution: Execution, parts: StateParts): string =>
  crypto.hash(
    "sha1",
    Object.values(parts)
      .map((part) => textOf(part(execution)))
      .join("\n"),
  );
