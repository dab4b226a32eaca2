/** A parsed request, and the form in which it is answered: objects whole, their metadata only, or a table for `kubectl get`. */

import { apiVersionOf, type Column, type Kind } from "../schema/kinds.ts";
import { at, fieldsAt, itemsAt, numberAt, textAt } from "../storage/json.ts";
import type { Item } from "../storage/metadata.ts";
import { inVersion, type Listing, listMeta, listText, listValue, readOf, textOf } from "../verbs/read.ts";
import type { ApiRequest, Server, Target } from "../verbs/request.ts";

/** A time span up to now, as kubectl writes it. */
const ageText = (from: string | undefined, now: number): string => {
  if (from === undefined) return "<unknown>";
  const s = Math.max(0, Math.floor((now - Date.parse(from)) / 1000));
  if (s < 120) return `${s}s`;
  const m = Math.floor(s / 60);
  if (m < 10) return s % 60 === 0 ? `${m}m` : `${m}m${s % 60}s`;
  if (m < 180) return `${m}m`;
  const h = Math.floor(m / 60);
  if (h < 8) return m % 60 === 0 ? `${h}h` : `${h}h${m % 60}m`;
  if (h < 48) return `${h}h`;
  const d = Math.floor(h / 24);
  return d < 8 && h % 24 !== 0 ? `${d}d${h % 24}h` : `${d}d`;
};

type Cell = (item: Item, now: number) => unknown;
type Row = readonly [name: string, type: string, cell: Cell, priority?: number, description?: string];

const name: Row = ["Name", "string", (item) => item.metadata.name];
const age: Row = ["Age", "string", (item, now) => ageText(item.metadata.creationTimestamp, now)];

const statuses = (pod: Item): readonly unknown[] => itemsAt(pod, "status", "containerStatuses");

const podReason = (pod: Item): string => {
  const phase = textAt(pod, "status", "reason") ?? textAt(pod, "status", "phase") ?? "";
  const reasons = statuses(pod).flatMap((each) => {
    const reason = textAt(each, "state", "waiting", "reason") ?? textAt(each, "state", "terminated", "reason");
    return reason === undefined ? [] : [reason];
  });
  const shown = reasons[0] ?? phase;
  if (pod.metadata.deletionTimestamp === undefined) return shown;
  return textAt(pod, "status", "reason") === "NodeLost" ? "Unknown" : "Terminating";
};

const ready = (pod: Item): string =>
  `${statuses(pod).filter((each) => at(each, "ready") === true).length}/${itemsAt(pod, "spec", "containers").length}`;

const restarts = (pod: Item): number =>
  statuses(pod).reduce<number>((sum, each) => sum + (numberAt(each, "restartCount") ?? 0), 0);

const ports = (item: Item): string =>
  itemsAt(item, "spec", "ports")
    .map((port) => `${numberAt(port, "port")}/${textAt(port, "protocol") ?? "TCP"}`)
    .join(",") || "<none>";

const nodeState = (node: Item): string => {
  const closed = at(node, "spec", "unschedulable") === true ? ",SchedulingDisabled" : "";
  const condition = itemsAt(node, "status", "conditions").find((each) => textAt(each, "type") === "Ready");
  return `${textAt(condition, "status") === "True" ? "Ready" : "NotReady"}${closed}`;
};

const size = (item: Item): number => Object.keys(fieldsAt(item, "data")).length;
const none = "<none>";

const printers: Readonly<Record<string, readonly Row[]>> = {
  pods: [
    name,
    ["Ready", "string", ready],
    ["Status", "string", podReason],
    ["Restarts", "string", (pod) => String(restarts(pod))],
    age,
    ["IP", "string", (pod) => textAt(pod, "status", "podIP") ?? none, 1],
    ["Node", "string", (pod) => textAt(pod, "spec", "nodeName") ?? none, 1],
    ["Nominated Node", "string", () => none, 1],
    ["Readiness Gates", "string", () => none, 1],
  ],
  services: [
    name,
    ["Type", "string", (item) => textAt(item, "spec", "type")],
    ["Cluster-IP", "string", (item) => textAt(item, "spec", "clusterIP") ?? none],
    ["External-IP", "string", () => none],
    ["Port(s)", "string", ports],
    age,
  ],
  configmaps: [name, ["Data", "string", (item) => String(size(item))], age],
  secrets: [
    name,
    ["Type", "string", (item) => textAt(item, "type")],
    ["Data", "string", (item) => String(size(item))],
    age,
  ],
  namespaces: [name, ["Status", "string", (item) => textAt(item, "status", "phase")], age],
  nodes: [
    name,
    ["Status", "string", nodeState],
    ["Roles", "string", () => none],
    age,
    ["Version", "string", (item) => textAt(item, "status", "nodeInfo", "kubeletVersion")],
  ],
  events: [
    [
      "Last Seen",
      "string",
      (item, now) => ageText(textAt(item, "lastTimestamp") ?? item.metadata.creationTimestamp, now),
    ],
    ["Type", "string", (item) => textAt(item, "type")],
    ["Reason", "string", (item) => textAt(item, "reason")],
    [
      "Object",
      "string",
      (item) => `${textAt(item, "involvedObject", "kind")?.toLowerCase()}/${textAt(item, "involvedObject", "name")}`,
    ],
    ["Message", "string", (item) => textAt(item, "message")?.trim()],
  ],
  "deployments.apps": [
    name,
    [
      "Ready",
      "string",
      (item) => `${numberAt(item, "status", "readyReplicas") ?? 0}/${numberAt(item, "spec", "replicas") ?? 0}`,
    ],
    ["Up-to-date", "string", (item) => String(numberAt(item, "status", "updatedReplicas") ?? 0)],
    ["Available", "string", (item) => String(numberAt(item, "status", "availableReplicas") ?? 0)],
    age,
  ],
  "leases.coordination.k8s.io": [
    name,
    ["Holder", "string", (item) => textAt(item, "spec", "holderIdentity") ?? ""],
    age,
  ],
  "customresourcedefinitions.apiextensions.k8s.io": [
    name,
    ["Created At", "date", (item) => item.metadata.creationTimestamp],
  ],
};

/** The value at a simple JSON path such as `.status.list[0].name`. */
const atJsonPath = (item: Item, path: string): unknown => {
  const steps = path.match(/[^.[\]]+/g) ?? [];
  return steps.reduce<unknown>((value, step) => (Array.isArray(value) ? value[Number(step)] : at(value, step)), item);
};

const customCell =
  ({ jsonPath, type }: Column): Cell =>
  (item, now) => {
    const value = atJsonPath(item, jsonPath);
    if (value === undefined || value === null) return null;
    if (type === "date") return ageText(String(value), now);
    return type === "string" && typeof value !== "string" ? JSON.stringify(value) : value;
  };

const customRows = (columns: readonly Column[]): readonly Row[] => [
  name,
  ...columns.map((column): Row => {
    const description =
      column.description || `Custom resource definition column (in JSONPath format): ${column.jsonPath}`;
    return [column.name, column.type, customCell(column), column.priority ?? 0, description];
  }),
];

const rowsOf = (kind: Kind): readonly Row[] =>
  kind.custom === undefined ? (printers[kind.table] ?? [name, age]) : customRows(kind.custom.columns);

const partial = (item: Item) => ({
  kind: "PartialObjectMetadata",
  apiVersion: "meta.k8s.io/v1",
  metadata: item.metadata,
});

/** A Table body. */
const tableText = (kind: Kind, items: readonly Item[], metadata: unknown, now: number): string => {
  const rows = rowsOf(kind);
  return JSON.stringify({
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata,
    columnDefinitions: rows.map(([title, type, , priority, description], i) => ({
      name: title,
      type,
      format: i === 0 ? "name" : "",
      description: description ?? title,
      priority: priority ?? 0,
    })),
    rows: items.map((item) => ({
      cells: rows.map(([, , cell]) => cell(item, now) ?? ""),
      object: partial(item),
    })),
  });
};

export type Form = {
  readonly one: (kind: Kind, item: Item) => string;
  readonly many: (kind: Kind, page: Listing) => string;
  /** The same answers as values, where the form has them. */
  readonly values?: {
    readonly one: (kind: Kind, item: Item) => unknown;
    readonly many: (kind: Kind, page: Listing) => unknown;
  };
};

const whole: Form = {
  one: (kind, item) => textOf(inVersion(kind, item)),
  many: listText,
  values: { one: (kind, item) => readOf(inVersion(kind, item)), many: listValue },
};

const metaApi = "meta.k8s.io/v1";

const metadataOf = (item: Item) => ({ kind: "PartialObjectMetadata", apiVersion: metaApi, metadata: item.metadata });

const metadataOnly: Form = {
  one: (_kind, item) => JSON.stringify(metadataOf(item)),
  many: (_kind, page) =>
    JSON.stringify({
      kind: "PartialObjectMetadataList",
      apiVersion: metaApi,
      metadata: listMeta(page),
      items: page.items.map(metadataOf),
    }),
};

const inTable = (now: () => number): Form => ({
  one: (kind, item) => tableText(kind, [item], { resourceVersion: item.metadata.resourceVersion }, now()),
  many: (kind, page) => tableText(kind, page.items, listMeta(page), now()),
});

/** The form that an Accept header asks for first among those it lists. */
export const formFor = (accept: string | undefined, now: () => number): Form => {
  if (accept === undefined || !accept.includes("as=")) return whole;
  for (const choice of accept.split(",")) {
    if (choice.includes("as=Table")) return inTable(now);
    if (choice.includes("as=PartialObjectMetadata")) return metadataOnly;
    if (choice.trim() === "application/json") return whole;
  }
  return whole;
};

/** The text of a bookmark: the kind and the revision, nothing else. */
export const bookmarkText = (kind: Kind, revision: number, ends: boolean): string =>
  JSON.stringify({
    type: "BOOKMARK",
    object: {
      kind: kind.kind,
      apiVersion: apiVersionOf(kind),
      metadata: {
        resourceVersion: String(revision),
        ...(ends && { annotations: { "k8s.io/initial-events-end": "true" } }),
      },
    },
  });

export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The body as a value; shared with later answers. */
  readonly json?: () => unknown;
};

/** A request after its path and query were parsed. */
export type Call = {
  readonly request: ApiRequest;
  readonly target: Target;
  readonly query: URLSearchParams;
  readonly form: Form;
};

/** Answers subresources that are not stored: logs, evictions, bindings, proxies. */
type Subresource = (server: Server, call: Call) => Result;
export type Subresources = Readonly<Record<string, Subresource>>;

export type Result = {
  readonly status: number;
  readonly text: string;
  readonly json?: () => unknown;
  readonly type?: string;
  readonly warnings?: readonly string[];
};
