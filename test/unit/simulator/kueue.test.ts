/** The Kueue of the sweep and of hosts on the simulator admits, evicts and queues as a real one was recorded to do. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { rows, simulated } from "../../support/kueue-rows.ts";

describe("the simulated Kueue, as the real one,", () => {
  for (const row of rows)
    test(row.what, () => {
      assert.deepEqual(simulated(row).at(-1), row.has);
    });
});
