/**
 * The digest of an execution's state between two events: equal digests go on in the same way. It drops nothing and
 * renames nothing. Left out are the ids that the queue remembers (see `continuations.ts`) and the instant that has
 * passed since the last event: nothing happens before the next one is due.
 */
import * as crypto from "node:crypto";
import { type Execution, queueBounds } from "./execution.ts";
import { collected } from "./forked.ts";
import { openPost } from "./journal.ts";

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

/** All that the queue still delivers: a copy of it is emptied, each delivery acknowledged. */
const deliveriesOf = (execution: Execution): unknown => {
  let now = execution.now();
  const post = openPost(() => now, queueBounds, execution.post.journal());
  const deliveries: unknown[] = [];
  for (let due: number | undefined = now; due !== undefined; due = post.nextDue()) {
    now = Math.max(now, due);
    for (let one = post.receive(); one !== undefined; one = post.receive()) {
      deliveries.push([now, one.group, one.messages, one.received]);
      post.acknowledge(one);
    }
  }
  return deliveries;
};

const objectsIn = ({ fixture: { simulator } }: Execution): unknown =>
  simulator.store.tables().map((table) => [table, simulator.store.list(table).map(digestOf)]);

/** Parts of the state, each a plain value. */
export const stateParts: Readonly<Record<string, (execution: Execution) => unknown>> = {
  due: nextDue,
  objects: objectsIn,
  revision: ({ fixture }) => fixture.simulator.store.revision(),
  simulator: ({ fixture }) => {
    const { clock, memories } = fixture.simulator.snapshot();
    return [clock.timers, memories];
  },
  deliveries: deliveriesOf,
  windows: ({ post }) => post.windows(),
  watches: ({ watching }) => watching.state().map((objects) => objects.map(digestOf).toSorted()),
  oracle: ({ oracle }) => collected(() => oracle.copy()),
  identities: ({ identities }) => identities,
  schedule: ({ nextSweep, nextLook, armed, met, count }) => [nextSweep, nextLook, armed, met, count.told],
};

export type StateParts = typeof stateParts;

/**
 * The text of plain data, of maps and of sets: equal for equal data. What V8 serializes is not: how it holds a number
 * depends on what it has optimised.
 */
const textOf = (value: unknown): string => {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value !== "object" || value === null) return String(value);
  if (Array.isArray(value)) return `[${value.map(textOf).join()}]`;
  if (value instanceof Map) return `map(${[...value].map(textOf).join()})`;
  if (value instanceof Set) return `set(${[...value].map(textOf).join()})`;
  const fields = Object.entries(value).map(([name, field]) => `${JSON.stringify(name)}:${textOf(field)}`);
  return `{${fields.join()}}`;
};

export const stateDigest = (execution: Execution, parts: StateParts): string =>
  crypto.hash(
    "sha1",
    Object.values(parts)
      .map((part) => textOf(part(execution)))
      .join("\n"),
  );
