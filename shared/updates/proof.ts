/**
 * The proof that an outbox is Rekindle's own. Whoever may change the records of a namespace could otherwise write an
 * outbox and have its updates sent: under the ids of another object, to a listener that no object may name, signed by
 * the operator.
 *
 * P1. The name of a stream is derived from the cluster and the key of its record, so no other record can use its ids.
 * P2. Where the operator has set a secret or a listener, an outbox carries a proof that is made with them.
 * P3. An outbox without them counts as missing: the next step tells the object's present state in a new stream.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { digestOf, isRecord } from "../core/json.ts";
import { type Key, textOf } from "../core/key.ts";
import { type Outbox, streamName } from "../core/updates.ts";
import type { AnyRecord, Checkpoints, Report } from "../engine/ports.ts";

type Operators = {
  /** Returns the secret of the operator's signatures; absent: none is set. */
  readonly secret?: (() => Promise<string>) | undefined;
  /** The listener in the operator's configuration, whose URL may hold a token; "": none. */
  readonly to: string;
};

type Proving = Operators & {
  readonly report: Report;
  /** True for an outbox that can be read. */
  readonly isOutbox: (stored: unknown) => boolean;
};

/** Returns the key of proofs; undefined if nothing is set that tenants do not know. */
const keyOf = async ({ secret, to }: Operators): Promise<string | undefined> => {
  if (secret === undefined && (to === "" || to === "none")) return undefined;
  const own = (await secret?.()) ?? "";
  return createHmac("sha256", own).update(`outbox\n${to}`).digest("hex");
};

type Fields = Readonly<Record<string, unknown>>;

/** The proof covers the outbox, and the cluster and the object that its record is about. */
const proofOf = (proving: string, key: Key, { cluster, uid, outbox }: Fields): string => {
  const { proof: _, ...proven } = isRecord(outbox) ? outbox : {};
  const about = digestOf({ key: textOf(key), cluster, uid, outbox: proven });
  return createHmac("sha256", proving).update(about).digest("hex");
};

const isSame = (given: unknown, expected: string): boolean =>
  typeof given === "string" &&
  given.length === expected.length &&
  timingSafeEqual(Buffer.from(given), Buffer.from(expected));

/** P1, P2. */
const isOwn = (proving: string | undefined, key: Key, record: Fields): boolean => {
  const { cluster, outbox } = record;
  if (!isRecord(outbox)) return false;
  const { stream, origin, proof } = outbox;
  if (typeof cluster !== "string" || typeof origin !== "string") return false;
  if (stream !== streamName(cluster, key, origin)) return false;
  return proving === undefined || isSame(proof, proofOf(proving, key, record));
};

const outboxIn = (record: AnyRecord): Outbox | undefined => ("outbox" in record ? record.outbox : undefined);

const distrusted =
  "the updates in a record are not sent: they were not written with the settings updatesSecret and updatesTo of this process";

/** Returns the store with a proof in each outbox that is saved; an outbox without proof is not loaded (P3). */
export const provingOutboxes = (
  checkpoints: Checkpoints,
  { report, isOutbox, ...operators }: Proving,
): Checkpoints => ({
  ...checkpoints,
  load: async (key) => {
    const loaded = await checkpoints.load(key);
    const stored = loaded?.record;
    if (loaded === undefined || !isRecord(stored) || stored["outbox"] === undefined) return loaded;
    if (isOwn(await keyOf(operators), key, stored)) return loaded;
    const { outbox, ...record } = stored;
    // Damage stops the key or is dropped whole, as the mode of recovery says.
    if (!isOutbox(outbox)) return loaded;
    report("warn", distrusted, { key: textOf(key) });
    return { ...loaded, record };
  },
  save: async (key, record, version) => {
    const outbox = outboxIn(record);
    const proving = outbox === undefined ? undefined : await keyOf(operators);
    if (outbox === undefined || proving === undefined) return await checkpoints.save(key, record, version);
    const proof = proofOf(proving, key, { ...record });
    return await checkpoints.save(key, { ...record, outbox: { ...outbox, proof } }, version);
  },
});
