/**
 * Volcano's metrics: each status write is counted once, and gauges show the current state, by upstream's names and
 * labels.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { MetricSample } from "../../../shared/core/metric.ts";
import type { Stored } from "../../../shared/core/object.ts";
import {
  gaugesOfGroup,
  gaugesOfJob,
  gaugesOfQueue,
  measuresOfJob,
  volcanoFigures,
} from "../../../shared/volcano/metrics.ts";

const eight = Date.UTC(2026, 10, 2, 8);

const stored = (kind: string, spec: object, status?: object): Stored => ({
  apiVersion: "v1",
  kind,
  metadata: {
    ...{ name: "j", namespace: "ns", uid: "u", resourceVersion: "1" },
    creationTimestamp: "2026-11-02T07:59:50Z",
  },
  spec,
  ...(status === undefined ? {} : { status }),
});

const annotated = (key: string): Stored => {
  const group = stored("PodGroup", { queue: "q" }, { phase: "Pending" });
  return { ...group, metadata: { ...group.metadata, annotations: { [key]: "x" } } };
};

const labelled = (of: MetricSample["of"]): string =>
  Object.entries(of)
    .filter(([label]) => label !== "namespace")
    .map(([label, value]) => `${label}=${value}`)
    .join(",");

const lines = (measures: readonly MetricSample[]): readonly string[] =>
  measures.map(({ name, value, of }) => `${name.replace(/^(rekindle|volcano)_/, "")}{${labelled(of)}} ${value}`);

const told = (before: object | undefined, after: object): readonly string[] =>
  lines(measuresOfJob(stored("Job", { queue: "q" }, before), after, eight));

const pod = "controller_job_to_pod_creation_latency_milliseconds{} 10000";
const place = "controller_job_e2e_creation_duration_milliseconds{uid=u} 0";
const state = (phase: string) => ({ state: { phase } });

describe("a change of a job's status is counted as", () => {
  const rows: readonly (readonly [string, object | undefined, object, readonly string[]])[] = [
    ["a job in its first phase", undefined, state("Pending"), ["job_phases_total{phase=Pending} 1"]],
    ["nothing while nothing changes", { ...state("Running"), running: 2 }, { ...state("Running"), running: 2 }, []],
    ["each new pod", { ...state("Pending"), pending: 1 }, { ...state("Pending"), pending: 3 }, [pod, pod]],
    [
      "no pods when they only change their phases",
      { ...state("Pending"), pending: 2 },
      { ...state("Running"), running: 1, failed: 1 },
      ["job_phases_total{phase=Running} 1"],
    ],
    [
      "a retry",
      { ...state("Running"), running: 2 },
      { ...state("Restarting"), terminating: 2, version: 1, retryCount: 1 },
      ["job_phases_total{phase=Restarting} 1", "job_retries_total{queue_name=q} 1"],
    ],
    [
      "new pods when they are of another version",
      { ...state("Restarting"), running: 1 },
      { ...state("Pending"), version: 1, pending: 1 },
      ["job_phases_total{phase=Pending} 1", pod],
    ],
    [
      "no pods that were kept from the version before",
      { ...state("Running"), succeeded: 2 },
      { ...state("Completing"), version: 1, succeeded: 2 },
      ["job_phases_total{phase=Completing} 1"],
    ],
    [
      "nothing for a status that cannot be parsed",
      { state: 5, pending: "x" },
      { state: { phase: "Odd" }, pending: null },
      [],
    ],
  ];
  for (const [what, before, after, want] of rows) test(what, () => assert.deepEqual(told(before, after), want));
});

describe("the time until all pods of a job are created", () => {
  const tasks = [{ replicas: 2 }, { name: "none" }, { replicas: 1 }];
  const told = (spec: object, before: object | undefined, after: object): readonly string[] =>
    measuresOfJob(stored("Job", spec, before), after, eight)
      .filter(({ name }) => name === "volcano_controller_job_e2e_creation_duration_milliseconds")
      .map(({ do: act, value, of }) => `${act} ${value} ${Object.values(of).join()}`);
  const made = (version: number) => [`observe 10000 j,q,ns,ns,u,${version}`];
  const [pending, running] = [state("Pending"), state("Running")];
  const again = { ...state("Restarting"), version: 1 };
  const rows: readonly (readonly [string, object | undefined, object, readonly string[]])[] = [
    ["is observed at the first status with all pods", undefined, { ...pending, pending: 3 }, made(0)],
    ["counts pods in every phase", pending, { ...running, running: 1, succeeded: 1, failed: 1 }, made(0)],
    ["is observed when the last pod is created", { ...pending, pending: 2 }, { ...pending, pending: 3 }, made(0)],
    ["is not observed while a pod is missing", pending, { ...running, running: 2 }, []],
    ["is observed once", { ...pending, pending: 3 }, { ...running, running: 3 }, []],
    [
      "is not observed for a pod that is replaced while the job runs",
      { ...running, running: 2 },
      { ...running, running: 3 },
      [],
    ],
    [
      "is observed again for the next version",
      { ...again, terminating: 3 },
      { ...pending, version: 1, pending: 3 },
      made(1),
    ],
    [
      "is not observed for pods that are kept",
      { ...running, succeeded: 3 },
      { ...state("Completing"), version: 1, succeeded: 3 },
      [],
    ],
    [
      "is observed for a version that begins with all pods",
      { ...running, running: 3 },
      { ...pending, version: 1, pending: 3 },
      made(1),
    ],
  ];
  for (const [what, before, after, want] of rows)
    test(what, () => assert.deepEqual(told({ queue: "q", tasks }, before, after), want));

  for (const [what, spec] of [
    ["has no pods", { tasks: [{ replicas: 0 }] }],
    ["cannot be parsed", { tasks: { replicas: 1 } }],
  ] as const)
    test(`is not observed for a job that ${what}`, () =>
      assert.deepEqual(told(spec, undefined, { ...pending, pending: 1 }), []));
});

describe("the gauges count", () => {
  const rows: readonly (readonly [string, readonly MetricSample[], readonly string[]])[] = [
    [
      "a completed job, as upstream labels it",
      gaugesOfJob(stored("Job", { queue: "q" }, state("Completed"))),
      ["jobs{phase=Completed,queue_name=q} 1", place, "job_completed_phase_count{job_name=ns/j,queue_name=q} 1"],
    ],
    [
      "a failed job, in the default queue",
      gaugesOfJob(stored("Job", {}, state("Failed"))),
      ["jobs{phase=Failed,queue_name=default} 1", place, "job_failed_phase_count{job_name=ns/j,queue_name=default} 1"],
    ],
    [
      "a running job",
      gaugesOfJob(stored("Job", {}, state("Running"))),
      ["jobs{phase=Running,queue_name=default} 1", place],
    ],
    ["no job without a status", gaugesOfJob(stored("Job", {})), []],
    [
      "a group of its queue",
      gaugesOfGroup(stored("PodGroup", { queue: "q" }, { phase: "Inqueue" })),
      ["queue_pod_group_inqueue_count{queue_name=q} 1"],
    ],
    [
      "a group without a status, as pending",
      gaugesOfGroup(stored("PodGroup", { queue: "q" })),
      ["queue_pod_group_pending_count{queue_name=q} 1", "groups_waiting{queue_name=q,reason=other} 1"],
    ],
    [
      "a group that lacks room",
      gaugesOfGroup(annotated("rekindle.dev/lacks-room-since")),
      ["queue_pod_group_pending_count{queue_name=q} 1", "groups_waiting{queue_name=q,reason=room} 1"],
    ],
    [
      "a group that was taken back",
      gaugesOfGroup(annotated("rekindle.dev/taken-back")),
      ["queue_pod_group_pending_count{queue_name=q} 1", "groups_waiting{queue_name=q,reason=taken back} 1"],
    ],
    [
      "a queue, zeros for its groups, and its allocated resources",
      gaugesOfQueue(stored("Queue", {}, { state: "Open", allocated: { cpu: "1500m", memory: "1Ki", odd: "x" } })),
      [
        "queues{state=Open} 1",
        "queue_pod_group_pending_count{queue_name=j} 0",
        "queue_pod_group_inqueue_count{queue_name=j} 0",
        "queue_pod_group_running_count{queue_name=j} 0",
        "queue_pod_group_unknown_count{queue_name=j} 0",
        "queue_pod_group_completed_count{queue_name=j} 0",
        "queue_allocated{queue_name=j,resource=cpu} 1.5",
        "queue_allocated{queue_name=j,resource=memory} 1024",
      ],
    ],
  ];
  for (const [what, measures, want] of rows) test(what, () => assert.deepEqual(lines(measures), want));
});

test("upstream's names have upstream's labels", () => {
  const upstreams = volcanoFigures.filter(({ name }) => name.startsWith("volcano_"));
  assert.deepEqual(
    upstreams.map(({ name, kind, labels }) => `${kind} ${name} ${labels.join(",")}`),
    [
      "counter volcano_job_completed_phase_count job_name,queue_name",
      "counter volcano_job_failed_phase_count job_name,queue_name",
      "histogram volcano_controller_job_to_pod_creation_latency_milliseconds ",
      "gauge volcano_controller_job_e2e_creation_duration_milliseconds job_name,queue,job_namespace",
      "gauge volcano_queue_pod_group_pending_count queue_name",
      "gauge volcano_queue_pod_group_inqueue_count queue_name",
      "gauge volcano_queue_pod_group_running_count queue_name",
      "gauge volcano_queue_pod_group_unknown_count queue_name",
      "gauge volcano_queue_pod_group_completed_count queue_name",
    ],
  );
});
