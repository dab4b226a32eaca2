/** The dispatcher's queue in the suite that SQS and the embedded queue pass, under a clock that the test turns. */
import { describe, test } from "node:test";
import { openTurned } from "../../../real/queue/dispatched.ts";
import { behaviours } from "../../../real/queue/suite.ts";

describe("the dispatcher's queue", () => {
  for (const { name, run } of behaviours)
    test(name, async (t) => {
      const counter = openTurned();
      t.after(() => counter.stop());
      await run(counter);
    });
});
