/**
 * The health of a deployment as a process that does not look itself knows it, by records: the other controllers for which nothing
 * is written, which a resync or dispatcher keeps, and the changes that no message had told, which a resync counts.
 */
import { kubernetesCheckpoints } from "../../adapters/checkpoints/kubernetes.ts";
import type { Transport } from "../../core/http.ts";
import type { Checkpoints, Report } from "../../engine/ports.ts";
import { type Standing, signsIn, standingIn, trustedMs } from "../../forward/controller-detection.ts";
import { cursorIn } from "../../forward/cursors.ts";
import { countIn, unheardKey } from "../../forward/unheard.ts";
import { signsKey } from "../common/standby.ts";
import { tableIn } from "../read-api/reader.ts";
import type { Place } from "../settings/formats.ts";

type Settings = {
  readonly transport: Transport;
  readonly checkpoints: Place;
  readonly cluster: string;
  readonly home: string;
  readonly report: Report;
  /** Epoch ms. */
  readonly now: () => number;
};

/** The time for which a record that was read is shown, ms. */
const shownMs = 10_000;

const recordsIn = ({ transport, checkpoints, cluster, home }: Settings): Pick<Checkpoints, "load"> =>
  tableIn(checkpoints, cluster)?.records ?? kubernetesCheckpoints(transport, { home });

/** Opens a reader of one record without a request. A record that cannot be read is told, and the latest value is shown. */
const openKept = <Value>(
  { report, now }: Settings,
  what: string,
  empty: Value,
  read: () => Promise<Value>,
): (() => Promise<Value>) => {
  let latest = empty;
  let readAt = Number.NEGATIVE_INFINITY;
  return async () => {
    if (now() - readAt < shownMs) return latest;
    readAt = now();
    try {
      latest = await read();
    } catch (cause) {
      report("warn", `${what} cannot be read`, { error: String(cause) });
    }
    return latest;
  };
};

export const openStandingReader = (settings: Settings): (() => Promise<Standing>) => {
  const { cluster, now } = settings;
  const records = recordsIn(settings);
  return openKept<Standing>(settings, "the signs of other controllers", new Map(), async () => {
    const signs = signsIn(cursorIn((await records.load(signsKey(cluster)))?.record));
    // Where no function renews the record, nothing is known.
    return signs === undefined || Math.abs(now() - signs.at) > trustedMs ? new Map() : standingIn(signs);
  });
};

/** Opens the reader of the count of changes that the last resync found and no message had told. */
export const openUnheardReader = (settings: Settings): (() => Promise<number>) => {
  const records = recordsIn(settings);
  return openKept(settings, "the count of changes that no message had told", 0, async () => {
    return countIn(cursorIn((await records.load(unheardKey(settings.cluster)))?.record));
  });
};
