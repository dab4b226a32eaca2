/**
 * Writes recordings of decisions into the process's log, where every kind of deployment keeps lines: `rekindle replay`
 * reads them there. A line holds the recording as gzip in base64, with values that look like secrets masked.
 */
import { type Key, textOf } from "../../core/key.ts";
import { type DecisionRecording, isRecorded } from "../../engine/cluster/queries.ts";
import type { World } from "../../engine/context/world.ts";
import type { Report } from "../../engine/ports.ts";
import { maskSecrets } from "../../kube/secret-mask.ts";

/** Which decisions are recorded: those about annotated objects, all, or none. */
export type RecordingMode = "annotated" | "all" | "none";

/** The longest recording as JSON, bytes: compressing it holds up all other work for some tens of milliseconds. */
const longestJson = 2_097_152;
/** The longest line, bytes: CloudWatch takes 256 KiB. */
const longestLine = 196_608;
/** Bytes of lines in one minute, of the process and of one namespace. */
const mostPerMinute = { process: 8_388_608, namespace: 2_097_152 } as const;
const minuteMs = 60_000;

/** The settings of a deployment on which its decisions depend. */
export type DecidingSettings = Readonly<Record<string, unknown>>;

/** The content of a line, before compression. */
export type RecordedLine = { readonly settings: DecidingSettings; readonly recording: DecisionRecording };

type Opened = {
  readonly report: Report;
  readonly mode: RecordingMode;
  readonly settings: DecidingSettings;
  /** Epoch ms. */
  readonly now: () => number;
};

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
  // Loaded with the first recording, because most processes never record.
  const text = process.getBuiltinModule("node:zlib").gzipSync(json).toString("base64");
  return text.length > longestLine ? undefined : text;
};

/** Opens the recording of decisions. Lines have level info; a decision that is not recorded is reported with its reason. */
export const openDecisionLog = ({ report, mode, settings, now }: Opened): Pick<World, "recording"> => {
  if (mode === "none") return {};
  const isAllowed = openAllowance(now);
  const keep = (key: Key, recording: DecisionRecording | undefined): void => {
    const about = { key: textOf(key) };
    const text = recording === undefined ? undefined : encoded({ settings, recording });
    if (text === undefined) report("info", "a decision was not recorded: it is too large", about);
    else if (isAllowed(key.namespace, text.length))
      report("info", "a decision was recorded", { ...about, recording: text });
    else report("warn", "decisions are not recorded until the next minute: too many were", about);
  };
  return {
    recording: (key, object, now) =>
      mode === "all" || isRecorded(object, now) ? (recording) => keep(key, recording) : undefined,
  };
};
