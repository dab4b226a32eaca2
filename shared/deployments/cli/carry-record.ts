/**
 * The store side of a move between two APIs: what lasts of a record goes on under the key of the new object. The record is saved
 * there before it is removed here, so the command may be killed at any point, and be repeated.
 */
import { kubernetesCheckpoints } from "../../adapters/checkpoints/kubernetes.ts";
import { logsKey } from "../../core/kept-log.ts";
import type { Key } from "../../core/key.ts";
import { readRecord } from "../../engine/checkpoint/record.ts";
import type { CheckpointRecord, Checkpoints } from "../../engine/ports.ts";
import { Refused } from "../../inspection/io/refusal.ts";
import type { Session } from "../../inspection/io/session.ts";
import { aliasOf } from "./cluster-alias.ts";

/** A record without a memory, which follows from the status of the new object. */
const lasting = ({ schema, cluster, runs, pruneAt, outbox, logs }: CheckpointRecord): CheckpointRecord => ({
  ...{ schema, cluster, runs, pruneAt, outbox, logs },
  ...{ uid: "", saves: 1, memory: null },
});

type Keys = { readonly from: Key; readonly to: Key };

/** A damaged record leaves nothing. */
const carry = async (
  checkpoints: Checkpoints,
  { from, to }: Keys,
  kept: (record: CheckpointRecord) => CheckpointRecord,
): Promise<void> => {
  const [held, there] = [await checkpoints.load(from), await checkpoints.load(to)];
  if (held === undefined) return;
  const read = readRecord(held.record);
  if (there === undefined && read.ok) await checkpoints.save(to, kept(read.record), undefined);
  if ((await checkpoints.remove(from, held.version)) === "raced")
    throw new Refused("another process was writing its checkpoint: run the same command again");
};

/** Moves past runs, undelivered updates and kept logs. */
export const carryRecord = async (
  session: Session,
  from: Omit<Key, "cluster">,
  to: Omit<Key, "cluster">,
  uid: string,
): Promise<void> => {
  const cluster = await aliasOf(session, { cluster: "default", ...from });
  const keys = { from: { cluster, ...from }, to: { cluster, ...to } };
  const checkpoints = session.table?.records ?? kubernetesCheckpoints(session.transport);
  const logs = { from: logsKey(keys.from), to: logsKey(keys.to) };
  await carry(checkpoints, logs, (record) => ({ ...record, uid }));
  await carry(checkpoints, keys, (record) => ({ ...lasting(record), uid }));
};
