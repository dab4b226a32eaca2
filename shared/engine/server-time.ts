/** Notes the API server's clock with each answer to a read, so that nothing need be read to know it. */
import type { Epoch } from "../core/time.ts";
import type { Answer, Clock, Cluster } from "./ports.ts";

export type ServerTime = {
  /** The cluster, whose answers are noted. */
  readonly cluster: Cluster;
  /** Returns the latest reading; undefined: none yet. */
  readonly latest: () => Epoch | undefined;
};

/**
 * Opens the notes. The server read its clock at some time between the request and its answer. A reading that counts from
 * when it was "sent" is never behind the server's clock by more than the second that `Date` leaves out; one that
 * counts from when it was "answered" is never ahead of it.
 */
export const openServerTime = (
  cluster: Cluster,
  { monotonic }: Pick<Clock, "monotonic">,
  from: "sent" | "answered",
): ServerTime => {
  let latest: Epoch | undefined;
  const noted = async <T>(read: () => Promise<Answer<T>>): Promise<Answer<T>> => {
    const sentAt = monotonic();
    const answer = await read();
    latest = { date: answer.date, at: from === "sent" ? sentAt : monotonic() };
    return answer;
  };
  return {
    cluster: {
      ...cluster,
      get: (ref, only) => noted(() => cluster.get(ref, only)),
      list: (query) => noted(() => cluster.list(query)),
    },
    latest: () => latest,
  };
};
