/** The waits between restarts: they double up to a limit, and start over after a good run. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { backoffAfter, heldUntil } from "../../../../shared/volcano/job/context.ts";

const second = 1_000;
const asked = { backoffMs: 10 * second, backoffMaxMs: 60 * second, goodRunMs: 600 * second };
const now = 10_000 * second;

describe("the wait that a restart begins", () => {
  const rows = [
    ["does not exist without a backoff", undefined, { ...asked, backoffMs: undefined }, undefined],
    ["has the first length at the first restart", undefined, asked, { restarts: 1, until: now + 10 * second }],
    [
      "doubles at the second restart",
      { restarts: 1, until: now - second },
      asked,
      { restarts: 2, until: now + 20 * second },
    ],
    [
      "doubles again at the third restart",
      { restarts: 2, until: now - second },
      asked,
      { restarts: 3, until: now + 40 * second },
    ],
    ["grows up to the maximum", { restarts: 3, until: now - second }, asked, { restarts: 4, until: now + 60 * second }],
    [
      "keeps the maximum after any number of restarts",
      { restarts: 4_000, until: now },
      asked,
      { restarts: 4_001, until: now + 60 * second },
    ],
    [
      "has the first length again after a good run",
      { restarts: 3, until: now - 600 * second },
      asked,
      { restarts: 1, until: now + 10 * second },
    ],
    [
      "is never longer than the maximum",
      undefined,
      { ...asked, backoffMaxMs: 3 * second },
      { restarts: 1, until: now + 3 * second },
    ],
  ] as const;
  for (const [what, before, wishes, want] of rows)
    test(what, () => assert.deepEqual(backoffAfter(before, wishes, now), want));
});

describe("the wait between restarts holds", () => {
  const rows = [
    ["while a job restarts, until it is over", "Restarting", now + second, now + second],
    ["no more when it is over", "Restarting", now, undefined],
    ["nothing in another phase", "Aborted", now + second, undefined],
  ] as const;
  for (const [what, phase, until, want] of rows)
    test(what, () => assert.equal(heldUntil({ phase, backoff: { restarts: 1, until } }, now), want));
});
