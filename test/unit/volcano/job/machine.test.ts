/** The table of phases and actions where it differs from upstream's, and for finished jobs. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isFinished, moveFor } from "../../../../shared/volcano/job/machine.ts";
import { phases } from "../../../../shared/volcano/schema/resource.ts";

describe("a restarting job", () => {
  const endings = [
    ["AbortJob", "Aborting"],
    ["TerminateJob", "Terminating"],
    ["CompleteJob", "Completing"],
  ] as const;
  for (const [action, into] of endings) {
    test(`becomes ${into} at once upon ${action}`, () => {
      assert.deepEqual(moveFor("Restarting", action), { pods: "killUnfinished", when: "now", into });
    });
  }
});

test("four phases are final; an Aborted job leaves its phase when it is resumed", () => {
  assert.deepEqual(phases.filter(isFinished), ["Completed", "Terminated", "Aborted", "Failed"]);
  assert.equal(moveFor("Aborted", "ResumeJob").into, "Restarting");
});
