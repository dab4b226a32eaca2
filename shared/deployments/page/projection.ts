/**
 * Projects an object, and its record where one is known, onto a row of the page. The words are those of `rekindle list`.
 */

import { fieldsOf, isRecord } from "../../core/json.ts";
import { keyKindOf, type Stored } from "../../core/object.ts";
import { oneLine, startOf } from "../../core/text.ts";
import { isUsual } from "../../core/waiting-on.ts";
import { everyKind, kindOf } from "../../inspection/kinds/all.ts";
import { type Outline, outlineOf, waitsIn } from "../../inspection/list.ts";
import { historyOf, lossesOf, lostCount, type RecordView } from "../../inspection/record.ts";
import { repairCommand, repairText } from "../../inspection/status.ts";
import { waitsOf as recordedWaits } from "../../inspection/waits.ts";
import { labelOf } from "../../kube/pods.ts";
import type { Json } from "../../kube/responses.ts";
import { type Group, groups, type QueueRow, type Row, type Segment } from "../../page/wire.ts";
import { groupOf as apacheGroupOf, isFailure, isSummary, summaries } from "../../spark/apache/status/summary.ts";

const ofApache = (...groups: readonly ReturnType<typeof apacheGroupOf>[]): readonly string[] =>
  Object.keys(summaries).filter((name) => isSummary(name) && groups.includes(apacheGroupOf(name)));

const held: ReadonlySet<string> = new Set(["SUSPENDING", "SUSPENDED", "Suspended", "Aborting", "Aborted"]);
const onItsWay: ReadonlySet<string> = new Set(["SUBMITTED", "RESUMING", "Provisioning", ...ofApache("starting")]);
const running: ReadonlySet<string> = new Set([
  ...["RUNNING", "SUCCEEDING", "Running", "Completing", "Ready", "Scheduled", "Active"],
  ...["Terminating", "Restarting", ...ofApache("running")],
]);
const failing: ReadonlySet<string> = new Set([
  ...["FAILED", "Failed", "Terminated", "FailedValidation"],
  ...Object.keys(summaries).filter((name) => isSummary(name) && isFailure(name)),
]);
const done: ReadonlySet<string> = new Set([
  "COMPLETED",
  "Completed",
  "Succeed",
  "Succeeded",
  ...ofApache("terminated"),
]);

/** The group of a state by itself. */
export const groupOf = (state: string): Group => {
  if (failing.has(state)) return "failed";
  if (done.has(state)) return "completed";
  if (held.has(state)) return "held";
  if (onItsWay.has(state)) return "submitted";
  return running.has(state) ? "running" : "waiting";
};

/** The fields of a record that a row of the page shows. */
export type RecordOutline = Pick<RecordView, "trouble" | "waitsFor"> & {
  readonly strip: readonly Segment[];
  readonly lost: number;
  /** The present wait: its begin in epoch s, and whether something is in the way; absent: the record tells none. */
  readonly wait?: { readonly since: number; readonly isUsual: boolean };
};

/** The most spans of a strip: the latest tell what matters. */
const mostSegments = 12;
/** The longest texts of a row; tenants write them. */
const longestText = 400;
const longestName = 253;

const short = (text: string, most = longestText): string => startOf(text, most);

const seconds = (ms: number): number => Math.round(ms / 1_000);

const segmentsOf = (record: RecordView): readonly Segment[] =>
  historyOf(record)
    .slice(-mostSegments)
    .map(({ state, at }) => [seconds(Date.parse(at)), groups.indexOf(groupOf(state))]);

export const recordOutline = (record: RecordView): RecordOutline => {
  const { waitsFor } = record;
  const { reason = "", message = "", since = 0 } = record.trouble ?? {};
  const trouble = record.trouble === undefined ? undefined : { reason: short(reason), message: short(message), since };
  const wait = recordedWaits(record).find(({ to }) => to === undefined);
  return {
    trouble,
    ...(wait === undefined ? {} : { wait: { since: seconds(Date.parse(wait.from)), isUsual: wait.isUsual } }),
    waitsFor: waitsFor === undefined ? undefined : short(waitsFor),
    strip: segmentsOf(record),
    lost: lostCount(lossesOf(record)),
  };
};

/** An object's part of a row; the record's part comes and goes. */
export type Projected = Outline & { readonly pods: readonly [have: number, want: number]; readonly queue: string };

const at = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((inner, name) => (isRecord(inner) ? inner[name] : undefined), value);

const numberOr = (value: unknown, other: number): number => (typeof value === "number" ? value : other);
const textOr = (value: unknown, other: string): string => (typeof value === "string" ? value : other);

const queueOf = (object: Stored): string =>
  textOr(at(object, "spec", "queue"), textOr(at(object, "spec", "batchSchedulerOptions", "queue"), ""));

/** Projects an object of a kind that the page shows; undefined for any other. */
export const projected = (object: Stored): Projected | undefined => {
  const kind = kindOf(object);
  if (kind === undefined) return undefined;
  const outline = outlineOf(kind, object);
  const details = Object.entries(outline.details).map(
    ([name, text]) => [name, short(String(text), longestName)] as const,
  );
  return {
    ...outline,
    state: short(outline.state, longestName),
    message: outline.message === undefined ? undefined : short(outline.message),
    held: outline.held === undefined ? undefined : short(outline.held),
    further: short(outline.further),
    details: Object.fromEntries(details),
    pods: kind.podCount?.(object) ?? [-1, -1],
    queue: short(queueOf(object), longestName),
  };
};

/** The text that a step writes into the status of an application whose record it cannot use. */
const failedRecovery = "RecoveryFailed: ";

/** Why the record of an application cannot be used, as a step has written it into the status; undefined: it can. */
const brokenIn = ({ message = "" }: Projected): string | undefined => {
  const at = message.indexOf(failedRecovery);
  return at < 0 ? undefined : message.slice(at + failedRecovery.length);
};

/** True while something is in the way of a start, for example no node has room for the driver. */
const isHeldUp = (record: RecordOutline | undefined): boolean =>
  record?.trouble !== undefined || (record?.waitsFor !== undefined && !isUsual(record.waitsFor));

const rowGroup = (outline: Projected, record: RecordOutline | undefined): Group => {
  if (outline.ended === "well") return "completed";
  if (outline.ended === "badly") return "failed";
  if (brokenIn(outline) !== undefined) return "waiting";
  const group = groupOf(outline.state);
  if (group === "held") return group;
  if (outline.held?.startsWith("a user") === true) return "held";
  return record?.trouble !== undefined || (group === "submitted" && isHeldUp(record)) ? "waiting" : group;
};

/** The group in which every screen shows an object. */
export const groupIn = (object: Stored, record: RecordView | undefined): Group => {
  const outline = projected(object);
  return outline === undefined ? "waiting" : rowGroup(outline, record && recordOutline(record));
};

/** The strip, with a wait that began after the last state. */
const stripOf = ({ strip = [], wait }: Partial<RecordOutline>, group: Group): readonly Segment[] => {
  const last = strip.at(-1);
  if (last === undefined || wait === undefined || group !== "waiting") return strip;
  const isShown = groups[last[1]] === "waiting" || wait.isUsual;
  return isShown ? strip : [...strip, [Math.max(last[0], wait.since), groups.indexOf("waiting")]];
};

/** The begin of the present wait, or the end of an application. */
const sinceOf = (outline: Projected, record: RecordOutline | undefined): number => {
  const shown = seconds(outline.since ?? outline.createdAt ?? 0);
  return outline.ended === undefined ? Math.max(shown, record?.wait?.since ?? shown) : shown;
};

/** Why it ended, or what it waits for; nothing where it runs and waits only for its own end. */
const waitsOf = (outline: Projected, group: Group, record: RecordOutline | undefined): string => {
  const broken = brokenIn(outline);
  if (broken !== undefined) return repairText(broken);
  if (outline.ended !== undefined && outline.held === undefined) return outline.message ?? "";
  const message = outline.message === undefined ? "" : ` (${outline.message})`;
  const isQuiet = group === "running" && outline.held === undefined && record?.waitsFor === undefined;
  return isQuiet ? (outline.message ?? "") : `${waitsIn(outline, record)}${message}`;
};

const nextOf = ({ details }: Projected): string => {
  const schedule = details["SCHEDULE"];
  return schedule === undefined
    ? ""
    : [schedule, details["NEXT RUN"] ?? "", details["LAST RUN"] ?? details["LAST SCHEDULE"] ?? ""].join("\n");
};

export const rowFrom = (outline: Projected, record: RecordOutline | undefined): Row => {
  const group = rowGroup(outline, record);
  const created = outline.createdAt ?? 0;
  const [have, want] = outline.pods;
  return {
    kind: outline.kind,
    namespace: outline.namespace,
    name: outline.name,
    state: outline.state,
    group,
    attempts: outline.attempts ?? 0,
    createdAt: seconds(created),
    since: sinceOf(outline, record),
    waits: short(oneLine(waitsOf(outline, group, record))),
    pods: [have, want, record?.lost ?? -1],
    queue: outline.queue,
    next: nextOf(outline),
    strip: stripOf(record ?? {}, group),
    repair: brokenIn(outline) === undefined ? "" : repairCommand(outline),
  };
};

const textsOf = (value: unknown): Readonly<Record<string, string>> =>
  isRecord(value) ? Object.fromEntries(Object.entries(value).map(([name, text]) => [name, String(text)])) : {};

const isQueue = ({ apiVersion, kind }: Stored): boolean =>
  kind === "Queue" && apiVersion.startsWith("scheduling.volcano.sh/");

/** A queue of Volcano as a row, as its status tells it; undefined for any other object. */
export const queueFrom = (object: Stored): QueueRow | undefined => {
  if (!isQueue(object)) return undefined;
  const status: Json = fieldsOf(object.status);
  return {
    ...{ name: object.metadata.name, uid: object.metadata.uid, version: object.metadata.resourceVersion },
    parent: textOr(at(object, "spec", "parent"), object.metadata.name === "root" ? "" : "root"),
    state: textOr(status["state"], ""),
    weight: numberOr(at(object, "spec", "weight"), 1),
    groups: [numberOr(status["pending"], -1), numberOr(status["inqueue"], -1), numberOr(status["running"], -1)],
    allocated: textsOf(status["allocated"]),
    capability: textsOf(at(object, "spec", "capability")),
  };
};

/** The kinds whose objects have pods of their own, each with the label that names the object. */
const podLabels = everyKind.flatMap(({ resource, podLabels: labelsFor, podCount }) =>
  podCount === undefined ? [] : Object.keys(labelsFor("")).map((label) => ({ kind: keyKindOf(resource), label })),
);

/** The application of a pod, by the labels that its kind sets; undefined for a pod of nobody here. */
export const ownerOf = (
  pod: Stored,
): { readonly kind: string; readonly namespace: string; readonly name: string } | undefined => {
  const { namespace = "" } = pod.metadata;
  const named = podLabels.flatMap(({ kind, label }) => {
    const name = labelOf(pod, label);
    return name === undefined ? [] : [{ kind, namespace, name }];
  });
  return named[0];
};
