/**
 * The promises of a forwarder about a watch, on the simulator; `npm run conformance` tests the same on a real API
 * server.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openSimulator } from "../../../shared/simulator/open.ts";
import { tryGuarantees } from "./guarantees.ts";

describe("a forwarder whose connections are cut", () => {
  for (const seed of [1, 2, 3]) {
    it(`sends every last state and every deletion, in order, and no unchanged object (${seed})`, async () => {
      const { transport, clock } = openSimulator({ nodes: [] });
      const pass = (): void => clock.advanceTo(clock.now() + 10);
      const { changes, troubles, broken } = await tryGuarantees(transport, "default", seed, pass);
      assert.deepEqual(broken, []);
      assert.ok(changes >= 300 && troubles >= 20, `${troubles} troubles`);
    });
  }
});
