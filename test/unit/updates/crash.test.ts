/** Death at calls of steps and deliveries, and a second invocation at them: no saved update is lost. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deliveryKey } from "../../../shared/core/key.ts";
import { step } from "../../../shared/engine/reconcile/step.ts";
import { everyNth } from "../../support/cases.ts";
import { message } from "../engine/fakes.ts";
import { acknowledged, openStreet, type Street, silence } from "./street.ts";

const hour = 3_600_000;

/**
 * The updates that became due, by sequence; and the updates that were sent although their acknowledgement was saved.
 */
type Witness = { readonly due: Map<number, string>; readonly wrong: string[] };

/** Reads the records after every call. `at` is called before each call, and may throw. */
const witness = (
  street: Street,
  at: (call: string) => void | Promise<void>,
  after: (call: string) => void,
): Witness => {
  const due = new Map<number, string>();
  const wrong: string[] = [];
  street.fixture.before = async (call) => {
    await at(call);
    if (call !== "tell") return;
    const cursor = await street.cursor();
    const [sending] = [cursor?.outstanding?.sequence ?? 0];
    if (sending <= (cursor?.acknowledged ?? 0)) wrong.push(`sent again after ${cursor?.acknowledged}`);
  };
  street.fixture.after = (call) => {
    for (const { sequence, state } of street.fixture.record()?.outbox?.entries ?? []) due.set(sequence, state);
    after(call);
  };
  return { due, wrong };
};

/** Advances time until messages of dead senders are delivered again, and takes a resync in between. */
const settle = async (street: Street): Promise<void> => {
  await street.pass(100_000);
  await street.resync();
  await street.pass(100_000);
};

/** Runs the life of an application; the listener answers only every second request. */
const live = async (street: Street): Promise<void> => {
  let asked = 0;
  street.answer = () => {
    asked += 1;
    return asked % 2 === 0 ? acknowledged : silence;
  };
  for (const state of ["SUBMITTED", "RUNNING", "FAILED"]) {
    await street.enter(state, { terminal: state === "FAILED" });
    await street.pass(1_000);
  }
  await settle(street);
  await street.enter("RUNNING", { attempt: 2 });
  await settle(street);
  street.fixture.objects.delete("toys bear");
  await settle(street);
};

/** Asserts the end: every update was acknowledged, in order, and no record is left. */
const ended = async (street: Street, { due, wrong }: Witness): Promise<void> => {
  const { heard } = street;
  const told = new Set(heard.filter(({ answered }) => answered === "acknowledged").map(({ sequence }) => sequence));
  assert.deepEqual(
    [...due].filter(([sequence]) => !told.has(sequence)),
    [],
    "lost",
  );
  assert.deepEqual(wrong, []);
  const order = heard.map(({ sequence }) => sequence);
  assert.deepEqual(
    order,
    order.toSorted((a, b) => a - b),
    "order",
  );
  assert.deepEqual([...street.fixture.checkpoints.all().keys()], []);
};

/** Asserts the end of a whole life, whose last update is the deletion. */
const judge = async (street: Street, seen: Witness): Promise<void> => {
  await ended(street, seen);
  assert.equal(seen.due.get(Math.max(...seen.due.keys())), "DELETED");
};

const nothing = (): void => {};

/** Returns every sixth call of an undisturbed life by its number, beginning with the one with index `from`. */
const callsOf = async (from: number): Promise<readonly number[]> => {
  const street = openStreet();
  let calls = 0;
  const seen = witness(
    street,
    () => {
      calls += 1;
    },
    nothing,
  );
  await live(street);
  await judge(street, seen);
  assert.ok(calls > 60, `${calls} calls`);
  return everyNth(
    6,
    Array.from({ length: calls }, (_, at) => at + 1),
    from,
  );
};

/** Dies at call `n`, before or after it takes effect; then the message is delivered again, or all messages are lost. */
const dying = async (n: number, when: "before" | "after", lost: boolean): Promise<void> => {
  const street = openStreet();
  let calls = 0;
  let dead = false;
  const die = (): void => {
    dead = true;
  };
  const breathe = (): void => {
    if (dead) throw new Error("dead");
  };
  const seen = witness(
    street,
    () => {
      breathe();
      calls += 1;
      if (calls === n && when === "before") die();
      breathe();
    },
    () => {
      if (calls === n && when === "after" && !dead) die();
      breathe();
    },
  );
  street.revive = () => {
    dead = false;
    if (lost) street.forget();
  };
  await live(street);
  await street.resync();
  await street.pass(2 * hour);
  await street.resync();
  await street.pass(2 * hour);
  await street.resync();
  await judge(street, seen);
};

describe("a saved update", () => {
  for (const [from, when] of (["before", "after"] as const).entries())
    for (const lost of [false, true])
      test(`is delivered although its sender dies ${when} any call, ${lost ? "messages lost" : "and retried"}`, async () => {
        for (const n of await callsOf(lost ? from + 2 : from))
          await dying(n, when, lost).catch((cause: unknown) => {
            throw new Error(`death ${when} call ${n}`, { cause });
          });
      });

  test("is sent in order although a process stands still at any call until all records are gone", async () => {
    for (const n of await callsOf(4)) {
      const street = openStreet();
      let left = n;
      const seen = witness(
        street,
        async (call) => {
          // The object is deleted when it has a record. A request to the listener arrives late whatever its sender does, and
          // concurrent reads of a namespace share one call.
          if (street.fixture.record() === undefined || call === "tell" || call.startsWith("get namespaces")) return;
          left -= 1;
          if (left !== 0) return;
          street.fixture.objects.delete("toys bear");
          await settle(street);
          await street.pass(hour);
        },
        nothing,
      );
      await live(street);
      await street.resync();
      await street.pass(2 * hour);
      await street.resync();
      await ended(street, seen).catch((cause: unknown) => {
        throw new Error(`still at call ${n}`, { cause });
      });
      if (left > 0) return;
    }
  });

  test("is delivered although a second process delivers it at any call of the first", async () => {
    for (const n of await callsOf(5)) {
      const street = openStreet();
      let made = 0;
      let nested = false;
      const seen = witness(
        street,
        async (call) => {
          if (nested) return;
          made += 1;
          // Concurrent reads of a namespace share one call, so this call starts no second step.
          if (made !== n || call.startsWith("get namespaces")) return;
          nested = true;
          await step(street.world, { ...deliveryKey(message), reason: "copy" });
          nested = false;
        },
        nothing,
      );
      await live(street);
      await street.resync();
      await street.pass(2 * hour);
      await street.resync();
      await judge(street, seen).catch((cause: unknown) => {
        throw new Error(`a second delivery at call ${n}`, { cause });
      });
    }
  });
});
