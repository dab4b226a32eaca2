/** Instants between the API's texts and epoch milliseconds; nothing here knows what time it is. */

/** Epoch ms of an API timestamp; undefined when it is none. */
export const instantOf = (time: string | null | undefined): number | undefined => {
  const at = time === null || time === undefined ? Number.NaN : Date.parse(time);
  return Number.isNaN(at) ? undefined : at;
};

/** An instant as the API writes it: RFC 3339, whole seconds, UTC. */
export const timeText = (at: number): string => new Date(at).toISOString().replace(/\.\d+Z$/, "Z");
