/** Settings of how records come back and what is kept in them, for hosts and, by the environment, for functions. */
import * as z from "zod";
import { type RecoverySettings, recovery } from "../../engine/settings.ts";
import { choice, count, duration, yesOrNo } from "./formats.ts";

const longestReturnMs = 600_000;

export const recoveryKeys = {
  strict: yesOrNo
    .prefault("true")
    .describe("a record that cannot be read stops its application; false: what can be read of it is kept"),
  reconfigurationPolicy: choice("additive", "equal", "any")
    .prefault("additive")
    .describe("what fence and timeout may do under existing records: only grow, nothing, or anything"),
  reregistrationMs: duration
    .refine((ms) => ms <= longestReturnMs, { error: "write a duration up to 10m" })
    .prefault("30s")
    .describe("after a recovery, what is missing may take so long to come back before it counts as lost"),
  keepRuns: count(100, 0).prefault("10").describe("ended runs kept in an application's record"),
  keepRunsForMs: duration.prefault("168h").describe("how long they are kept"),
} as const;

const shape = z.object(recoveryKeys);

type Settings = z.infer<typeof shape>;

export const recoverySettingsOf = (settings: Settings): RecoverySettings => {
  const { strict, reconfigurationPolicy: policy, reregistrationMs: returnMs, keepRuns: runs, keepRunsForMs } = settings;
  return { ...recovery, strict, policy, returnMs, runs, retentionMs: keepRunsForMs };
};

/** key → its environment variable, the same for hosts and functions. */
const variables = {
  strict: "REKINDLE_STRICT",
  reconfigurationPolicy: "REKINDLE_RECONFIGURATION_POLICY",
  reregistrationMs: "REKINDLE_REREGISTRATION",
  keepRuns: "REKINDLE_KEEP_RUNS",
  keepRunsForMs: "REKINDLE_KEEP_RUNS_FOR",
} as const satisfies Readonly<Record<keyof Settings, string>>;

/** As a function's environment says. Throws one line that names what is wrong. */
export const recoverySettingsIn = (env: Readonly<Record<string, string | undefined>>): RecoverySettings => {
  const said = Object.entries(variables).flatMap(([key, variable]) =>
    env[variable] === undefined ? [] : [[key, env[variable]]],
  );
  const parsed = shape.safeParse(Object.fromEntries(said));
  if (parsed.success) return recoverySettingsOf(parsed.data);
  const wrong = parsed.error.issues.map(({ path, message }) => {
    const [, variable = String(path[0])] = Object.entries(variables).find(([key]) => key === path[0]) ?? [];
    return `${variable} (${message})`;
  });
  throw new Error(`set the function's environment: ${wrong.join(", ")}`);
};
