/** Durations as Go writes them: `300ms`, `10m`, `1h30m0s`. */

const units: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

/** Reads a duration in whole milliseconds; undefined if the text is none. */
export const durationMs = (text: string): number | undefined => {
  const [, sign = "", rest = ""] = /^([+-]?)(.*)$/.exec(text) ?? [];
  if (rest === "0") return 0;
  if (!/^(\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)((\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h))*$/.test(rest)) return undefined;
  const parts = rest.matchAll(/([\d.]+)(ns|us|µs|ms|s|m|h)/g);
  const sum = [...parts].reduce((total, [, number, unit = ""]) => total + Number(number) * (units[unit] ?? 0), 0);
  return Math.round(sign === "-" ? -sum : sum);
};

/** Writes a duration as Go prints it: whole seconds, larger units only when they are needed. */
export const durationText = (ms: number): string => {
  const seconds = Math.floor(ms / 1_000);
  const [hours, minutes, left] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  if (hours > 0) return `${hours}h${minutes}m${left}s`;
  return minutes > 0 ? `${minutes}m${left}s` : `${left}s`;
};
