/**
 * The ends of drivers' logs that are kept beside a record, because their pods are deleted: the form in which they are
 * stored. Their texts may hold secrets.
 */
import { isRecord } from "./json.ts";
import type { Key } from "./key.ts";

/** The log to keep: of which container, for which attempt of the object, and for how long. */
export type LogKeeping = {
  readonly container: string;
  readonly attempt: number;
  /** ms */
  readonly keepMs: number;
  /** The kept logs of the key are kept as long after the end of their object, too. */
  readonly outlives?: true;
};

export type KeptLog = {
  readonly attempt: number;
  readonly pod: string;
  readonly uid: string;
  /** Epoch ms. */
  readonly at: number;
  /** The end of its retention, epoch ms. */
  readonly until: number;
  /** The last lines, compressed by gzip, in base64. */
  readonly text: string;
};

/** The most bytes of one log, and the most logs of one object. */
export const mostLogBytes = 65_536;
export const mostLogs = 3;

/** The reason of a message that only asks for the end of logs whose retention, or whose object, is over. */
export const logsAged = "resync: kept logs";

const ofLogs = "logs.";

/** Returns the key under which the logs of `key` are stored. No kind of Kubernetes has a dot in its name. */
export const logsKey = ({ cluster, kind, namespace, name }: Key): Key => ({
  cluster,
  kind: `${ofLogs}${kind}`,
  namespace,
  name,
});

/** Returns the kind whose logs are stored under this one; undefined if it is not a kind of logs. */
export const loggedKind = (kind: string): string | undefined =>
  kind.startsWith(ofLogs) ? kind.slice(ofLogs.length) : undefined;

const keptLogOf = (value: unknown): readonly KeptLog[] => {
  if (!isRecord(value)) return [];
  const { attempt, pod, uid, at, until, text } = value;
  return typeof attempt === "number" &&
    typeof pod === "string" &&
    typeof uid === "string" &&
    typeof at === "number" &&
    typeof until === "number" &&
    typeof text === "string"
    ? [{ attempt, pod, uid, at, until, text }]
    : [];
};

/** Returns the logs in the memory of a stored record, oldest first; those that cannot be read are left out. */
export const keptLogsIn = (memory: unknown): readonly KeptLog[] => {
  const logs = isRecord(memory) ? memory["logs"] : undefined;
  return Array.isArray(logs) ? logs.flatMap(keptLogOf).slice(-mostLogs) : [];
};
