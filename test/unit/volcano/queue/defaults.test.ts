/** The defaults of a queue, in admission and in its steps. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { queueGaps } from "../../../../shared/volcano/queue/defaults.ts";

const path = "volcano.sh/hierarchy";
const weights = "volcano.sh/hierarchy-weights";

describe("of a queue is still to be written", () => {
  const rows = [
    ["everything, where it says nothing", {}, {}, { spec: { weight: 1, reclaimable: true } }],
    ["a weight of none", { weight: 0, reclaimable: true }, {}, { spec: { weight: 1 } }],
    ["nothing that it says", { weight: 4, reclaimable: false }, {}, undefined],
    [
      "the root of its path",
      { weight: 4, reclaimable: false },
      { [path]: "sci/dev", [weights]: "2/3" },
      { metadata: { annotations: { [path]: "root/sci/dev", [weights]: "1/2/3" } } },
    ],
    ["no root that is there", { weight: 4, reclaimable: false }, { [path]: "root/sci", [weights]: "1/2" }, undefined],
  ] as const;
  for (const [what, spec, annotations, want] of rows)
    test(what, () => {
      const metadata = { name: "q", uid: "u", resourceVersion: "1", annotations };
      assert.deepEqual(queueGaps({ apiVersion: "v1", kind: "Queue", metadata, spec }), want);
    });
});
