/** Stores cursors for later windows, in any instance: one record each, among the checkpoints. */
import * as z from "zod";
import { digest, type Key } from "../core/key.ts";
import type { Checkpoints, CursorRecord, Report, Version } from "../engine/ports.ts";
import type { Loop } from "./forwarder.ts";

export type Cursors = {
  /** Returns the stored cursor; undefined if there is none for this cluster. */
  load(key: Key): Promise<string | undefined>;
  /** Stores a cursor. If two forwarders save at once, one wins; each has sent everything before its cursor. */
  save(key: Key, at: string): Promise<void>;
};

type Settings = {
  readonly checkpoints: Checkpoints;
  /** UID of the cluster's kube-system namespace: a cursor of another cluster is invalid. */
  readonly clusterUid: string;
  readonly report: Report;
};

const kept = z.object({
  cluster: z.string(),
  saves: z.number().int().min(0),
  memory: z.object({ at: z.string().min(1) }),
});

/** Returns the cursor in a stored record, of whichever cluster; undefined if it holds none. */
export const cursorIn = (record: unknown): string | undefined => kept.safeParse(record).data?.memory.at;

/**
 * Returns the key of a cursor; different resources have different names. The record is stored in the namespace that it
 * covers.
 */
export const cursorKey = (cluster: string, namespace: string | undefined, name: string): Key => ({
  cluster,
  kind: "Cursor",
  namespace: namespace ?? "",
  name,
});

/** Returns the key of a loop's cursor. Each selector has its own cursor, because it leaves out other objects. */
export const loopKey = (cluster: string, { subject, namespace }: Loop): Key => {
  const { group, plural } = subject.resource;
  const parts = [subject.selector, subject.field].filter((part) => part !== undefined);
  const chosen = parts.length === 0 ? "" : `.${digest(...parts).slice(0, 10)}`;
  return cursorKey(cluster, namespace, `${plural}${group === "" ? "" : `.${group}`}${chosen}`);
};

type Stored = { readonly saves: number; readonly version: Version | undefined };

export const openCursors = ({ checkpoints, clusterUid, report }: Settings): Cursors => {
  const stored = new Map<string, Stored>();
  const placeOf = ({ namespace, name }: Key): string => `${namespace}/${name}`;
  const load = async (key: Key): Promise<string | undefined> => {
    const found = await checkpoints.load(key);
    const read = kept.safeParse(found?.record);
    stored.set(placeOf(key), { saves: read.data?.saves ?? 0, version: found?.version });
    return read.data?.cluster === clusterUid ? read.data.memory.at : undefined;
  };
  const save = async (key: Key, at: string): Promise<void> => {
    const place = placeOf(key);
    if (!stored.has(place)) await load(key);
    const { saves = 0, version } = stored.get(place) ?? {};
    const record: CursorRecord = {
      schema: 1,
      cluster: clusterUid,
      uid: clusterUid,
      saves: saves + 1,
      rests: true,
      memory: { at },
    };
    const saved = await checkpoints.save(key, record, version);
    if (saved === "raced") {
      stored.delete(place);
      report("debug", "another forwarder saves the same cursor", { name: key.name });
    } else stored.set(place, { saves: saves + 1, version: saved });
  };
  return { load, save };
};
