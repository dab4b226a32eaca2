/** Executors that Spark does not repair: never started, on dead nodes, unknown to the driver. */
import { uidOf } from "../../executors/pods.ts";
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
    why: "one that finds no node is borne for a while, and waited for",
    executors: [
      ...both.slice(0, 1),
      { id: 2, ...pending, unscheduled: "Unschedulable", created: "2026-11-02T07:56:00Z" },
    ],
    does: [`tell PodNotStarting: executor pod pi-exec-${unplaced}`],
    wakeAt: at("08:01:00"),
  },
  {
    why: "and then deleted, with its reason",
    ledger: living([1, 2]),
    executors: [...both.slice(0, 1), { ...stuck, unscheduled: "Unschedulable" }],
    does: ["delete pi-exec-2 at 1"],
    care: { stuck: { times: 1, last: 2 } },
  },
  {
    why: "the next one twice as long",
    ledger: living([1], { care: { stuck: { times: 1, last: 2 } } }),
    executors: [...both.slice(0, 1), { ...stuck, id: 3, waiting: "ImagePullBackOff" }],
    looks: ["list events"],
    does: [`tell PodNotStarting: executor pod pi-exec-${unpulled}`],
    wakeAt: at("08:05:00"),
    care: { stuck: { times: 1, last: 2 } },
  },
  {
    why: "until one comes up: then patience begins anew",
    ledger: living([1], { care: { stuck: { times: 3, last: 2 } } }),
    executors: [...both.slice(0, 1), { id: 3, ...young }],
    does: [],
  },
  {
    why: "one whose image cannot be pulled, as its annotation asks",
    annotations: { "rekindle.dev/executor-pending-timeout": "10s" },
    ledger: living([1, 2]),
    executors: [...both.slice(0, 1), { id: 2, ...pending, waiting: "ErrImagePull", created: "2026-11-02T07:59:50Z" }],
    does: ["delete pi-exec-2 at 1"],
    care: { stuck: { times: 1, last: 2 } },
  },
  {
    why: "one that its node says nothing of: a volume, say",
    annotations: { "rekindle.dev/executor-pending-timeout": "10s" },
    ledger: living([1, 2]),
    executors: [...both.slice(0, 1), { id: 2, ...pending, container: null, created: "2026-11-02T07:59:50Z" }],
    does: ["delete pi-exec-2 at 1"],
    care: { stuck: { times: 1, last: 2 } },
  },
  {
    why: "what was ended for that is recorded when it is gone, with what was said",
    ledger: living([1, 2], {
      doomed: [{ id: 2, uid: uidOf(2), pod: "pi-exec-2", reason: "neverStarted", why: "imagePull: no", at: eight }],
    }),
    executors: both.slice(0, 1),
    looks: ["list pods"],
    does: ["tell ExecutorLost: Executor 2 (pod pi-exec-2) was lost: neverStarted (imagePull: no)"],
    lost: { neverStarted: 1 },
  },
  {
    why: "what an earlier step was about to end, and a list from before shows as it was, keeps its reason",
    ledger: living([1, 2], {
      doomed: [{ id: 2, uid: uidOf(2), pod: "pi-exec-2", reason: "node", why: "silent", at: eight - 10_000 }],
    }),
    executors: both,
    does: [],
    doomed: [2],
    wakeAt: at("08:00:06"),
  },
  {
    why: "until nothing of that step can arrive any more",
    ledger: living([1, 2], {
      doomed: [{ id: 2, uid: uidOf(2), pod: "pi-exec-2", reason: "node", why: "silent", at: eight - 16_000 }],
    }),
    executors: both,
    does: [],
    doomed: [],
  },
  {
    why: "a loss that is told beside it makes nobody's patience longer",
    ledger: living([1, 2, 3]),
    executors: [
      ...both.slice(0, 1),
      { id: 2, ...pending, unscheduled: "Unschedulable", created: "2026-11-02T07:55:00Z" },
      { id: 3, phase: "Failed", exit: 1, finishedAt: "2026-11-02T07:59:58Z" },
    ],
    does: [
      "delete pi-exec-2 at 1",
      "tell ExecutorLost: Executor 3 (pod pi-exec-3, node node-1) was lost: failed (exit 1, an error, often at its start)",
    ],
    lost: { failed: 1 },
    care: { stuck: { times: 1, last: 2 } },
    doomed: [2],
    wakeAt: at("08:05:00"),
  },
  {
    why: "one on a node that has just stopped to answer is waited for",
    ledger: living([1, 2]),
    executors: [...both.slice(0, 1), { ...both[1], id: 2, ...unready }],
    hears: { "node-1": node("Unknown", "2026-11-02T07:59:55Z") },
    looks: [look],
    does: [],
    wakeAt: at("08:00:05"),
  },
  {
    why: "and after its grace freed by force, for nobody is there to end it",
    ledger: living([1, 2]),
    executors: [...both.slice(0, 1), { ...both[1], id: 2, ...unready }],
    hears: { "node-1": node("Unknown", "2026-11-02T07:59:50Z") },
    looks: [look],
    does: ["force pi-exec-2 at 1"],
  },
  {
    why: "also one whose deletion the dead node does not carry out",
    ledger: living([1], { over: "2", lost: { node: 1 } }),
    executors: [...both.slice(0, 1), { ...both[1], id: 2, ...unready, deletion: "2026-11-02T07:59:00Z" }],
    hears: { "node-1": node("False", "2026-11-02T07:59:50Z") },
    looks: [look],
    does: ["force pi-exec-2 at 1"],
    lost: { node: 1 },
  },
  {
    why: "one with a claim keeps its place until the node is certainly gone",
    ledger: living([1, 2]),
    executors: [...both.slice(0, 1), { ...both[1], id: 2, ...unready, claim: true }],
    hears: { "node-1": node("Unknown", "2026-11-02T07:00:00Z") },
    looks: [look],
    does: [],
  },
  {
    why: "as all do where the annotation says so",
    annotations: { "rekindle.dev/unreachable-executors": "wait" },
    ledger: living([1, 2]),
    executors: [...both.slice(0, 1), { ...both[1], id: 2, ...unready }],
    hears: { "node-1": node("Unknown", "2026-11-02T07:00:00Z") },
    looks: [look],
    does: [],
  },
  {
    why: "which it is when it was deleted",
    ledger: living([1, 2]),
    executors: [...both.slice(0, 1), { ...both[1], id: 2, ...unready, claim: true }],
    hears: { "node-1": heard(undefined) },
    looks: [look],
    does: ["force pi-exec-2 at 1"],
  },
  {
    why: "or an operator says that the machine is off",
    annotations: { "rekindle.dev/unreachable-executors": "wait" },
    ledger: living([1, 2]),
    executors: [...both.slice(0, 1), { ...both[1], id: 2, ...unready }],
    hears: { "node-1": node("Unknown", "2026-11-02T07:59:59Z", ["node.kubernetes.io/out-of-service"]) },
    looks: [look],
    does: ["force pi-exec-2 at 1"],
  },
  {
    why: "one that is not ready on a node that answers is its own affair",
    ledger: living([1, 2]),
    executors: [...both.slice(0, 1), { ...both[1], id: 2, ...unready }],
    hears: { "node-1": node("True", "2026-11-02T07:00:00Z") },
    looks: [look],
    does: [],
  },
  {
    why: "where nodes are hidden, one that is not ready proves nothing, and its node is asked for again",
    ledger: living([1, 2]),
    executors: [...both.slice(0, 1), { ...both[1], id: 2, ...unready }],
    hears: { "node-1": hidden },
    looks: [look],
    does: [],
    pollMs: 15_000,
  },
  {
    why: "but one that was taken from its node, and not ended in its grace, does",
    ledger: living([1, 2]),
    executors: [
      ...both.slice(0, 1),
      { ...both[1], id: 2, ...unready, disrupted: "DeletionByTaintManager", deletion: "2026-11-02T07:59:59Z" },
    ],
    hears: { "node-1": hidden },
    looks: [look],
    does: ["force pi-exec-2 at 1"],
  },
];

/** The user has set a registration timeout. */
const timed = { "rekindle.dev/executor-registration-timeout": "5m" };

/** Cases that only the driver's answer decides. */
const known: readonly Row[] = [
  {
    why: "once executors have run for a while, the driver is asked for them",
    annotations: timed,
    ledger: living([1, 2]),
    executors: old,
    hears: { allexecutors: registered({ 1: [true, 1, 5], 2: [true, 1, 6] }) },
    looks: [ask],
    wakeAt: at("08:02:30"),
    does: [],
    care: doneSo(11),
  },
  {
    why: "and not again soon",
    ledger: living([1, 2], { care: { pulse: { at: at("07:59:30"), tasks: 11, movedAt: at("07:59:30") } } }),
    executors: old,
    does: [],
    care: { pulse: { at: at("07:59:30"), tasks: 11, movedAt: at("07:59:30") } },
  },
  {
    why: "one that it does not know is ended",
    annotations: timed,
    ledger: living([1, 2]),
    executors: old,
    hears: { allexecutors: registered({ 1: [true, 1, 5] }) },
    looks: [ask],
    wakeAt: at("08:02:30"),
    does: ["delete pi-exec-2 at 1"],
    care: doneSo(5),
  },
  {
    why: "one that is young may still register",
    annotations: timed,
    ledger: living([1, 2]),
    executors: [...old.slice(0, 1), ...both.slice(1)],
    hears: { allexecutors: registered({ 1: [true, 1, 5] }) },
    looks: [ask],
    wakeAt: at("08:02:30"),
    does: [],
    care: doneSo(5),
  },
  {
    why: "one that it has given up is doubted, and asked for again",
    annotations: timed,
    ledger: living([1, 2]),
    executors: old,
    hears: { allexecutors: registered({ 1: [true, 1, 5], 2: [false] }) },
    looks: [ask],
    does: [],
    wakeAt: at("08:01:00"),
    care: doneSo(5, { inactive: [2] }),
  },
  {
    why: "and ended when it is still so",
    annotations: timed,
    ledger: living([1, 2], {
      care: { pulse: { at: at("07:59:00"), tasks: 5, movedAt: at("07:59:00"), inactive: [2] } },
    }),
    executors: old,
    hears: { allexecutors: registered({ 1: [true, 1, 6], 2: [false] }) },
    looks: [ask],
    does: ["delete pi-exec-2 at 1"],
    wakeAt: at("08:01:00"),
    care: doneSo(6, { inactive: [2] }),
  },
  {
    why: "a driver that never answered is not missed, and nothing is ended for lack of evidence",
    annotations: timed,
    ledger: living([1, 2]),
    executors: old,
    looks: [ask],
    does: [],
  },
  {
    why: "nor asked where its UI is off",
    sparkConf: { "spark.ui.enabled": "false" },
    ledger: living([1, 2]),
    executors: old,
    does: [],
  },
];

tested("what is mended", [...mended, ...known]);
