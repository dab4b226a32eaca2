/** The waits between restarts: they double up to a limit, and start over after a good run. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { backoffAfter, heldUntil } from "../../../../shared/volcano/job/context.ts";

const second = 1_000;
const asked = { backoffMs: 10 * second, backoffMaxMs: 60 * second, goodRunMs: 600 * second };
const now = 10_000 * second;

describe("the wait that a restart begins", () => {
  const rows = [
    ["is none where none is asked for", undefined, { ...asked, backoffMs: undefined }, undefined],
    ["is the first at first", undefined, asked, { restarts: 1, until: now + 10 * second }],
    ["doubles", { restarts: 1, until: now - second }, asked, { restarts: 2, until: now + 20 * second }],
    ["and doubles", { restarts: 2, until: now - second }, asked, { restarts: 3, until: now + 40 * second }],
    ["up to the longest", { restarts: 3, until: now - second }, asked, { restarts: 4, until: now + 60 * second }],
    ["which holds for ever", { restarts: 4_000, until: now }, asked, { restarts: 4_001, until: now + 60 * second }],
    [
      "is the first again after a good run",
      { restarts: 3, until: now - 600 * second },
      asked,
      { restarts: 1, until: now + 10 * second },
    ],
    [
      "is never longer than the longest",
      undefined,
      { ...asked, backoffMaxMs: 3 * second },
      { restarts: 1, until: now + 3 * second },
    ],
  ] as const;
  for (const [what, before, wishes, want] of rows)
    test(what, () => assert.deepEqual(backoffAfter(before, wishes, now), want));
});

describe("a wait holds", () => {
  const rows = [
    ["while a job restarts, until it is over", "Restarting", now + second, now + second],
    ["no more when it is over", "Restarting", now, undefined],
    ["nothing in another phase", "Aborted", now + second, undefined],
  ] as const;
  for (const [what, phase, until, want] of rows)
    test(what, () => assert.equal(heldUntil({ phase, backoff: { restarts: 1, until } }, now), want));
});
