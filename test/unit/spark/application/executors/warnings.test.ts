/** Warnings about a run as a whole: when they are recorded and reported, and the annotations that act on them. */
import { ask, at, both, doneSo, failed, living, lostOnce, old, type Row, registered, tested } from "../attended.ts";
import { eight } from "../fixtures.ts";

const silent = { pulse: { at: at("07:59:00"), tasks: 5, movedAt: at("07:50:00"), silentSince: at("07:55:00") } };
const still = { pulse: { at: at("07:45:00"), tasks: 5, movedAt: at("07:30:00") } };

/** Warnings about the run as a whole. */
const wrong: readonly Row[] = [
  {
    why: "records the time of the last executor's loss and sets a timer",
    ledger: living([1]),
    instances: 1,
    executors: [{ id: 1, ...failed, exit: 1 }],
    does: [
      "tell ExecutorLost: Executor 1 (pod pi-exec-1, node node-1) was lost: failed (exit 1, an error, often at its start)",
    ],
    lost: { failed: 1 },
    wakeAt: at("08:01:00"),
    care: { goneSince: eight },
  },
  {
    why: "leads to the Event ExecutorsGone after a minute without executors",
    ledger: living([], { ...lostOnce, care: { goneSince: at("07:59:00") } }),
    does: ["tell ExecutorsGone: no executor has been running for 1m"],
    lost: { failed: 1 },
    waits: /no executor has been running for 1m/,
    care: { goneSince: at("07:59:00"), trouble: { is: "executorsGone", since: at("07:59:00") } },
  },
  {
    why: "leads to the Event ExecutorsGone once",
    ledger: living([], {
      ...lostOnce,
      care: { goneSince: at("07:59:00"), trouble: { is: "executorsGone", since: at("07:59:00") } },
    }),
    does: [],
    lost: { failed: 1 },
    waits: /no executor has been running for 1m/,
    care: { goneSince: at("07:59:00"), trouble: { is: "executorsGone", since: at("07:59:00") } },
  },
  {
    why: "clears the trouble when an executor runs again",
    ledger: living([], {
      ...lostOnce,
      care: { goneSince: at("07:59:00"), trouble: { is: "executorsGone", since: at("07:59:00") } },
    }),
    executors: both.slice(0, 1),
    does: [],
    lost: { failed: 1 },
  },
  {
    why: "is FAILED without executors if the annotation says fail",
    annotations: { "rekindle.dev/on-executors-gone": "fail" },
    ledger: living([], { ...lostOnce, care: { goneSince: at("07:59:00") } }),
    does: [
      "tell ExecutorsGone: no executor has been running for 1m",
      "delete spark-pi-driver",
      "tell SparkDriverFailed",
      "tell SparkApplicationFailed",
    ],
    phase: "FAILED",
    lost: { failed: 1 },
  },
  {
    why: "is run again without executors if the annotation says restart",
    annotations: { "rekindle.dev/on-executors-gone": "restart" },
    ledger: living([], { ...lostOnce, care: { goneSince: at("07:59:00") } }),
    does: [
      "tell ExecutorsGone: no executor has been running for 1m",
      "delete spark-pi-driver",
      "tell SparkDriverFailed",
    ],
    wakeAt: at("08:00:05"),
    phase: "FAILING",
    lost: { failed: 1 },
  },
  {
    why: "records the time since which a driver that answered before is silent",
    ledger: living([1, 2], { care: { pulse: { at: at("07:30:00"), tasks: 5, movedAt: at("07:30:00") } } }),
    executors: old,
    looks: [ask],
    does: [],
    wakeAt: at("08:05:00"),
    care: { pulse: { at: eight, tasks: 5, movedAt: at("07:30:00"), silentSince: eight } },
  },
  {
    why: "leads to the Event DriverSilent after five minutes of silence",
    ledger: living([1, 2], { care: silent }),
    executors: old,
    looks: [ask],
    does: ["tell DriverSilent: the driver's REST API answered before, and has not answered for 5m"],
    waits: /answered before/,
    care: { pulse: silent.pulse, trouble: { is: "driverSilent", since: at("07:55:00") } },
  },
  {
    why: "is FAILED with a silent driver if the annotation says fail",
    annotations: { "rekindle.dev/on-driver-hang": "fail" },
    ledger: living([1, 2], { care: silent }),
    executors: old,
    looks: [ask],
    does: [
      "tell DriverSilent: the driver's REST API answered before, and has not answered for 5m",
      ...["delete spark-pi-driver", "delete pi-exec-1", "delete pi-exec-2"],
      ...["tell SparkDriverFailed", "tell SparkApplicationFailed"],
    ],
    phase: "FAILED",
  },
  {
    why: "leads to the Event DriverStalled if tasks run and none has ended for 30 minutes",
    ledger: living([1, 2], { care: still }),
    executors: old,
    hears: { allexecutors: registered({ 1: [true, 1, 5], 2: [true] }) },
    looks: [ask],
    does: ["tell DriverStalled: tasks are running, and none has ended for 30m"],
    waits: /none has ended for 30m/,
    care: { pulse: still.pulse, trouble: { is: "driverStalled", since: at("07:30:00") } },
  },
  {
    why: "leads to no Event if the driver is idle",
    ledger: living([1, 2], { care: still }),
    executors: old,
    hears: { allexecutors: registered({ 1: [true, 0, 5], 2: [true] }) },
    looks: [ask],
    does: [],
    care: doneSo(5, [2, 0], { idle: true }),
  },
];

tested("a run without progress", wrong);
