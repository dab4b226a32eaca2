/**
 * The lifetimes of a run's ended executors. The record keeps them when the pods are gone, for the timeline and for what
 * losses cost. No decision reads them; the status does, where it is older than the record.
 */
import * as z from "zod";
import type { Stored } from "../../core/object.ts";
import { instantOf } from "../../core/time.ts";
import { nodeNameOf, startedAt } from "../../kube/pods.ts";
import { type LossReason, lossReasons, losses as lossTable } from "./losses.ts";

/**
 * One executor: its id; when its pod was created, epoch s; its start (-1: none) and its end, seconds after that; its node
 * ("": none); the reason of its end.
 */
const lifetime = z.tuple([z.int(), z.int(), z.int(), z.int(), z.string(), z.enum(lossReasons)]);

export const lifetimeFields = {
  /** The latest ended executors, oldest first. */
  lifetimes: z.array(lifetime).optional(),
  /** Seconds that all ended executors ran, and those that were lost. */
  ran: z.tuple([z.int(), z.int()]).optional(),
};

export type Lifetime = z.infer<typeof lifetime>;
export type Lifetimes = {
  readonly lifetimes?: Lifetime[] | undefined;
  readonly ran?: [number, number] | undefined;
};

/** The most lifetimes of a run, and their bytes: of the present run, and of a past one. */
const most = 500;
export const presentBytes = 12_288;
export const pastBytes = 4_096;

/** The latest lifetimes that fit. */
export const fitting = (lifetimes: readonly Lifetime[], bytes: number): Lifetime[] => {
  let room = bytes;
  const first = lifetimes.findLastIndex((one) => {
    room -= Buffer.byteLength(JSON.stringify(one)) + 1;
    return room < 0;
  });
  return lifetimes.slice(Math.max(first + 1, lifetimes.length - most));
};

const secondsAfter = (at: number, from: number): number => Math.max(0, Math.round((at - from) / 1_000));

/** The lifetime of an executor whose pod is there; none where the pod does not say when it was created. */
export const lifetimeOf = (id: number, pod: Stored, reason: LossReason, end: number): readonly Lifetime[] => {
  const created = instantOf(pod.metadata.creationTimestamp);
  if (created === undefined) return [];
  const start = startedAt(pod);
  const up = start === undefined ? -1 : secondsAfter(start, created);
  const ended = Math.max(up, secondsAfter(end, created));
  return [[id, Math.floor(created / 1_000), up, ended, nodeNameOf(pod) ?? "", reason]];
};

const secondsOf = (lifetimes: readonly Lifetime[]): number =>
  lifetimes.reduce((sum, [, , up, end]) => sum + (up < 0 ? 0 : end - up), 0);

/** Adds executors that have ended. One that is already there is not added again. */
export const withLifetimes = ({ lifetimes = [], ran }: Lifetimes, more: readonly Lifetime[]): Lifetimes => {
  const known = new Set(lifetimes.map(([id]) => id));
  const added = more.filter(([id]) => !known.has(id));
  const [all = 0, lost = 0] = ran ?? [];
  if (added.length === 0) return ran === undefined ? {} : { lifetimes, ran };
  const wanted = added.filter(([, , , , , reason]) => lossTable[reason].hasEvent);
  return {
    lifetimes: fitting([...lifetimes, ...added], presentBytes),
    ran: [all + secondsOf(added), lost + secondsOf(wanted)],
  };
};
