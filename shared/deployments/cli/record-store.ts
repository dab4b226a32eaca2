/** Which store of records the command line looks into: the one that hosts and functions are told of by the same variables. */
import { tableCheckpoints } from "../../adapters/dynamodb/checkpoints.ts";
import type { RecordTable } from "../../cli/tools.ts";
import { place } from "../settings/record-store.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Where records are kept, by REKINDLE_CHECKPOINTS. Throws one line when that is no place. */
const placeIn = ({ REKINDLE_CHECKPOINTS: text = "" }: Environment) => {
  const { data, error } = place.safeParse(text === "" ? "kubernetes" : text);
  if (data === undefined) throw new Error(`REKINDLE_CHECKPOINTS: ${error?.issues[0]?.message}`);
  return data;
};

/**
 * The table that the environment names, opened without a request; undefined: records are objects of the cluster. The
 * cluster's alias is a host's REKINDLE_CLUSTER or a function's REKINDLE_CLUSTER_ALIAS.
 */
export const openTable = (env: Environment): RecordTable | undefined => {
  const kept = placeIn(env);
  if (kept.in === "kubernetes") return undefined;
  const cluster = env["REKINDLE_CLUSTER"] ?? env["REKINDLE_CLUSTER_ALIAS"] ?? "default";
  const { table: name, region, keepMs } = kept;
  const options = { table: name, cluster, region, ...(keepMs === undefined ? {} : { keepMs }) };
  return { name, cluster, records: tableCheckpoints(options) };
};
