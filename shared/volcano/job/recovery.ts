/**
 * How a Job comes back: which objects live for it, what of a damaged memory is kept, and what its memory means in another
 * cluster. A version of its pods is never handed out twice: of all that tells of versions, the highest counts.
 */
import type { Key } from "../../core/key.ts";
import type { Stored } from "../../core/object.ts";
import type { OwnedObjects, Rebuilt, Recovery, Remains } from "../../core/recovery.ts";
import { podStatus } from "../../kube/pods.ts";
import { groupsOf, podsOf } from "./context.ts";
import { longestMessage } from "./error-texts.ts";
import { isFinished } from "./machine.ts";
import { entered, type Memory, salvageMemory, seeded } from "./memory.ts";
import { type Member, membersOf } from "./pods.ts";

/** Pods and groups. What pods share goes with the end of the job, by the step that shows that end; claims hold data, and stay. */
const ownedObjects = (key: Key, uid: string): OwnedObjects => ({
  queries: [podsOf(key), ...groupsOf(key, uid)],
  owners: [uid],
});

/** A pod that has finished is history, as it is in a job that is terminated. */
const isLive = (object: Stored): boolean => !["Succeeded", "Failed"].includes(podStatus(object).phase ?? "");

const crewIn = ({ key, object, found: [pods = []] }: Remains): readonly Member[] =>
  membersOf({ name: key.name, uid: object.metadata.uid }, pods);

/** Fields that cannot be read are taken from the status and from the pods; pods that were seen once are no longer waited for. */
const rebuild = (remains: Remains): Rebuilt<Memory> => {
  const { object, now, stored } = remains;
  const { kept, problems } = salvageMemory(stored);
  const base = seeded(object, now);
  const crew = crewIn(remains);
  const version = Math.max(kept.version ?? 0, base.version, ...crew.map((member) => member.version));
  const memory: Memory = {
    ...base,
    ...kept,
    phase: kept.phase ?? base.phase,
    since: kept.since ?? base.since,
    version,
    retryCount: Math.max(kept.retryCount ?? 0, base.retryCount),
    keeps: kept.keeps ?? base.keeps,
    conditions: kept.conditions ?? base.conditions,
    seen: kept.seen ?? {},
    failed: kept.failed ?? {},
    done: kept.done ?? {},
    leaving: kept.leaving ?? {},
    completed: kept.completed ?? [],
    exhausted: kept.exhausted ?? [],
    doomed: kept.doomed ?? [],
    delays: kept.delays ?? [],
    forwarding: kept.forwarding ?? base.forwarding,
  };
  return { memory, kept: Object.keys(kept), problems };
};

/** A job on its way to an end goes on to that end; one that was at work has its pods made anew, as another version. */
const atWork: ReadonlySet<Memory["phase"]> = new Set(["Pending", "Running"]);

/**
 * No pod came along. A job that has ended stays so, with what its pods have done. A run under way becomes the next
 * version, and spends no retry; the time that it may take begins anew when it runs.
 */
const voided = (memory: Memory): Memory => {
  const { retired: _, unknown: __, kept: ___, commands: ____, dismissed: _____, ...told } = memory;
  const bare = { ...told, seen: {}, failed: {}, leaving: {}, doomed: [] };
  if (isFinished(memory.phase)) return bare;
  const { activeSince: ______, hindered: _______, ...rest } = bare;
  const anew = { ...rest, done: {}, completed: [], exhausted: [], delays: [] };
  if (!atWork.has(memory.phase)) return anew;
  return { ...anew, phase: "Pending", version: memory.version + 1 };
};

/** The job is terminated, which no command undoes; its policies and its waits are over. */
const ended = (memory: Memory, now: number, message: string): Memory => {
  if (isFinished(memory.phase) && memory.phase !== "Aborted") return memory;
  const over = entered({ ...memory, seen: {}, doomed: [], delays: [] }, "Terminated", now);
  return { ...over, why: { reason: "TerminateJob", message } };
};

/** What people read goes first; what steps decide by stays. */
const trimmed = ({ untold: _, hindered: __, why, ...memory }: Memory): Memory =>
  why === undefined ? memory : { ...memory, why: { ...why, message: why.message.slice(0, longestMessage / 4) } };

export const recovery: Recovery<Memory> = { ownedObjects, isLive, rebuild, voided, ended, trimmed };
