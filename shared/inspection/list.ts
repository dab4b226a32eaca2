/** `rekindle list`: every application, its state, and what it waits for. */

import { pages } from "../adapters/kubernetes/requests.ts";
import { isPaused } from "../core/annotation.ts";
import { ApiError } from "../core/http.ts";
import { otherManagerOf } from "../core/managed-by.ts";
import { keyKindOf, type Resource, type Stored } from "../core/object.ts";
import { oneLine } from "../core/text.ts";
import { instantOf, timeText } from "../core/time.ts";
import { localQueueOf } from "../kube/kueue.ts";
import type { Cells, ObjectState } from "../kube/object-state.ts";
import { isEnding } from "../kube/pods.ts";
import { asJson, asYaml, nameText } from "./io/documents.ts";
import { notServed } from "./io/refusal.ts";
import type { Session } from "./io/session.ts";
import { columns, type Paint, plain, spanText, toneOf } from "./io/text.ts";
import { everyKind, usual } from "./kinds/all.ts";
import { departureText, type Kind } from "./kinds/kind.ts";
import { type GrowthSums, growthSumsIn } from "./kueue.ts";
import { openRates, type Rates } from "./rates.ts";
import { type RecordView, recordId, recordsIn } from "./record.ts";
import { type Usage, usageColumns, usageOf } from "./usage.ts";

export type Listed = {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly state: string;
  readonly attempts: number | undefined;
  readonly createdAt: number | undefined;
  /** Absent: it has ended and waits for nothing. */
  readonly waitsFor: string | undefined;
  readonly message: string | undefined;
  readonly ended: ObjectState["ended"];
  readonly details: Cells;
  /** The cost of its runs; absent: its record tells none. */
  readonly usage: Usage | undefined;
  /** The executors that growths grant and wait for; absent: it does not grow by Kueue, or they cannot be listed. */
  readonly growths?: GrowthSums;
};

/** The objects to list. */
export type ListScope = {
  /** "": all namespaces. */
  readonly namespace: string;
  readonly selector?: string | undefined;
  readonly kinds: readonly Kind[];
};

/** The part of a row that its object alone tells; its record may tell a nearer wait. */
export type Outline = Omit<Listed, "waitsFor" | "usage"> & {
  readonly since: number | undefined;
  /** A wait that is nearer than any that a record tells: its deletion, or a user. */
  readonly held: string | undefined;
  /** The wait of its state. */
  readonly further: string;
};

export const outlineOf = (kind: Kind, object: Stored): Outline => {
  const { name, namespace = "", creationTimestamp } = object.metadata;
  const { state, attempts, message, since, ended, what } = kind.stateOf(object);
  const paused = isPaused(object) ? "a user to resume it (paused)" : undefined;
  const manager = otherManagerOf(object, kind.resource);
  const left = manager === undefined ? undefined : `${manager}, which spec.managedBy names`;
  return {
    kind: keyKindOf(kind.resource),
    namespace,
    name,
    ...{ state, attempts, message, since, ended },
    createdAt: instantOf(creationTimestamp),
    held: isEnding(object) ? departureText(object) : (left ?? paused),
    further: what.waitsFor,
    details: kind.wide(object),
  };
};

/** The condition that an object waits for; undefined after its end. */
export const waitsIn = (
  outline: Outline,
  record: Pick<RecordView, "trouble" | "waitsFor"> | undefined,
): string | undefined => {
  const trouble = record?.trouble === undefined ? undefined : `the platform: ${record.trouble.reason}`;
  const further = outline.ended === undefined ? (record?.waitsFor ?? outline.further) : undefined;
  return outline.held ?? trouble ?? further;
};

type Reckoning = {
  readonly now: number;
  readonly rates: Rates | undefined;
  readonly growths: ReadonlyMap<string, GrowthSums> | undefined;
};

const row = (kind: Kind, object: Stored, record: RecordView | undefined, reckoning: Reckoning): Listed => {
  const { now, rates, growths } = reckoning;
  const sums = growths?.get(object.metadata.uid);
  const outline = outlineOf(kind, object);
  const { since: _, held, further, ...listed } = outline;
  const usage = usageOf(record, now, rates);
  return { ...listed, waitsFor: waitsIn(outline, record), usage, ...(sums === undefined ? {} : { growths: sums }) };
};

/** Lists the objects of one kind; returns the error where its CRD is not installed. */
const objectsOf = async (session: Session, kind: Kind, scope: ListScope): Promise<readonly Stored[] | ApiError> => {
  const { namespace, selector } = scope;
  const objects: Stored[] = [];
  try {
    for await (const page of pages(session.transport, { resource: kind.resource, namespace, selector })) {
      objects.push(...page.items);
    }
    return objects;
  } catch (cause) {
    if (cause instanceof ApiError && notServed(cause)) return cause;
    throw cause;
  }
};

/** Lists the objects of these kinds. A kind that is not installed has none; throws where none is installed. */
export const listed = async (session: Session, scope: ListScope, now: number): Promise<readonly Listed[]> => {
  const found = await Promise.all(scope.kinds.map((kind) => objectsOf(session, kind, scope)));
  const missing = found.filter((objects) => objects instanceof ApiError);
  if (missing.length === found.length && missing[0] !== undefined) throw missing[0];
  const records = await recordsIn(session, scope.namespace);
  const rates = openRates(session.transport, session.prices, () => now);
  await rates?.refresh();
  const grow = found.some(
    (objects, at) =>
      !(objects instanceof ApiError) && scope.kinds[at]?.kueue?.grows !== undefined && objects.some(localQueueOf),
  );
  const growths = grow ? await growthSumsIn(session.transport, scope.namespace) : undefined;
  return found.flatMap((objects, at) => {
    const kind = scope.kinds[at];
    if (kind === undefined || objects instanceof ApiError) return [];
    return objects.map((object) => {
      const { name, namespace = "" } = object.metadata;
      const key = { cluster: "default", kind: keyKindOf(kind.resource), namespace, name };
      return row(kind, object, records.get(recordId(key)), { now, rates, growths });
    });
  });
};

const heads = ["NAMESPACE", "NAME", "STATE", "ATTEMPTS", "AGE", "WAITS FOR, OR WHY IT ENDED"];

/** The longest reason in a table, characters; data have all of it. */
const longestReason = 160;

const reasonOf = ({ waitsFor, ended, message }: Listed): string => {
  const why = message === undefined ? "" : oneLine(message);
  if (waitsFor === undefined) return ended === "badly" && why !== "" ? why : "-";
  return why === "" || waitsFor.includes(why) ? waitsFor : `${waitsFor} (${why})`;
};

const shortened = (text: string): string => (text.length > longestReason ? `${text.slice(0, longestReason)}…` : text);

const cells = (item: Listed, now: number): readonly string[] => [
  item.namespace,
  item.name,
  item.state,
  String(item.attempts ?? (item.kind === keyKindOf(usual.resource) ? 0 : "")),
  item.createdAt === undefined ? "" : spanText(now - item.createdAt),
  shortened(reasonOf(item)),
];

const stateColumn = heads.indexOf("STATE");

type Looks = { readonly isWide: boolean; readonly paint: Paint };

/** One table, or one per kind when there are several. */
const tables = (rows: readonly Listed[], now: number, { isWide, paint }: Looks): string => {
  const groups = everyKind
    .map(({ resource }) => ({ resource, own: rows.filter(({ kind }) => kind === keyKindOf(resource)) }))
    .filter(({ own }) => own.length > 0);
  const table = (own: readonly Listed[]): string => {
    const wide = own.map(({ details, usage }): Cells => (isWide ? { ...details, ...usageColumns(usage) } : {}));
    const more = [...new Set(wide.flatMap((one) => Object.keys(one)))];
    const lines = own.map((item, at) => [...cells(item, now), ...more.map((head) => String(wide[at]?.[head] ?? ""))]);
    return columns([[...heads, ...more], ...lines], (cell, row, column) =>
      row === 0 || column !== stateColumn ? cell : paint(toneOf(cell), cell),
    );
  };
  if (groups.length === 1) return table(rows);
  return groups.map(({ resource, own }) => `${keyKindOf(resource)}\n${table(own)}`).join("\n\n");
};

const resourceNamed = (kind: string): Resource =>
  everyKind.find(({ resource }) => keyKindOf(resource) === kind)?.resource ?? usual.resource;

/** The name in the form that other commands take. */
const keyText = ({ kind, namespace, name }: Listed): string =>
  kind === keyKindOf(usual.resource) ? `${namespace}/${name}` : `${kind}/${namespace}/${name}`;

/** As data: instants as the API writes them, a cell that is empty left out. */
const dataOf = ({ createdAt, details, ...row }: Listed) => ({
  ...row,
  details: Object.fromEntries(Object.entries(details).filter(([, value]) => value !== "")),
  createdAt: createdAt === undefined ? undefined : timeText(createdAt),
});

/** The list in one of its forms. */
export const listText = (rows: readonly Listed[], now: number, form = "table", paint: Paint = plain): string => {
  if (form === "json") return asJson(rows.map(dataOf));
  if (form === "yaml") return asYaml(rows.map(dataOf));
  if (form === "key") return rows.map(keyText).join("\n");
  if (form === "name") return rows.map(({ kind, name }) => nameText(resourceNamed(kind), name)).join("\n");
  return rows.length === 0 ? "no applications" : tables(rows, now, { isWide: form === "wide", paint });
};

/** The identity of a row, and the text that differs in a changed row. */
const gist = (item: Listed): readonly [string, string] => [
  `${item.kind}/${item.namespace}/${item.name}`,
  `${item.state} ${item.attempts} ${reasonOf(item)}`,
];

/** The rows that are new or changed; a deleted object gives a row in state GONE. */
export const changedRows = (before: readonly Listed[], after: readonly Listed[]): readonly Listed[] => {
  const known = new Map(before.map(gist));
  const there = new Set(after.map((item) => gist(item)[0]));
  const gone = before.filter((item) => item.state !== "GONE" && !there.has(gist(item)[0]));
  return [
    ...after.filter((item) => known.get(gist(item)[0]) !== gist(item)[1]),
    ...gone.map((item) => ({ ...item, state: "GONE", waitsFor: undefined, message: undefined })),
  ];
};
