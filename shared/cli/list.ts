/** `rekindle list`: every application, its state, and what it waits for. */
import { pages } from "../adapters/kubernetes/requests.ts";
import type { Stored } from "../core/object.ts";
import { instantOf } from "../core/time.ts";
import type { Kind } from "./kinds/kind.ts";
import { type RecordView, recordId, recordsIn } from "./record.ts";
import { kinds } from "./target.ts";
import { columns, spanText } from "./text.ts";
import type { Session } from "./tools.ts";

export type Listed = {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly state: string;
  readonly attempts: number | undefined;
  readonly createdAt: number | undefined;
  readonly waitsFor: string;
};

const row = (kind: Kind, object: Stored, record: RecordView | undefined): Listed => {
  const { name, namespace = "", creationTimestamp, annotations } = object.metadata;
  const standing = kind.standingOf(object);
  const paused = annotations?.["rekindle.dev/paused"] === "true" ? "somebody to resume it (paused)" : undefined;
  const trouble = record?.trouble === undefined ? undefined : `the platform: ${record.trouble.reason}`;
  return {
    kind: kind.resource.kind,
    namespace,
    name,
    state: standing.state,
    attempts: standing.attempts,
    createdAt: instantOf(creationTimestamp),
    waitsFor: paused ?? trouble ?? (standing.ended ? "-" : (record?.waitsFor ?? standing.what.waitsFor)),
  };
};

/** What there is in one namespace, or in all when it is "". */
export const listed = async (session: Session, namespace: string): Promise<readonly Listed[]> => {
  const records = await recordsIn(session, namespace);
  const rows: Listed[] = [];
  for (const kind of kinds) {
    for await (const page of pages(session.transport, { resource: kind.resource, namespace })) {
      for (const object of page.items) {
        const { name, namespace: at = "" } = object.metadata;
        const key = { cluster: "default", kind: kind.resource.kind, namespace: at, name };
        rows.push(row(kind, object, records.get(recordId(key))));
      }
    }
  }
  return rows;
};

/** The table for people. */
export const listText = (rows: readonly Listed[], now: number): string => {
  if (rows.length === 0) return "no applications";
  const heads = ["NAMESPACE", "NAME", "STATE", "ATTEMPTS", "AGE", "WAITS FOR"];
  const lines = rows.map((item) => [
    item.namespace,
    item.name,
    item.state,
    String(item.attempts ?? 0),
    item.createdAt === undefined ? "" : spanText(now - item.createdAt),
    item.waitsFor,
  ]);
  return columns([heads, ...lines]);
};
