/**
 * The lines of recorded decisions: a recording as gzip in base64, with values that look like secrets masked. Loaded with
 * the first recording, because most processes never record.
 */
import { gzipSync } from "node:zlib";
import { type Key, textOf } from "../../core/key.ts";
import type { DecisionRecording } from "../../engine/cluster/queries.ts";
import type { Report } from "../../engine/ports.ts";
import { maskSecrets } from "../../kube/secret-mask.ts";

/** The settings of a deployment on which its decisions depend. */
export type DecidingSettings = Readonly<Record<string, unknown>>;

/** The content of a line, before compression. */
export type RecordedLine = { readonly settings: DecidingSettings; readonly recording: DecisionRecording };

export type OpenedLog = {
  readonly report: Report;
  readonly settings: DecidingSettings;
  /** Epoch ms. */
  readonly now: () => number;
};

/** The longest recording as JSON, bytes: compressing it holds up all other work for some tens of milliseconds. */
const longestJson = 2_097_152;
/** The longest line, bytes: CloudWatch takes 256 KiB. */
const longestLine = 196_608;
/** Bytes of lines in one minute, of the process and of one namespace. */
const mostPerMinute = { process: 8_388_608, namespace: 2_097_152 } as const;
const minuteMs = 60_000;

/** Counts the bytes of the current minute. */
const openAllowance = (now: () => number) => {
  let minute = 0;
  let spent = new Map<string, number>();
  let total = 0;
  return (namespace: string, bytes: number): boolean => {
    const current = Math.floor(now() / minuteMs);
    if (current !== minute) [minute, spent, total] = [current, new Map(), 0];
    const own = (spent.get(namespace) ?? 0) + bytes;
    if (total + bytes > mostPerMinute.process || own > mostPerMinute.namespace) return false;
    spent.set(namespace, own);
    total += bytes;
    return true;
  };
};

const encoded = (line: RecordedLine): string | undefined => {
  const json = JSON.stringify(maskSecrets(line));
  if (json.length > longestJson) return undefined;
  const text = gzipSync(json).toString("base64");
  return text.length > longestLine ? undefined : text;
};

/** Opens the writing of recordings into the process's log, bounded by the bytes of a minute. */
export const openRecordingLines = ({ report, settings, now }: OpenedLog) => {
  const isAllowed = openAllowance(now);
  return (key: Key, recording: DecisionRecording | undefined): void => {
    const about = { key: textOf(key) };
    const text = recording === undefined ? undefined : encoded({ settings, recording });
    if (text === undefined) report("info", "a decision was not recorded: it is too large", about);
    else if (isAllowed(key.namespace, text.length))
      report("info", "a decision was recorded", { ...about, recording: text });
    else report("warn", "decisions are not recorded until the next minute: too many were", about);
  };
};
