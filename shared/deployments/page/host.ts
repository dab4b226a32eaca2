/**
 * The page on a host: its rows come from the host's own watches and its records from the host's own saves. The records of
 * before are listed once, when somebody looks for the first time.
 */
import { recordsIn } from "../../cli/inspection/record.ts";
import type { Transport } from "../../core/http.ts";
import type { Report } from "../../engine/ports.ts";
import type { Secret } from "../common/secret.ts";
import { tableIn } from "../read-api/record-store.ts";
import type { Configuration } from "../settings/table.ts";
import { type Board, openBoard } from "./board.ts";
import type { PageParts } from "./routes.ts";

export type HostPage = Pick<PageParts, "cluster" | "viewed" | "ready" | "depth"> & {
  readonly board: Board;
  readonly transport: Transport;
  readonly table: ReturnType<typeof tableIn>;
  /** The setting that names the callers. */
  readonly secret: Secret;
};

/** Opens the page without a request. */
export const openHostPage = (
  { cluster, checkpoints, namespaces }: Configuration,
  transport: Transport,
  secret: Secret,
  report: Report,
): HostPage => {
  const board = openBoard(Date.now);
  const places = namespaces.length === 0 ? [""] : namespaces;
  let isRead = false;
  const readRecords = async (): Promise<void> => {
    try {
      for (const place of places) board.remember(await recordsIn({ transport }, place));
    } catch (cause) {
      isRead = false;
      report("warn", "the page cannot list records, and tries again with the next viewer", { error: String(cause) });
    }
  };
  return {
    ...{ board, cluster, transport, secret, table: tableIn(checkpoints, cluster) },
    ready: () => true,
    viewed: () => {
      // Records in a table are read one by one, with the application that somebody opens.
      if (isRead || checkpoints.in !== "kubernetes") return;
      isRead = true;
      void readRecords();
    },
  };
};
