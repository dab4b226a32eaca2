/** Instants between the API's texts and epoch milliseconds; nothing here knows what time it is. */

/** Epoch ms of an API timestamp; undefined when it is none. */
export const instantOf = (time: string | null | undefined): number | undefined => {
  const at = time === null || time === undefined ? Number.NaN : Date.parse(time);
  return Number.isNaN(at) ? undefined : at;
};

/** Further away than any time that the API can tell, and so near that it is one of JavaScript's after a span was added. */
const furthestMs = 4e15;

/** What is further away is no time, but a number that went wrong. */
export const isInstant = (at: number): boolean => Math.abs(at) <= furthestMs;

/** An instant as the API writes it: RFC 3339, whole seconds, UTC. */
export const timeText = (at: number): string => new Date(at).toISOString().replace(/\.\d+Z$/, "Z");

/** The API server's clock when the process's own showed `at`: a live answer's, carried along. Both in ms. */
export type Epoch = { readonly date: number; readonly at: number };

/** The API server's clock now, in whole seconds as it tells them, epoch ms. */
export const dateAt = ({ date, at }: Epoch, monotonic: number): number =>
  date + Math.floor(Math.max(0, monotonic - at) / 1_000) * 1_000;
