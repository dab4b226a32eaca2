/** Tests the judgements of the lane: each kind of wrong account is detected, and a right one has no faults. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Account, wrongsOf } from "./judgements.ts";

const right: Account = {
  losses: [
    { id: 2, reason: "killed", exitCode: 137 },
    { id: 3, reason: "node" },
  ],
  events: [
    { message: "Executor 2 (pod b, node n) was lost: killed", count: 1 },
    { message: "Executor 3 (pod c, node n) was lost: node", count: 1 },
  ],
  seen: [
    { pod: "a", id: 1 },
    { pod: "b", id: 2 },
    { pod: "c", id: 3 },
  ],
  done: new Map([
    ["b", { reason: "killed", exitCode: 137 }],
    ["c", { reason: "node" }],
  ]),
};

const [killed, gone] = right.losses;
const [first, second] = right.events;
assert.ok(killed && gone && first && second);

const rows: readonly (readonly [name: string, more: Partial<Account>, wrongs: readonly RegExp[]])[] = [
  ["nothing", {}, []],
  ["an id of two pods", { seen: [...right.seen, { pod: "d", id: 1 }] }, [/^two pods had the id 1$/]],
  ["a loss recorded twice", { losses: [...right.losses, gone] }, [/^the loss of 3 is recorded twice$/]],
  ["a loss not recorded", { losses: [killed] }, [/^the loss of c \(node\) is not/, /^1 events tell of/]],
  [
    "another reason",
    { losses: [{ ...killed, reason: "memory" }, gone] },
    [/^b was lost by killed 137, and is recorded as 2 memory 137$/],
  ],
  [
    "another exit status",
    { losses: [{ ...killed, exitCode: 1 }, gone] },
    [/^b was lost by killed 137, .* 2 killed 1$/],
  ],
  ["a loss that nobody brought about", { done: new Map([["c", { reason: "node" }]]) }, [/^nobody brought .* 2 killed/]],
  ["a loss told by two events", { events: [first, first, second] }, [/^the loss of 2 was told 2 times$/]],
  [
    "a loss told again in one event",
    { events: [first, { ...second, count: 2 }] },
    [/^the loss of 3 was told 2 times$/],
  ],
  ["a loss not told", { events: [second] }, [/^the loss of 2 was told 0 times$/]],
];

for (const [name, more, wrongs] of rows)
  test(`is seen: ${name}`, () => {
    const found = wrongsOf({ ...right, ...more });
    assert.equal(found.length, wrongs.length, found.join("; "));
    for (const [at, wrong] of wrongs.entries()) assert.match(found[at] ?? "", wrong);
  });
