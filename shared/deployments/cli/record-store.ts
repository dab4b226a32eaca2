/** Which store of records the command line looks into: the one that hosts and functions are told of by the same variables. */
import { tableCheckpoints } from "../../adapters/dynamodb/checkpoints.ts";
import type { RecordTable } from "../../cli/tools.ts";
import { type Environment, settingsForCli } from "../settings/read.ts";

/** The table that the environment names, opened without a request; undefined: records are objects of the cluster. Throws one line. */
export const openTable = (env: Environment): RecordTable | undefined => {
  const { cluster, checkpoints: kept } = settingsForCli(env);
  if (kept.in === "kubernetes") return undefined;
  const { table: name, region, keepMs } = kept;
  const options = { table: name, cluster, region, ...(keepMs === undefined ? {} : { keepMs }) };
  return { name, cluster, records: tableCheckpoints(options) };
};
