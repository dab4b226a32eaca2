/** Admission of Volcano's kinds beside jobs and queues, and of objects that it does not judge. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { good } from "../input/row.ts";
import { creating, type Fields, patchOf, reviewOf, said, updating } from "./reviews.ts";

const queues = [
  { metadata: { name: "open" }, status: { state: "Open" } },
  { metadata: { name: "parent" }, status: { state: "Open" } },
  { metadata: { name: "child" }, spec: { parent: "parent" }, status: { state: "Open" } },
  { metadata: { name: "shut" }, status: { state: "Closed" } },
];

describe("admission of a job checks the queue", () => {
  const rows: readonly (readonly [string, RegExp])[] = [
    ["open", /^$/],
    ["child", /^$/],
    ["shut", /^can only submit job to queue with state `Open`, queue `shut` status is `Closed`;$/],
    ["gone", /^unable to find job queue: queue\.scheduling\.volcano\.sh "gone" not found;$/],
    ["default", /^$/],
    ["parent", /can only submit job to leaf queue, queue `parent` has 1 child queues;$/],
  ];
  for (const [queue, says] of rows)
    test(queue, () => assert.match(said(creating("Job", { ...good, queue }), { queues }), says));

  test("is not checked when the job is changed", () => {
    assert.equal(
      said(updating("Job", { ...good, queue: "shut" }, { ...good, queue: "shut", minAvailable: 1 }), { queues }),
      "",
    );
  });
});

describe("a changed job", () => {
  const rows: readonly (readonly [string, Fields, RegExp])[] = [
    ["smaller", { minAvailable: 1 }, /^$/],
    ["of another class", { priorityClassName: "high" }, /^$/],
    ["of another queue", { queue: "other" }, /^job updates may not change fields other than/],
    [
      "of more tasks",
      { tasks: [...Object(good["tasks"]), { ...Object(good["tasks"])[0], name: "b" }] },
      /may not add or remove tasks/,
    ],
    ["with a negative minAvailable", { minAvailable: -1 }, /^spec\.minAvailable must be at least 0/],
  ];
  for (const [what, changes, says] of rows)
    test(what, () => assert.match(said(updating("Job", good, { ...good, ...changes })), says));
});

describe("a PodGroup", () => {
  const tiers = { highestTierAllowed: 1, highestTierName: "rack" };
  const rows: readonly (readonly [string, Fields, RegExp])[] = [
    ["in an open queue", { queue: "open" }, /^$/],
    ["without a queue", {}, /^$/],
    [
      "in a closed one",
      { queue: "shut" },
      /^can only submit PodGroup to queue with state `Open`, queue `shut` status is `Closed`\.$/,
    ],
    [
      "in a queue that does not exist",
      { queue: "gone" },
      /^unable to find queue: queue\.scheduling\.volcano\.sh "gone" not found$/,
    ],
    ["of two tiers", { networkTopology: tiers }, /^must not specify 'highestTierAllowed' and/],
    [
      "of two tiers in a subgroup, in a closed queue",
      { queue: "shut", subGroupPolicy: [{ name: "p", networkTopology: tiers }] },
      /`Closed`\.; in subGroupPolicy 'p': must not specify/,
    ],
    ["with an invalid type of a field", { queue: 3 }, /^spec\.queue must be a string/],
  ];
  for (const [what, spec, says] of rows)
    test(what, () => assert.match(said(creating("PodGroup", spec), { queues }), says));

  test("without a queue gets the queue of its namespace", () => {
    const around = { annotations: { "scheduling.volcano.sh/queue-name": "team" } };
    assert.deepEqual(patchOf(creating("PodGroup", { queue: "default" }), around), [
      { op: "add", path: "/spec/queue", value: "team" },
    ]);
    assert.deepEqual(patchOf(creating("PodGroup", { queue: "mine" }), around), []);
    assert.deepEqual(patchOf(creating("PodGroup", { queue: "default" })), []);
  });
});

describe("the disruption budget of a pod", () => {
  const rows: readonly (readonly [string, Readonly<Record<string, string>>, RegExp])[] = [
    ["none", {}, /^$/],
    ["a count", { "volcano.sh/jdb-min-available": "2" }, /^$/],
    ["a share", { "volcano.sh/jdb-max-unavailable": "30%" }, /^$/],
    [
      "zero",
      { "volcano.sh/jdb-min-available": "0" },
      /^invalid value <"0"> for volcano\.sh\/jdb-min-available, it must be a positive integer$/,
    ],
    ["all", { "volcano.sh/jdb-min-available": "100%" }, /it must be a valid percentage which between 1% ~ 99%$/],
    [
      "a text",
      { "volcano.sh/jdb-max-unavailable": "few" },
      /^invalid value strconv\.Atoi: parsing "few": invalid syntax for volcano\.sh\/jdb-max-unavailable$/,
    ],
    [
      "both",
      { "volcano.sh/jdb-min-available": "1", "volcano.sh/jdb-max-unavailable": "1" },
      /^not allow configure multiple annotations <\[volcano\.sh\/jdb-min-available volcano\.sh\/jdb-max-unavailable\]> at same time$/,
    ],
  ];
  for (const [what, annotations, says] of rows)
    test(what, () =>
      assert.match(said(creating("Pod", { schedulerName: "volcano" }, { name: "p", annotations })), says),
    );

  test("is not checked under another scheduler", () => {
    const annotations = { "volcano.sh/jdb-min-available": "0" };
    assert.equal(said(creating("Pod", { schedulerName: "default-scheduler" }, { name: "p", annotations })), "");
  });
});

const flow = (name: string, ...targets: readonly string[]) => ({ name, dependsOn: { targets } });

describe("flags of plugins that are unknown", () => {
  const flagged = { ...good, plugins: { ssh: ["--no-root"], svc: ["--enable-networking"] } };
  const says =
    /^warning: spec\.plugins\.svc: flag --enable-networking is unknown: .*\nwarning: spec\.plugins\.ssh: flag --no-root is unknown: /;
  test("lead to a warning for a job, which is not refused", () => {
    assert.match(said(creating("Job", flagged)), says);
    assert.match(said(updating("Job", good, { ...flagged, minAvailable: 1 })), /./);
    assert.equal(said(updating("Job", flagged, flagged)), "");
  });
  test("lead to a warning for a JobTemplate and a CronJob", () => {
    const nested = /^warning: of its jobs spec\.plugins\.svc: flag --enable-networking is unknown/;
    assert.match(said(creating("JobTemplate", flagged)), nested);
    assert.match(said(creating("CronJob", { schedule: "0 3 * * *", jobTemplate: { spec: flagged } })), nested);
  });
});

describe("a JobFlow", () => {
  test("is warned about a number of retries that cannot be read", () => {
    const flow = { flows: [{ name: "a" }] };
    const metadata = { name: "f", annotations: { "rekindle.dev/job-retries": "0" } };
    assert.match(
      said(creating("JobFlow", flow, metadata)),
      /^warning: .*job-retries\]: "0" is not a whole number from 1 to 100/,
    );
  });

  const rows: readonly (readonly [string, unknown, RegExp])[] = [
    ["with one flow after the other", { flows: [{ name: "a" }, flow("b", "a"), flow("c", "a", "b")] }, /^$/],
    ["without a spec", undefined, /^$/],
    ["with a cycle", { flows: [flow("a", "b"), flow("b", "a")] }, /^jobflow Flow is not DAG$/],
    [
      "with a flow that depends on itself",
      { flows: [flow("a", "a")] },
      /^jobflow Flow is not DAG: flow 'a' has self-dependency$/,
    ],
    ["with an unknown dependency", { flows: [flow("a", "z")] }, /^jobflow Flow is not DAG: vertex is not defined: z$/],
    ["with an invalid type of flows", { flows: {} }, /^spec\.flows must be an array/],
    [
      "with one template twice",
      { flows: [{ name: "a" }, { name: "a" }] },
      /^warning: it will not run: spec\.flows: "a" is listed more than once/,
    ],
  ];
  for (const [what, spec, says] of rows) test(what, () => assert.match(said(creating("JobFlow", spec)), says));
});

const nightly = { schedule: "0 3 * * *", jobTemplate: { spec: good } };

describe("a CronJob", () => {
  const rows: readonly (readonly [string, unknown, RegExp, string?])[] = [
    ["every night", nightly, /^$/],
    ["every night in Berlin", { ...nightly, timeZone: "Europe/Berlin" }, /^$/],
    ["every so often", { ...nightly, schedule: "@every 5m" }, /^$/],
    ["never", { ...nightly, schedule: "" }, /^schedule is required, but got empty$/],
    ["whenever", { ...nightly, schedule: "whenever" }, /^schedule is not a valid cron expression$/],
    [
      "with a zone in its schedule",
      { ...nightly, schedule: "TZ=UTC 0 3 * * *" },
      /^schedule should not contain TZ or CRON_TZ/,
    ],
    ["in an unknown zone", { ...nightly, timeZone: "Mars/Olympus" }, /^invalid timeZone$/],
    ["in the zone Local", { ...nightly, timeZone: "Local" }, /^timeZone can't be Local/],
    ["in an empty zone", { ...nightly, timeZone: "" }, /^timeZone must be nil or non-empty string, got empty string$/],
    ["in a zone that is a file path", { ...nightly, timeZone: "../etc" }, /^unknown timeZone invalid timeZone$/],
    ["under too long a name", nightly, /^cronJob name must be no more than 52 characters/, "n".repeat(53)],
    ["under an invalid name", nightly, /^invalid cronJob name "-a": name part must consist/, "-a"],
    [
      "of jobs that will be refused",
      { ...nightly, jobTemplate: { spec: {} } },
      /^warning: its jobs will be refused: No task specified/,
    ],
    [
      "with an unknown concurrency policy",
      { ...nightly, concurrencyPolicy: "Queue" },
      /^warning: it will not run: spec\.concurrencyPolicy must be/,
    ],
    ["with an invalid type of its schedule", { ...nightly, schedule: 3 }, /^spec\.schedule must be a string/],
  ];
  for (const [what, spec, says, name = "nightly"] of rows)
    test(what, () => assert.match(said(creating("CronJob", spec, { name })), says));
});

describe("a JobTemplate", () => {
  test("is accepted with a warning if its jobs would be refused", () => {
    assert.equal(said(creating("JobTemplate", good)), "");
    assert.match(said(creating("JobTemplate", { tasks: [] })), /^warning: its jobs will be refused: No task specified/);
  });
});

describe("an object of another kind or an unchanged spec", () => {
  const bad = creating("Job", "nonsense");
  const rows = [
    { ...bad, kind: { ...bad.kind, kind: "toString" } },
    { ...bad, kind: { ...bad.kind, group: "batch" } },
    reviewOf("Job", "UPDATE", { metadata: { name: "train" }, spec: "nonsense" }, { oldObject: bad.object }),
  ];
  for (const request of rows)
    test(`passes: ${request.operation} ${request.kind.group}/${request.kind.kind}`, () => {
      assert.equal(said(request), "");
      assert.deepEqual(patchOf(request), []);
    });
});

describe("what reconcile would tell or refuse later is an admission warning", () => {
  const template = (spec: Fields): Fields => ({ schedule: "* * * * *", jobTemplate: { spec: { ...good, ...spec } } });
  const rows: readonly (readonly [string, Parameters<typeof said>[0], RegExp])[] = [
    [
      "ray without a head",
      creating("Job", { ...good, plugins: { ray: [] } }),
      /^warning: no pod of it will be created: .*head task head/,
    ],
    [
      "svc and a name with a dot",
      creating("Job", { ...good, plugins: { svc: [] } }, { name: "a.b" }),
      /^warning: spec\.plugins\.svc: the job's name a\.b has a dot/,
    ],
    [
      "a CronJob whose queue is missing",
      creating("CronJob", template({ queue: "gone" })),
      /^warning: its jobs will be refused: unable to find job queue/,
    ],
    [
      "a CronJob whose queue is closed",
      creating("CronJob", template({ queue: "shut" })),
      /^warning: its jobs will be refused: .*`Closed`/,
    ],
    ["a CronJob of an open queue", creating("CronJob", template({ queue: "open" })), /^$/],
    [
      "a JobTemplate whose queue is missing",
      creating("JobTemplate", { ...good, queue: "gone" }),
      /^warning: its jobs will be refused: unable to find job queue/,
    ],
  ];
  for (const [what, request, says] of rows) test(what, () => assert.match(said(request, { queues }), says));

  test("a queue that closes a circle", () => {
    const circle = [
      { metadata: { name: "a" }, spec: { parent: "b" }, status: { state: "Open" } },
      { metadata: { name: "b" }, spec: { parent: "root" }, status: { state: "Open" } },
    ];
    const request = reviewOf(
      "Queue",
      "UPDATE",
      { metadata: { name: "b" }, spec: { parent: "a" } },
      {
        oldObject: circle[1],
        name: "b",
      },
    );
    assert.match(said(request, { queues: circle }), /^warning: queue b is below itself: b, below a, below b/);
  });
});
