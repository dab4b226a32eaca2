/** Executors that Spark does not repair: never started, on dead nodes, unknown to the driver. */
import type { ProbeResult } from "../../../../../shared/core/plan.ts";
import { type Short, uidOf } from "../../executors/pods.ts";
import {
  ask,
  at,
  both,
  doneSo,
  heard,
  hidden,
  living,
  node,
  old,
  pending,
  type Row,
  registered,
  tested,
  young,
} from "../attended.ts";
import { eight } from "../fixtures.ts";

const unready = { unready: "2026-11-02T07:59:48Z" } as const;
const look = "getIfAllowed nodes node-1";
const stuck = { id: 2, ...pending, created: "2026-11-02T07:55:00Z" };
const unplaced = "2 does not start: Unschedulable: no node takes it; make room in the cluster, or ask for less";
const unpulled = "3 does not start: ImagePullBackOff; correct the image's name, or the secret that it is pulled with";

/** Executors that Spark does not repair. */
const mended: readonly Row[] = [
  {
    why: "waits for an Unschedulable executor and records the Event PodNotStarting",
    executors: [
      ...both.slice(0, 1),
      { id: 2, ...pending, unscheduled: "Unschedulable", created: "2026-11-02T07:56:00Z" },
    ],
    does: [`tell PodNotStarting: executor pod pi-exec-${unplaced}`],
    wakeAt: at("08:01:00"),
  },
  {
    why: "deletes an Unschedulable executor after its timeout, with the reason",
    ledger: living([1, 2]),
    executors: [...both.slice(0, 1), { ...stuck, unscheduled: "Unschedulable" }],
    looks: ["list pods"],
    does: ["delete pi-exec-2 at 1"],
    care: { stuck: { times: 1, last: 2 } },
  },
  {
    why: "keeps an Unschedulable executor after its timeout if a second list shows it otherwise, and looks again",
    ledger: living([1, 2]),
    executors: [...both.slice(0, 1), { ...stuck, unscheduled: "Unschedulable" }],
    again: both.slice(0, 1),
    looks: ["list pods"],
    does: [`tell PodNotStarting: executor pod pi-exec-${unplaced}`],
    pollMs: 1_000,
  },
  {
    why: "waits twice as long for the next executor",
    ledger: living([1], { care: { stuck: { times: 1, last: 2 } } }),
    executors: [...both.slice(0, 1), { ...stuck, id: 3, waiting: "ImagePullBackOff" }],
    looks: ["list events"],
    does: [`tell PodNotStarting: executor pod pi-exec-${unpulled}`],
    wakeAt: at("08:05:00"),
    care: { stuck: { times: 1, last: 2 } },
  },
  {
    why: "resets the timeout when an executor starts",
    ledger: living([1], { care: { stuck: { times: 3, last: 2 } } }),
    executors: [...both.slice(0, 1), { id: 3, ...young }],
    does: [],
  },
  {
    why: "deletes an executor without its image after the annotation's timeout",
    annotations: { "rekindle.dev/executor-pending-timeout": "10s" },
    ledger: living([1, 2]),
    executors: [...both.slice(0, 1), { id: 2, ...pending, waiting: "ErrImagePull", created: "2026-11-02T07:59:50Z" }],
    looks: ["list pods"],
    does: ["delete pi-exec-2 at 1"],
    care: { stuck: { times: 1, last: 2 } },
  },
  {
    why: "deletes a Pending executor without a container status after its timeout",
    annotations: { "rekindle.dev/executor-pending-timeout": "10s" },
    ledger: living([1, 2]),
    executors: [...both.slice(0, 1), { id: 2, ...pending, container: null, created: "2026-11-02T07:59:50Z" }],
    looks: ["list pods"],
    does: ["delete pi-exec-2 at 1"],
    care: { stuck: { times: 1, last: 2 } },
  },
  {
    why: "records a deleted executor that never started with its reason when it is gone",
    ledger: living([1, 2], {
      doomed: [{ id: 2, uid: uidOf(2), pod: "pi-exec-2", reason: "neverStarted", why: "imagePull: no", at: eight }],
    }),
    executors: both.slice(0, 1),
    looks: ["list pods"],
    does: ["tell ExecutorLost: Executor 2 (pod pi-exec-2) was lost: neverStarted (imagePull: no)"],
    lost: { neverStarted: 1 },
  },
  {
    why: "keeps the reason of an earlier step's deletion while that deletion may still arrive",
    ledger: living([1, 2], {
      doomed: [{ id: 2, uid: uidOf(2), pod: "pi-exec-2", reason: "node", why: "silent", at: eight - 10_000 }],
    }),
    executors: both,
    does: [],
    doomed: [2],
    wakeAt: at("08:00:06"),
  },
  {
    why: "drops the reason of an earlier step's deletion when the deletion can no longer arrive",
    ledger: living([1, 2], {
      doomed: [{ id: 2, uid: uidOf(2), pod: "pi-exec-2", reason: "node", why: "silent", at: eight - 16_000 }],
    }),
    executors: both,
    does: [],
    doomed: [],
  },
  {
    why: "does not lengthen the timeout because of a reported loss in the same step",
    ledger: living([1, 2, 3]),
    executors: [
      ...both.slice(0, 1),
      { id: 2, ...pending, unscheduled: "Unschedulable", created: "2026-11-02T07:55:00Z" },
      { id: 3, phase: "Failed", exit: 1, finishedAt: "2026-11-02T07:59:58Z" },
    ],
    looks: ["list pods"],
    does: [
      "delete pi-exec-2 at 1",
      "tell ExecutorLost: Executor 3 (pod pi-exec-3, node node-1) was lost: failed (exit 1, an error, often at its start)",
    ],
    lost: { failed: 1 },
    care: { stuck: { times: 1, last: 2 } },
    doomed: [2],
    wakeAt: at("08:05:00"),
  },
];

type OnNode = Partial<Row> & { readonly ends?: true; readonly executor?: Partial<Short> };

/** An unready executor on a node of which the API server says this; `ends`: it is deleted by force. */
const onNode = (why: string, said: ProbeResult, { ends, executor, ...more }: OnNode = {}): Row => ({
  ...{ why, ledger: living([1, 2]), hears: { "node-1": said } },
  executors: [...both.slice(0, 1), { ...both[1], id: 2, ...unready, ...executor }],
  ...(ends === true ? { looks: [look, "list pods"], does: ["force pi-exec-2 at 1"] } : { looks: [look], does: [] }),
  ...more,
});

const longSilent = node("Unknown", "2026-11-02T07:00:00Z");
const waiting = { annotations: { "rekindle.dev/unreachable-executors": "wait" } };

/** Executors on nodes that do not answer. */
const stranded: readonly Row[] = [
  onNode("waits for an executor whose node has just become silent", node("Unknown", "2026-11-02T07:59:55Z"), {
    wakeAt: at("08:00:05"),
  }),
  onNode("deletes an executor by force after its node's grace", node("Unknown", "2026-11-02T07:59:50Z"), {
    ends: true,
  }),
  onNode(
    "deletes by force an executor whose deletion a dead node does not finish",
    node("False", "2026-11-02T07:59:50Z"),
    {
      ...{ ends: true, executor: { deletion: "2026-11-02T07:59:00Z" } },
      ...{ ledger: living([1], { over: "2", lost: { node: 1 } }), lost: { node: 1 } },
    },
  ),
  onNode("keeps an executor with a claim while its node is only silent", longSilent, { executor: { claim: true } }),
  onNode("keeps every executor on a silent node if the annotation says wait", longSilent, waiting),
  onNode("deletes an executor with a claim by force if its node was deleted", heard(undefined), {
    ...{ ends: true, executor: { claim: true } },
  }),
  onNode(
    "deletes an executor by force if its node has the out-of-service taint",
    node("Unknown", "2026-11-02T07:59:59Z", ["node.kubernetes.io/out-of-service"]),
    { ...waiting, ends: true },
  ),
  onNode("leaves an unready executor alone if its node answers", node("True", "2026-11-02T07:00:00Z")),
  onNode("keeps an unready executor without the right to read nodes, and tries the read again", hidden, {
    pollMs: 15_000,
  }),
  onNode(
    "deletes by force an executor with DeletionByTaintManager past its grace, without the right to read nodes",
    hidden,
    { ends: true, executor: { disrupted: "DeletionByTaintManager", deletion: "2026-11-02T07:59:59Z" } },
  ),
];

/** The user has set a registration timeout. */
const timed = { "rekindle.dev/executor-registration-timeout": "5m" };

/** Cases that only the driver's answer decides. */
const known: readonly Row[] = [
  {
    why: "queries the driver for its executors once they have run for a while",
    annotations: timed,
    ledger: living([1, 2]),
    executors: old,
    hears: { allexecutors: registered({ 1: [true, 1, 5], 2: [true, 1, 6] }) },
    looks: [ask],
    wakeAt: at("08:02:30"),
    does: [],
    care: doneSo(11, [2, 2]),
  },
  {
    why: "does not query the driver again soon",
    ledger: living([1, 2], { care: { pulse: { at: at("07:59:30"), tasks: 11, movedAt: at("07:59:30") } } }),
    executors: old,
    does: [],
    care: { pulse: { at: at("07:59:30"), tasks: 11, movedAt: at("07:59:30") } },
  },
  {
    why: "deletes an executor that the driver does not know",
    annotations: timed,
    ledger: living([1, 2]),
    executors: old,
    hears: { allexecutors: registered({ 1: [true, 1, 5] }) },
    looks: [ask, "list pods"],
    wakeAt: at("08:02:30"),
    does: ["delete pi-exec-2 at 1"],
    care: doneSo(5, [1, 1]),
  },
  {
    why: "keeps a young executor, which may still register",
    annotations: timed,
    ledger: living([1, 2]),
    executors: [...old.slice(0, 1), ...both.slice(1)],
    hears: { allexecutors: registered({ 1: [true, 1, 5] }) },
    looks: [ask],
    wakeAt: at("08:02:30"),
    does: [],
    care: doneSo(5, [1, 1]),
  },
  {
    why: "keeps an executor that the driver reports as inactive, and queries again",
    annotations: timed,
    ledger: living([1, 2]),
    executors: old,
    hears: { allexecutors: registered({ 1: [true, 1, 5], 2: [false] }) },
    looks: [ask],
    does: [],
    wakeAt: at("08:01:00"),
    care: doneSo(5, [1, 1], { inactive: [2] }),
  },
  {
    why: "deletes an executor that the driver reports as inactive again",
    annotations: timed,
    ledger: living([1, 2], {
      care: { pulse: { at: at("07:59:00"), tasks: 5, movedAt: at("07:59:00"), inactive: [2] } },
    }),
    executors: old,
    hears: { allexecutors: registered({ 1: [true, 1, 6], 2: [false] }) },
    looks: [ask, "list pods"],
    does: ["delete pi-exec-2 at 1"],
    wakeAt: at("08:01:00"),
    care: doneSo(6, [1, 1], { inactive: [2] }),
  },
  {
    why: "deletes nothing if the driver never answered",
    annotations: timed,
    ledger: living([1, 2]),
    executors: old,
    looks: [ask],
    does: [],
  },
  {
    why: "does not query a driver whose UI is off",
    sparkConf: { "spark.ui.enabled": "false" },
    ledger: living([1, 2]),
    executors: old,
    does: [],
  },
];

tested("the repair of executors", [...mended, ...stranded, ...known]);
