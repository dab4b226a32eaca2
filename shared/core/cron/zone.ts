/** Time zones: the local time of a zone at an instant. The rules come with the runtime's ICU data. */

/** Date and time in a zone. `weekday` 0 is Sunday. */
export type Wall = {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly weekday: number;
};

/** Maps epoch ms to the local time of the zone. */
export type Zone = (at: number) => Wall;

const utc: Zone = (at) => {
  const date = new Date(at);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    weekday: date.getUTCDay(),
  };
};

const formatterFor = (name: string): Intl.DateTimeFormat | undefined => {
  try {
    const parts = { year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric" } as const;
    return new Intl.DateTimeFormat("en-US-u-ca-gregory-nu-latn", { timeZone: name, hourCycle: "h23", ...parts });
  } catch {
    return undefined;
  }
};

/**
 * Returns a zone by its IANA name; undefined if there is none. "" and "Local" are UTC, because a function has no local
 * zone.
 */
export const zoneOf = (name: string): Zone | undefined => {
  if (name === "" || name === "Local" || name === "UTC") return utc;
  const formatter = formatterFor(name);
  if (formatter === undefined) return undefined;
  return (at) => {
    const shown = Object.fromEntries(formatter.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0 } = shown;
    return { year, month, day, hour, minute, weekday: new Date(Date.UTC(year, month - 1, day)).getUTCDay() };
  };
};
