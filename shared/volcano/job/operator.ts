/** Job as the engine knows it: what to watch, how to read its memory, how to decide. */

import { fieldsOf, isRecord } from "../../core/json.ts";
import type { Key } from "../../core/key.ts";
import type { Stored } from "../../core/object.ts";
import type { Operator } from "../../core/operator.ts";
import type { StateUpdate } from "../../core/outbox.ts";
import type { OwnedObjects, Plan, Rebuilt, Recovery, Remains } from "../../core/plan.ts";
import { podStatus } from "../../kube/pods.ts";
import type { Json } from "../../kube/responses.ts";
import { measuresOfJob } from "../metrics.ts";
import { component, type Phase } from "../schema/resource.ts";
import { groupsOf, podsOf } from "./context.ts";
import { decide } from "./decide.ts";
import { longestMessage, troubleWord } from "./events.ts";
import { isFinished } from "./machine.ts";
import { entered, type Memory, parseMemory, salvageMemory, seeded } from "./memory.ts";
import { type Member, membersOf } from "./pods.ts";
import { jobWatcher } from "./watches.ts";

/** Pods and groups. The step that shows the job's end deletes the pods' shared objects; claims hold data, and stay. */
const ownedObjects = (key: Key, uid: string): OwnedObjects => ({
  queries: [podsOf(key), ...groupsOf(key, uid)],
  owners: [uid],
});

/** True for an unfinished pod. A finished one stays, as in a terminated job. */
const isLive = (object: Stored): boolean => !["Succeeded", "Failed"].includes(podStatus(object).phase ?? "");

const membersIn = ({ key, object, found: [pods = []] }: Remains): readonly Member[] =>
  membersOf({ name: key.name, uid: object.metadata.uid }, pods);

/** Takes unreadable fields from the status and the pods. If `seen` is unreadable, no missing pod is waited for. */
const rebuild = (remains: Remains): Rebuilt<Memory> => {
  const { object, now, stored } = remains;
  const { kept, problems } = salvageMemory(stored);
  const base = seeded(object, now);
  const members = membersIn(remains);
  const version = Math.max(kept.version ?? 0, base.version, ...members.map((member) => member.version));
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

/** Phases from which the job starts anew as the next version. A job on its way to an end goes on to that end. */
const atWork: ReadonlySet<Memory["phase"]> = new Set(["Pending", "Running"]);

/**
 * Returns the memory in a cluster to which no pod came along. A finished job stays finished, with its done pods. A job
 * at work becomes the next version and spends no retry; its active time begins anew when it runs.
 */
const voided = (memory: Memory): Memory => {
  const { retired: _, unknown: __, kept: ___, commands: ____, dismissed: _____, ...remembered } = memory;
  const bare = { ...remembered, seen: {}, failed: {}, leaving: {}, doomed: [] };
  if (isFinished(memory.phase)) return bare;
  const { activeSince: ______, hindered: _______, ...rest } = bare;
  const anew = { ...rest, done: {}, completed: [], exhausted: [], delays: [] };
  if (!atWork.has(memory.phase)) return anew;
  return { ...anew, phase: "Pending", version: memory.version + 1 };
};

/** Terminates the job, which no command undoes, and cancels its delayed actions. */
const ended = (memory: Memory, now: number, message: string): Memory => {
  if (isFinished(memory.phase) && memory.phase !== "Aborted") return memory;
  const over = entered({ ...memory, seen: {}, doomed: [], delays: [] }, "Terminated", now);
  return { ...over, why: { reason: "TerminateJob", message } };
};

/** Drops or shortens texts for people, and keeps the fields that steps decide by. */
const trimmed = ({ untold: _, hindered: __, why, ...memory }: Memory): Memory =>
  why === undefined ? memory : { ...memory, why: { ...why, message: why.message.slice(0, longestMessage / 4) } };

/**
 * Recovery of a Job: which objects it owns, which fields of a damaged memory are kept, and what its memory means in
 * another cluster. A version of its pods is never handed out twice: the highest version found counts.
 */
export const recovery: Recovery<Memory> = { ownedObjects, isLive, rebuild, voided, ended, trimmed };

/** Terminal phases. Aborted is not one: an aborted job may be resumed. */
const ends: ReadonlySet<Phase> = new Set(["Completed", "Terminated", "Failed"]);

const messageIn = ({ status, memory }: Plan<Memory>): string | undefined => {
  const state = status?.["state"];
  const message = isRecord(state) ? state["message"] : memory.why?.message;
  return typeof message === "string" && message !== "" ? message : undefined;
};

/** The status update that a plan for a Job causes: the phase, and the message of the status. */
export const tells = (plan: Plan<Memory>): StateUpdate => {
  const { phase, retryCount } = plan.memory;
  const message = messageIn(plan);
  return {
    ...{ state: phase, attempt: retryCount + 1, terminal: ends.has(phase) },
    ...(message === undefined ? {} : { message }),
  };
};

/** Returns the whole status with the given message in `state.message`, upstream's own field. */
const heldUp = (job: Stored, message: string): Json => {
  const status = fieldsOf(job["status"]);
  const state = isRecord(status["state"]) ? status["state"] : { phase: "Pending" };
  return { ...status, state: { ...state, message } };
};

export const volcanoJob: Operator<Memory> = {
  ...jobWatcher,
  component,
  parse: parseMemory,
  decide,
  tells,
  recovery,
  heldUp,
  troubleWord,
  measuresOf: measuresOfJob,
};
