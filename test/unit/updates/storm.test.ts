/**
 * Many streams, a listener that loses requests and answers, senders that die, messages that are repeated or lost, by a
 * seed. Every saved update is heard, in the order of its stream, and none after its acknowledgement was saved.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { deliveryKey } from "../../../shared/core/key.ts";
import { step } from "../../../shared/engine/reconcile/step.ts";
import { isExhaustive } from "../../support/cases.ts";
import { message } from "../engine/fakes.ts";
import { acknowledged, openStreet, silence } from "./street.ts";

/** Returns a pseudorandom generator (mulberry32). */
const chanceOf = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

/** Probabilities: a request or its answer is lost, a message is repeated, a sender dies at a call. */
const odds = { lost: 0.3, twice: 0.3, death: 0.01 } as const;

type Tally = { readonly updates: number; readonly requests: number; readonly deaths: number };

/** Runs one application's stream of `states` states. Throws if a promise is broken. */
const blow = async (seed: number, states: number): Promise<Tally> => {
  const chance = chanceOf(seed);
  const street = openStreet();
  const due = new Set<number>();
  const heard = new Set<number>();
  let deaths = 0;
  let dead = false;
  let calm = false;
  let latest = 0;
  street.revive = () => {
    dead = false;
    if (chance() < 0.5) street.forget();
  };
  street.fixture.before = async (call) => {
    if (dead) throw new Error("dead");
    if (!calm && chance() < odds.death) {
      dead = true;
      deaths += 1;
      throw new Error("dead");
    }
    if (call !== "tell") return;
    const cursor = await street.cursor();
    assert.ok(
      (cursor?.outstanding?.sequence ?? 0) > (cursor?.acknowledged ?? 0),
      `seed ${seed}: sent after its acknowledgement`,
    );
  };
  street.fixture.after = (call) => {
    if (!call.startsWith("save")) return;
    for (const { sequence } of street.fixture.record()?.outbox?.entries.slice(-2) ?? []) due.add(sequence);
  };
  // A lost request was not heard; a request whose answer is lost was.
  street.answer = ({ sequence }) => {
    const fate = chance();
    if (calm || fate >= odds.lost / 2) {
      assert.ok(sequence >= latest, `seed ${seed}: ${sequence} after ${latest}`);
      latest = sequence;
      heard.add(sequence);
    }
    return calm || fate >= odds.lost ? acknowledged : silence;
  };
  for (let at = 1; at <= states; at++) {
    await street.enter(`S${at % 5}`, { attempt: at, terminal: true });
    if (chance() < odds.twice)
      await step(street.world, { ...deliveryKey(message), reason: "copy" }).catch(() => street.revive());
    await street.pass(chance() * 120_000);
    street.heard.length = Math.min(street.heard.length, 0);
    street.fixture.calls.length = 0;
    street.fixture.lines.length = 0;
  }
  calm = true;
  dead = false;
  await street.pass(100_000);
  await street.resync();
  await street.pass(7_200_000);
  const lost = [...due].filter((sequence) => !heard.has(sequence));
  assert.deepEqual(lost, [], `seed ${seed}: lost`);
  return { updates: due.size, requests: heard.size, deaths };
};

/** The number of updates: REKINDLE_UPDATES, else enough for every run of the tests. */
const wanted = Number(process.env["REKINDLE_UPDATES"] ?? (isExhaustive() ? 2_000 : 500));

test(`of ${wanted} updates under faults none is lost, reordered, or sent once acknowledged`, async (context) => {
  const began = performance.now();
  let updates = 0;
  let deaths = 0;
  for (let seed = 1; updates < wanted; seed++) {
    const tally = await blow(seed, 200);
    updates += tally.updates;
    deaths += tally.deaths;
  }
  assert.ok(deaths > updates / 100, `${deaths} deaths`);
  context.diagnostic(`${updates} updates, ${deaths} deaths, ${Math.round(performance.now() - began)} ms`);
});
