/** Saved nominations: groups are marked first, then their pods are evicted, and what becomes of them in the end. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../../shared/core/object.ts";
import type { Effect } from "../../../../../shared/core/plan.ts";
import { timeText } from "../../../../../shared/core/time.ts";
import { carryOut, openIn } from "../../../../../shared/volcano/gang/eviction/nominations.ts";
import type { Nomination } from "../../../../../shared/volcano/gang/state/memory.ts";
import { eight, groupOf, planOf, podOf } from "../round.ts";

const nomination = (whole: boolean, at = eight): Nomination => ({
  ...{ uid: "PodGroup high", group: "ns/high", at },
  way: "preempt",
  places: [{ task: "w", node: "n", count: 1 }],
  victims: { "PodGroup low": { whole, pods: { "Pod low-w-1": "low-w-1" } } },
});

const marked = (more: object = {}) => ({
  "rekindle.dev/evicted": JSON.stringify({ at: timeText(eight), by: "ns/high", ...more }),
});

const ofPods = { pods: { w: [1] } };
const pods = [podOf("low-w-0", "low"), podOf("low-w-1", "low")];
const high = groupOf("high", { phase: "Pending" });

const textOf = (effect: Effect): string => {
  if (effect.do === "evict") return `evict ${effect.ref.name}`;
  if (effect.do !== "patch") return effect.do;
  const { status = {}, metadata = {} } = effect.patch;
  const text = Object(metadata)["annotations"]["rekindle.dev/evicted"];
  return `${Object(status)["phase"] ?? "as it is"}: ${text === null ? "no mark" : Object.keys(JSON.parse(text)).join()}`;
};

type Given = { readonly groups: readonly Stored[]; readonly one?: Nomination; readonly pods?: readonly Stored[] };

const carried = ({ groups, one = nomination(true), pods: there = pods }: Given) => {
  const { kept, marks, evictions } = carryOut([one], new Set(), {
    ...{ groups, now: eight + 5_000 },
    podsOf: ({ metadata }) => (metadata.name === "low" ? there : []),
  });
  return { kept: kept.length, does: [...marks, ...evictions.flat()].map(textOf) };
};

const low = (phase: string, annotations: Readonly<Record<string, string>> = {}): Stored =>
  groupOf("low", { phase, annotations });

const old = (whole: boolean): Nomination => nomination(whole, eight - 600_000);

const rows: readonly (readonly [string, Given, number, readonly string[]])[] = [
  ["marks a group before any pod of it is evicted", { groups: [high, low("Running")] }, 1, ["Pending: at,by"]],
  [
    "evicts all pods of a marked group that goes whole",
    { groups: [high, low("Pending", marked())] },
    1,
    ["evict low-w-0", "evict low-w-1"],
  ],
  [
    "marks the pods beyond the minimum by their ordinals",
    { groups: [high, low("Running")], one: nomination(false) },
    1,
    ["as it is: at,by,pods"],
  ],
  [
    "evicts these pods alone",
    { groups: [high, low("Running", marked(ofPods))], one: nomination(false) },
    1,
    ["evict low-w-1"],
  ],
  [
    "evicts nobody of a group that another nomination has marked",
    { groups: [high, low("Pending", marked({ by: "ns/x" }))] },
    1,
    [],
  ],
  [
    "keeps the marks while the nominated group gets its pods",
    {
      groups: [
        groupOf("high", { phase: "Inqueue", annotations: planOf({ w: { n: 1 } }) }),
        low("Running", marked(ofPods)),
      ],
      one: nomination(false),
    },
    1,
    [],
  ],
  [
    "lets pods beyond the minimum come again when the nominated group has started",
    { groups: [groupOf("high", { phase: "Running" }), low("Running", marked(ofPods))], one: nomination(false) },
    1,
    ["as it is: at,by,pods,over"],
  ],
  [
    "is forgotten when nothing is left to do",
    {
      groups: [groupOf("high", { phase: "Running" }), low("Running", marked({ ...ofPods, over: true }))],
      one: nomination(false),
    },
    0,
    [],
  ],
  [
    "gives a group its places back after ten minutes in which none of its pods could be evicted",
    { groups: [high, low("Pending", marked())], one: old(true), pods: [podOf("low-w-1", "low")] },
    1,
    ["Running: no mark"],
  ],
  [
    "goes on after ten minutes with a group that has lost pods",
    { groups: [high, low("Pending", marked())], one: old(true), pods: [podOf("low-w-0", "low")] },
    1,
    ["evict low-w-0"],
  ],
  [
    "is forgotten after ten minutes if the group has no pod left",
    { groups: [high, low("Pending", marked())], one: old(true), pods: [] },
    0,
    [],
  ],
];

describe("a saved nomination", () => {
  for (const [what, given, kept, does] of rows) test(what, () => assert.deepEqual(carried(given), { kept, does }));

  test("reserves places for ten minutes while its group waits", () => {
    const open = (groups: readonly Stored[], ms: number): number =>
      openIn([nomination(true)], groups, eight + ms).length;
    assert.deepEqual([open([high], 599_000), open([high], 600_000), open([], 1_000)], [1, 0, 0]);
  });
});
