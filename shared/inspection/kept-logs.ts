/** The kept ends of drivers' logs, from the record beside the application's own: `rekindle log --attempt` shows them. */
import { gunzipSync } from "node:zlib";
import { checkpointRef } from "../adapters/checkpoints/kubernetes.ts";
import { openCluster } from "../adapters/kubernetes/cluster.ts";
import { fieldsOf } from "../core/json.ts";
import { type KeptLog, keptLogsIn, logsKey, mostLogBytes } from "../core/kept-log.ts";
import type { Key } from "../core/key.ts";
import { timeText } from "../core/time.ts";
import { Refused } from "./io/refusal.ts";
import type { Source } from "./io/session.ts";
import { columns } from "./io/text.ts";

/** Reads the kept logs of an application, oldest first; also when it is gone. */
export const keptLogsOf = async ({ transport, table }: Pick<Source, "transport" | "table">, key: Key) => {
  const place = logsKey(table === undefined ? key : { ...key, cluster: table.cluster });
  const record: unknown =
    table === undefined
      ? (await openCluster(transport).get(checkpointRef(place, "rekindle"))).value?.spec
      : (await table.records.load(place))?.record;
  return keptLogsIn(fieldsOf(record)["memory"]);
};

const unpacked = ({ text, pod }: KeptLog): string => {
  try {
    return gunzipSync(Buffer.from(text, "base64"), { maxOutputLength: 2 * mostLogBytes }).toString();
  } catch (cause) {
    throw new Refused(`the kept log of ${pod} cannot be read: its record was changed`, { cause });
  }
};

/** The text of one attempt's log, without its last line break; of several pods of it the latest. Undefined: none is kept. */
export const keptLogText = (logs: readonly KeptLog[], attempt: number): string | undefined => {
  const log = logs.findLast((one) => one.attempt === attempt);
  return log === undefined ? undefined : unpacked(log).replace(/\n$/, "");
};

/** A table of the kept logs. */
export const keptLogLines = (logs: readonly KeptLog[]): string =>
  logs.length === 0
    ? "no logs are kept: a deployment keeps them with keep-driver-logs, once it deletes a driver's pod"
    : columns([
        ["ATTEMPT", "POD", "KEPT", "UNTIL"],
        ...logs.map(({ attempt, pod, at, until }) => [String(attempt), pod, timeText(at), timeText(until)]),
      ]);
