/** What is to be thought of a stored record: whether it can be gone on with, and if not, what is the matter with it. Pure. */
import type { Key } from "../../core/key.ts";
import type { Operator, Parsed } from "../../core/operator.ts";
import type { CheckpointRecord, Loaded } from "../ports.ts";
import { broughtForward, readRecord, type Salvaged, schema, schemaOf } from "../record.ts";
import type { RecoverySettings, Timing } from "../settings.ts";
import { incompatibility, madeWith } from "./compatibility.ts";

export type Defect = {
  readonly is: "damaged" | "newer" | "incompatible" | "sound";
  /** It was made in another cluster: its UIDs are not valid here. */
  readonly elsewhere: boolean;
  readonly why: string;
  /** What is wrong, field by field. */
  readonly problems: readonly string[];
  /** What of it can be read. */
  readonly rest: Salvaged;
  /** The whole of it, as it was stored. */
  readonly stored: unknown;
};

export type Classification =
  | { readonly is: "well"; readonly record: CheckpointRecord; readonly memory: unknown }
  /** Nothing was ever written into it: as good as missing, and never an error. */
  | { readonly is: "empty" }
  | { readonly is: "ill"; readonly ill: Defect };

export type Judge = {
  /** UID of the cluster's kube-system namespace. */
  readonly clusterUid: string;
  readonly timing: Timing;
  readonly key: Key;
  readonly operator: Operator<unknown>;
  readonly settings: RecoverySettings;
};

/** As the command line takes it. */
const command = ({ kind, namespace, name }: Key, flag: string): string =>
  `rekindle recover ${[kind.toLowerCase(), namespace, name].filter((part) => part !== "").join("/")} ${flag}`;

const isEmpty = (stored: unknown): boolean =>
  stored === undefined ||
  stored === null ||
  stored === "" ||
  (typeof stored === "object" && !Array.isArray(stored) && Object.keys(stored).length === 0);

const homeOf = (stored: unknown): unknown =>
  typeof stored === "object" && stored !== null && "cluster" in stored ? stored.cluster : undefined;

const isElsewhere = (stored: unknown, clusterUid: string): boolean => {
  const home = homeOf(stored);
  return typeof home === "string" && home !== "" && home !== clusterUid;
};

type Complaint = Pick<Defect, "is" | "why" | "problems" | "rest">;

const tooNew = (number: number, key: Key): Complaint => ({
  is: "newer",
  why: `written by a newer Rekindle, schema ${number}; this one reads schemas up to ${schema}: upgrade it, or discard the record: ${command(key, "--fresh")}`,
  problems: [],
  rest: {},
});

const damaged = (problems: readonly string[], rest: Salvaged, key: Key): Complaint => ({
  is: "damaged",
  why: `checkpoint cannot be read (${problems.join("; ")}); to keep what can be read and rebuild the rest: ${command(key, "--no-strict")}`,
  problems,
  rest,
});

const byHand = "record: edited by hand, its seal does not match";

/** A record that was only inherited holds no memory: its object is seen for the first time. */
export const memoryIn = (operator: Operator<unknown>, stored: unknown): Parsed<unknown> =>
  stored === null ? { ok: true, memory: undefined } : operator.parse(stored);

const memoryProblems = (operator: Operator<unknown>, { memory }: CheckpointRecord): readonly string[] => {
  const read = memoryIn(operator, memory);
  return read.ok ? [] : [read.error];
};

const complaintOf = (judge: Judge, { record: stored, edited }: Loaded): Complaint | CheckpointRecord => {
  const { key, settings, timing } = judge;
  const number = schemaOf(stored) ?? 0;
  if (number > schema) return tooNew(number, key);
  const read = readRecord(broughtForward(stored));
  if (!read.ok) return damaged(read.problems, read.rest, key);
  if (edited === true) return damaged([byHand, ...memoryProblems(judge.operator, read.record)], read.record, key);
  const misfit = incompatibility(settings.policy, read.record.made, madeWith(timing));
  if (misfit === undefined) return read.record;
  const why = `${misfit}: set it back, or adopt the record under the new setting: ${command(key, "--reconfigure")}`;
  return { is: "incompatible", why, problems: [], rest: read.record };
};

/** Judges what was loaded. Nothing is written, and nothing but the operator's parser asked. */
export const classify = (judge: Judge, loaded: Loaded): Classification => {
  const { record: stored } = loaded;
  if (isEmpty(stored)) return { is: "empty" };
  const elsewhere = isElsewhere(stored, judge.clusterUid);
  const found = complaintOf(judge, loaded);
  if ("why" in found) return { is: "ill", ill: { ...found, elsewhere, stored } };
  const memory = memoryIn(judge.operator, found.memory);
  if (!memory.ok) return { is: "ill", ill: { ...damaged([memory.error], found, judge.key), elsewhere, stored } };
  if (!elsewhere) return { is: "well", record: found, memory: memory.memory };
  const why = `made in another cluster (${found.cluster}, this is ${judge.clusterUid}): its UIDs are not valid here`;
  return { is: "ill", ill: { is: "sound", elsewhere, why, problems: [], rest: found, stored } };
};
