/**
 * The other controllers for which nothing is written, as a process that does not look itself knows them: by the record of signs
 * that a resync or dispatcher keeps.
 */
import { kubernetesCheckpoints } from "../../adapters/checkpoints/kubernetes.ts";
import type { Transport } from "../../core/http.ts";
import type { Checkpoints, Report } from "../../engine/ports.ts";
import { type Standing, signsIn, standingIn, trustedMs } from "../../forward/controller-detection.ts";
import { cursorIn } from "../../forward/cursors.ts";
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

/** Opens the reader without a request. A record that cannot be read is told, and the latest one is shown. */
export const openStandingReader = (settings: Settings): (() => Promise<Standing>) => {
  const { cluster, report, now } = settings;
  const records = recordsIn(settings);
  let latest: Standing = new Map();
  let readAt = Number.NEGATIVE_INFINITY;
  return async () => {
    if (now() - readAt < shownMs) return latest;
    readAt = now();
    try {
      const signs = signsIn(cursorIn((await records.load(signsKey(cluster)))?.record));
      // Where no function renews the record, nothing is known.
      latest = signs === undefined || Math.abs(now() - signs.at) > trustedMs ? new Map() : standingIn(signs);
    } catch (cause) {
      report("warn", "the signs of other controllers cannot be read", { error: String(cause) });
    }
    return latest;
  };
};
