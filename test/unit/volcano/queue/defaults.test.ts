/** The defaults of a queue, in admission and in its steps. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { queueGaps } from "../../../../shared/volcano/queue/defaults.ts";

const path = "volcano.sh/hierarchy";
const weights = "volcano.sh/hierarchy-weights";

describe("the defaults of a queue set", () => {
  const rows = [
    ["weight and reclaimable for an empty spec", {}, {}, { spec: { weight: 1, reclaimable: true } }],
    ["a weight for weight 0", { weight: 0, reclaimable: true }, {}, { spec: { weight: 1 } }],
    ["no field that the queue sets", { weight: 4, reclaimable: false }, {}, undefined],
    [
      "the root of its hierarchy path",
      { weight: 4, reclaimable: false },
      { [path]: "sci/dev", [weights]: "2/3" },
      { metadata: { annotations: { [path]: "root/sci/dev", [weights]: "1/2/3" } } },
    ],
    [
      "no root that the path has already",
      { weight: 4, reclaimable: false },
      { [path]: "root/sci", [weights]: "1/2" },
      undefined,
    ],
  ] as const;
  for (const [what, spec, annotations, want] of rows)
    test(what, () => {
      const metadata = { name: "q", uid: "u", resourceVersion: "1", annotations };
      assert.deepEqual(queueGaps({ apiVersion: "v1", kind: "Queue", metadata, spec }), want);
    });
});
