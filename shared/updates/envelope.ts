/** The envelope of an update: a CloudEvent 1.0 in structured JSON, under an id that all copies share. */
import type { Key } from "../core/key.ts";
import { positionText, type Update } from "../core/outbox.ts";
import type { Parcel } from "../core/sink.ts";
import { timeText } from "../core/time.ts";

const standing = ({ sequence, state, attempt, terminal, at, message }: Update) => ({
  ...{ sequence, state, attempt, terminal },
  time: timeText(at),
  ...(message === undefined ? {} : { message }),
});

/**
 * Returns the parcel of an update. The same update gives the same parcel, apart from the latest state that it carries.
 */
export const parcelOf = (key: Key, stream: string, update: Update, latest: Update): Parcel => {
  const { cluster, kind, namespace, name } = key;
  const id = positionText({ stream, sequence: update.sequence });
  const { uid } = update;
  const event = {
    specversion: "1.0",
    id,
    source: `/rekindle/${encodeURIComponent(cluster)}`,
    type: "dev.rekindle.status",
    subject: [kind, namespace, name].filter((part) => part !== "").join("/"),
    time: timeText(update.at),
    datacontenttype: "application/json",
    sequence: String(update.sequence).padStart(10, "0"),
    data: { kind, namespace, name, uid, ...standing(update), latest: standing(latest) },
  };
  return { key, uid, id, stream, update, body: JSON.stringify(event) };
};
