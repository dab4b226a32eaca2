/**
 * The page beside the HTTP API. On a host its rows come from the host's own watches and saves; the records of before are
 * listed once, when somebody looks for the first time. The api function and a dispatcher list while somebody looks.
 */
import { recordsIn } from "../../cli/inspection/record.ts";
import type { Transport } from "../../core/http.ts";
import type { Report } from "../../engine/ports.ts";
import type { Secret } from "../common/secret.ts";
import { tableIn } from "../read-api/record-store.ts";
import type { Configuration } from "../settings/table.ts";
import { type Board, openBoard } from "./board.ts";
import { openPolling } from "./polled.ts";
import type { PageParts } from "./routes.ts";

export type ServedPage = Pick<PageParts, "cluster" | "viewed" | "ready" | "depth" | "fresh" | "isStreamed"> & {
  readonly board: Board;
  readonly transport: Transport;
  readonly table: ReturnType<typeof tableIn>;
  /** The setting that names the callers. */
  readonly secret: Secret;
  /** An answer about one application is read again after this time, ms, also without a change; absent: the usual. */
  readonly freshMs?: number;
};

/** Opens the page of a host, without a request. */
export const openHostPage = (
  { cluster, checkpoints, namespaces }: Configuration,
  transport: Transport,
  secret: Secret,
  report: Report,
): ServedPage => {
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
    isStreamed: true,
    viewed: () => {
      // Records in a table are read one by one, with the application that somebody opens.
      if (isRead || checkpoints.in !== "kubernetes") return;
      isRead = true;
      void readRecords();
    },
  };
};

type Elsewhere = {
  readonly settings: Pick<Configuration, "cluster" | "checkpoints">;
  readonly transport: Transport;
  readonly secret: Secret;
  readonly report: Report;
};

/** Without a watch, a change of pods is seen only by a read: about as often as a viewer polls. */
const polledFreshMs = 1_500;

/** Opens the page of the api function or a dispatcher, without a request. A standby dispatcher shows it, too. */
export const openFunctionPage = ({ settings, transport, secret, report }: Elsewhere): ServedPage => {
  const { cluster, checkpoints } = settings;
  const board = openBoard(Date.now);
  const hasRecords = checkpoints.in === "kubernetes";
  const { fresh, ready } = openPolling({ transport, board, report, hasRecords, now: () => performance.now() });
  return {
    ...{ board, cluster, transport, secret, table: tableIn(checkpoints, cluster), fresh, ready },
    isStreamed: false,
    freshMs: polledFreshMs,
  };
};
