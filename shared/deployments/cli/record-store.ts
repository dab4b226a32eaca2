/** The record store of the command line, named by the same variables as that of hosts and functions. */
import { tableCheckpoints } from "../../adapters/dynamodb/checkpoints.ts";
import type { RecordTable } from "../../cli/io/tools.ts";
import { type Environment, settingsForCli } from "../settings/read.ts";

/**
 * Opens the table that the environment names, without a request; undefined: records are objects of the cluster. Throws
 * one line where a setting is wrong.
 */
export const openTable = (env: Environment): RecordTable | undefined => {
  const { cluster, checkpoints: kept } = settingsForCli(env);
  if (kept.in === "kubernetes") return undefined;
  const { table: name, region, keepMs } = kept;
  const options = { table: name, cluster, region, ...(keepMs === undefined ? {} : { keepMs }) };
  return { name, cluster, records: tableCheckpoints(options) };
};
