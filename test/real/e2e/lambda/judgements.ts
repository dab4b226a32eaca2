/** Lists the faults in the observations of this lane; pure, so that a test can make each judgement fail. */
import type { Ended, Entry, Kill } from "../../lambda/ledger.ts";
import type { Sent } from "./fixture.ts";
import type { Account, Change } from "./witness.ts";

/** Lists violations of: one driver pod per submission id, one driver alive at once, one submission id per attempt. */
export const driverFaults = ({ drivers, mostAlive }: Omit<Account, "states">, attempts: number): readonly string[] => {
  const bodies = [...drivers].filter(([, uids]) => uids.size !== 1).map(([id, uids]) => `${id}: ${uids.size} drivers`);
  return [
    ...bodies,
    ...(drivers.size === attempts ? [] : [`${drivers.size} attempts had drivers, expected ${attempts}`]),
    ...(mostAlive <= 1 ? [] : [`${mostAlive} drivers were alive at once`]),
  ];
};

export type Storm = {
  readonly kills: readonly Kill[];
  readonly stalls: readonly string[];
  readonly twice: number;
  readonly late: number;
  /** Messages in the dead-letter queue. */
  readonly dead: number;
};

/** Lists the ways in which the storm was too weak, and the messages that it lost. */
export const stormFaults = ({ kills, stalls, twice, late, dead }: Storm, least: number): readonly string[] => [
  ...(kills.length >= least ? [] : [`${kills.length} kills, ${least} are needed`]),
  ...(stalls.length > 0 ? [] : ["nothing was stopped in the middle"]),
  ...(twice > 0 ? [] : ["no message came twice"]),
  ...(late > 0 ? [] : ["no message came late"]),
  ...(dead === 0 ? [] : [`${dead} messages ended in the dead-letter queue`]),
];

/** Reasons that only the forwarder gives; a key that a resync sends does not count. */
const news = /^(Pod|SparkApplication) \S+ (new|changed|gone)$|^vanished$/;
/** Every application and its driver appears, and ends or is deleted. */
const fewestChanges = 20;

type Forwarded = {
  readonly changes: readonly Change[];
  readonly sent: readonly Sent[];
  readonly windows: readonly { readonly ended: Ended; readonly initMs?: number }[];
};

/** Level-triggered: after every change the forwarder must have sent its key, in this window or a later one. */
export const forwardFaults = ({ changes, sent, windows }: Forwarded): readonly string[] => {
  const forwarded = sent.filter(({ reason }) => news.test(reason));
  const missed = changes.filter(
    ({ name, since }) => !forwarded.some((message) => message.name === name && message.at >= since),
  );
  return [
    ...(changes.length >= fewestChanges ? [] : [`only ${changes.length} changes`]),
    ...missed.map(({ what }) => `never forwarded: ${what}`),
    ...(windows.every(({ initMs }) => initMs !== undefined) ? [] : ["a forwarder lived for more than one window"]),
  ];
};

/** Lists writes and failed invocations after the end. */
export const quietFaults = (
  writes: readonly object[],
  entries: readonly Pick<Entry, "name" | "ended">[],
): readonly string[] => [
  ...(writes.length === 0 ? [] : [`${writes.length} writes: ${JSON.stringify(writes.slice(0, 10))}`]),
  ...new Set(
    entries.filter(({ ended }) => ended !== "answered").map(({ name, ended }) => `an invocation of ${name} ${ended}`),
  ),
];
