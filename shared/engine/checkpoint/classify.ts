/**
 * Classifies a stored record: usable, empty, or broken (damaged, of a newer schema, incompatible, of another cluster).
 * Whether its settings fit those of the deployment follows the policies of a Mesos agent's `reconfiguration_policy`.
 * Pure.
 */
import { same } from "../../core/json.ts";
import type { Key } from "../../core/key.ts";
import type { Operator, Parsed } from "../../core/operator.ts";
import type { CheckpointRecord, Loaded, SavedSettings } from "../ports.ts";
import type { RecoverySettings, Timing } from "../settings.ts";
import { broughtForward, readRecord, type Salvaged, schema, schemaOf } from "./record.ts";

/** Returns the settings that later steps rely on: they limit how late a write of this deployment can arrive. */
export const madeWith = ({ fenceMs, requestTimeoutMs }: Timing): SavedSettings => ({ fenceMs, requestTimeoutMs });

type Value = SavedSettings[string] | undefined;

/** True if the value may change so under `additive`. A value that only one of the two has passes. */
const grows = (was: Value, is: Value): boolean => {
  if (typeof was === "number" && typeof is === "number") return is >= was;
  if (typeof was === "boolean" && typeof is === "boolean") return is || !was;
  if (Array.isArray(was) && Array.isArray(is)) return was.every((one) => is.includes(one));
  return was === undefined || is === undefined || same(was, is);
};

/** Maps a policy to the test whether a value may change to another. */
const permits: Readonly<Record<RecoverySettings["policy"], (was: Value, is: Value) => boolean>> = {
  any: () => true,
  equal: same,
  additive: grows,
};

/**
 * Returns a text about the first setting, by name, that the policy does not permit; undefined if there is none. A
 * record without settings was saved before records held any, and passes.
 */
const incompatibility = (
  policy: RecoverySettings["policy"],
  was: SavedSettings | undefined,
  is: SavedSettings,
): string | undefined => {
  if (was === undefined) return undefined;
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])].sort();
  const name = names.find((one) => !permits[policy](was[one], is[one]));
  if (name === undefined) return undefined;
  const textOfValue = (value: Value): string => (value === undefined ? "nothing" : JSON.stringify(value));
  return `made with ${name} ${textOfValue(was[name])}, and this deployment has ${textOfValue(is[name])}, which policy ${policy} does not permit`;
};

export type Defect = {
  readonly is: "damaged" | "newer" | "incompatible" | "sound";
  /** True if the record was made in another cluster: its UIDs are not valid here. */
  readonly elsewhere: boolean;
  readonly why: string;
  /** The problems, field by field. */
  readonly problems: readonly string[];
  /** The fields that can be read. */
  readonly rest: Salvaged;
  /** The whole record, as it was stored. */
  readonly stored: unknown;
};

export type Classification =
  | { readonly is: "sound"; readonly record: CheckpointRecord; readonly memory: unknown }
  /** The record was never written: it counts as missing, not as an error. */
  | { readonly is: "empty" }
  | { readonly is: "broken"; readonly defect: Defect };

export type Judge = {
  /** UID of the cluster's kube-system namespace. */
  readonly clusterUid: string;
  readonly timing: Timing;
  readonly key: Key;
  readonly operator: Operator<unknown>;
  readonly settings: RecoverySettings;
};

/** Returns the command that a user can run for this key. */
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

const byHand = "record: edited by hand, its checksum does not match";

/** Parses a stored memory. A record that was only inherited has none (null), and its object is new. */
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

/** Classifies a loaded record. Pure, but for the operator's parser. */
export const classify = (judge: Judge, loaded: Loaded): Classification => {
  const { record: stored } = loaded;
  if (isEmpty(stored)) return { is: "empty" };
  const elsewhere = isElsewhere(stored, judge.clusterUid);
  const found = complaintOf(judge, loaded);
  if ("why" in found) return { is: "broken", defect: { ...found, elsewhere, stored } };
  const memory = memoryIn(judge.operator, found.memory);
  if (!memory.ok) return { is: "broken", defect: { ...damaged([memory.error], found, judge.key), elsewhere, stored } };
  if (!elsewhere) return { is: "sound", record: found, memory: memory.memory };
  const why = `made in another cluster (${found.cluster}, this is ${judge.clusterUid}): its UIDs are not valid here`;
  return { is: "broken", defect: { is: "sound", elsewhere, why, problems: [], rest: found, stored } };
};
