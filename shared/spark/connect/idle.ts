/**
 * The end of a SparkConnect that nobody uses, by annotation: its object is deleted, and its server and executors go with it. Its
 * driver's REST API tells, through the API server's pod proxy, whether tasks run or have ended since the last question. Without
 * an answer nothing is deleted.
 */
import * as z from "zod";
import { type Line, lineOf, reader, type Span, spanText, spanUnits } from "../../core/annotation.ts";
import { proxyGet, type Reads } from "../../core/decision.ts";
import type { Stored } from "../../core/object.ts";
import type { Effect, Query } from "../../core/plan.ts";
import { pods } from "../../kube/resources.ts";
import { registeredIn, registeredQuery } from "../executors/driver-api.ts";
import { sparkConnects } from "../schema/resource.ts";
import type { Memory } from "./memory.ts";

const row = {
  form: "duration",
  annotation: "rekindle.dev/delete-when-idle",
  least: spanUnits.minute,
  most: 30 * spanUnits.day,
  meaning:
    "the SparkConnect is deleted when no task of its ready server has run for this long, as its driver's REST API says; sessions that run nothing do not count",
} as const satisfies Span;

/** Returns the annotations of a SparkConnect as lines for people. */
export const connectAnnotationLines = (): readonly (Line & { readonly kind: string })[] => [
  { kind: sparkConnects.kind, ...lineOf(row) },
];

/** The time without tasks after which a SparkConnect is deleted, ms, and what cannot be read of the annotation. */
export const idleLimitOf = (annotations: Readonly<Record<string, string>> = {}) => {
  const { span, problems } = reader(annotations);
  return { limitMs: span(row), problems };
};

/** The longest time between two questions, ms. */
const longestMs = 15 * spanUnits.minute;

const applications = z.array(z.looseObject({ id: z.string() })).nonempty();

/** The most executors in an answer: more than that are in use. */
const mostExecutors = 1_000;

const uiPort = 4_040;

const portOf = (sparkConf: Readonly<Record<string, string>> = {}): number => {
  const text = sparkConf["spark.ui.port"] ?? "";
  return /^[1-9]\d{0,4}$/.test(text) ? Number(text) : uiPort;
};

type Asked = { readonly server: Stored; readonly sparkConf: Readonly<Record<string, string>> | undefined };

/** Reads the tasks of the server: undefined without an answer. */
function* tasksOf({
  server,
  sparkConf,
}: Asked): Reads<{ readonly running: number; readonly ended: number } | undefined> {
  const { name, namespace = "" } = server.metadata;
  const [pod, port] = [{ resource: pods, namespace, name }, portOf(sparkConf)];
  const all: Extract<Query, { do: "proxyGet" }> = { do: "proxyGet", pod, port, path: ["api", "v1", "applications"] };
  const listed = yield* proxyGet(all);
  const [application] = applications.safeParse(listed.heard ? listed.value : undefined).data ?? [];
  if (application === undefined) return undefined;
  const word = registeredIn(yield* proxyGet(registeredQuery(pod, port, application.id, mostExecutors)));
  return word === undefined ? undefined : { running: word.runningTasks, ended: word.endedTasks };
}

/** The plan for an idle server. */
export type Idling = {
  /** The activity to remember. */
  readonly activity?: Memory["activity"];
  readonly effects: readonly (readonly Effect[])[];
  /** The time of the next question, epoch ms. */
  readonly wakeAt?: number;
};

/** The Event comes after the deletion, which fails where the SparkConnect has changed meanwhile, and says that it has happened. */
const removal = (object: Stored, limitMs: number): Idling["effects"] => {
  const { name, namespace = "", uid, resourceVersion } = object.metadata;
  const message = `SparkConnect ${name}: no task has run for ${spanText(limitMs)}, so it is deleted, as ${row.annotation} says`;
  const event = { type: "Normal", reason: "SparkConnectIdle", message } as const;
  return [
    [{ do: "delete", ref: { resource: sparkConnects, namespace, name }, uid, resourceVersion }],
    [{ do: "record", about: object, resource: sparkConnects, occasion: uid, ...event }],
  ];
};

/** Asks a ready server whether it is used, and deletes its SparkConnect once it has not been for as long as its annotation says. */
export function* idling(object: Stored, asked: Asked, before: Memory["activity"], now: number): Reads<Idling> {
  const { limitMs } = idleLimitOf(object.metadata.annotations);
  if (limitMs === undefined) return { effects: [] };
  const { uid } = asked.server.metadata;
  const intervalMs = Math.min(limitMs / 2, longestMs);
  const known = before?.server === uid ? before : undefined;
  const due = (known?.since ?? 0) + intervalMs;
  if (known !== undefined && now < due) return { activity: known, effects: [], wakeAt: due };
  const tasks = yield* tasksOf(asked);
  const wakeAt = now + intervalMs;
  if (tasks === undefined) return { ...(known === undefined ? {} : { activity: known }), effects: [], wakeAt };
  const isUsed = known === undefined || tasks.running > 0 || tasks.ended !== known.ended;
  if (isUsed) return { activity: { server: uid, since: now, ended: tasks.ended }, effects: [], wakeAt };
  const end = known.since + limitMs;
  if (now >= end) return { activity: known, effects: removal(object, limitMs) };
  return { activity: known, effects: [], wakeAt: Math.min(wakeAt, end) };
}
