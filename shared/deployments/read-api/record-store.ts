/** The source of the read API: the cluster, and the table of its records, if they are in one. */
import type { ReadTable } from "../../cli/io/tools.ts";
import { openAccess } from "../common/cluster-access.ts";
import { once } from "../common/once.ts";
import type { Access } from "../settings/cluster.ts";
import type { Place } from "../settings/formats.ts";
import { openReader, type Reader } from "./reader.ts";

/**
 * Returns the table of one cluster's records; undefined: they are objects of the cluster. The client is loaded with the
 * first request.
 */
export const tableIn = (kept: Place, cluster: string): ReadTable | undefined => {
  if (kept.in === "kubernetes") return undefined;
  const { table: name, region } = kept;
  const open = once(async () => {
    const { openTableReader } = await import("../../adapters/dynamodb/load.ts");
    return openTableReader({ table: name, cluster, region });
  });
  return { name, cluster, records: { load: async (key) => (await open()).load(key) } };
};

/** Opens everything without a request. `cluster`: its alias. */
export const readFrom = (access: Access, kept: Place, cluster: string): Reader =>
  openReader({ transport: openAccess(access, { userAgent: "rekindle-api" }), table: tableIn(kept, cluster) });
