/**
 * The resync function: one resync that ends in time, and the gauges as the objects stand; the next run goes
 * on where this one stopped.
 */
import { remainingMsOf, runOf } from "../../adapters/lambda.ts";
import type { Watcher } from "../../core/operator.ts";
import type { Report } from "../../engine/ports.ts";
import { type Standing, standingIn } from "../../forward/controller-detection.ts";
import { type Cursors, cursorKey } from "../../forward/cursors.ts";
import { openUnheard, type TakeUnheard, unheardKey } from "../../forward/unheard.ts";
import { openKeySource } from "../common/key-source.ts";
import { type FunctionStandby, openStandby } from "../common/standby.ts";
import { processClock } from "../common/step-dependencies.ts";
import { type Environment, type Settings, settingsFor } from "../settings/read.ts";
import { type ResyncScope, resyncWithin, type Swept, startSweeping } from "./sweep.ts";

export type SweepParts = {
  readonly scope: ResyncScope;
  readonly cursors: Cursors;
  readonly report: Report;
  /** Leaves out kinds for which another controller is at work; absent: all kinds are resynced. */
  readonly standby?: FunctionStandby;
  /** Sends the gauges in the time that is left; absent: none is sent. */
  readonly tellGauges?: (late: () => boolean, unheard: number) => Promise<void>;
  /** Counts the changes that no message had told; absent: there is no place for a record that tenants may not write. */
  readonly takeUnheard?: TakeUnheard;
  /** Reads the depths of the queues, and returns problems in words; absent: no queue is watched. */
  readonly depths?: () => Promise<readonly string[]>;
  /** Closes the connection to the queue; absent: there is none to close. */
  readonly close?: () => Promise<void>;
};

const ours = async ({ scope, standby }: SweepParts): Promise<ResyncScope> => {
  const signs = await Promise.all(scope.operators.map(({ kind }) => standby?.signs(kind) ?? []));
  return { ...scope, operators: scope.operators.filter((_, at) => signs[at]?.length === 0) };
};

/** The result of a resync, with what is wrong with the queues. */
export type Resynced = Omit<Swept, "unheard"> & { readonly unheard: number; readonly problems: readonly string[] };

/**
 * Runs one resync. `late` is called before each new piece of work. The cursor is written only if it changes. Depths are
 * read first, without the messages of this run.
 */
export const sweepOnce = async (parts: SweepParts, sweep: string, late: () => boolean): Promise<Resynced> => {
  const { scope, cursors, report } = parts;
  const problems = (await parts.depths?.()) ?? [];
  const key = cursorKey(scope.cluster, scope.namespaces[0], "resync");
  const after = await cursors.load(key);
  const swept = await resyncWithin(await ours(parts), sweep, { late, after });
  if (swept.next !== after) await cursors.save(key, swept.next ?? "");
  const { sent, left } = swept;
  if (left > 0) report("warn", "resync: out of time, the next run continues", { keys: sent, left });
  else report("info", "resync: sending unfinished keys again", { keys: sent });
  const unheard = (await parts.takeUnheard?.(swept.unheard)) ?? 0;
  await parts.tellGauges?.(late, unheard);
  return { ...swept, unheard, problems };
};

/** Opens the reading of the queues on SQS; nothing is loaded before the first reading. */
const depthsOf = (
  { fifoUrl, delayUrl, updatesUrl }: Settings<"resync">,
  report: Report,
): Pick<SweepParts, "depths"> => {
  const queues = [fifoUrl, delayUrl, updatesUrl].filter((url) => url !== undefined);
  if (queues.length === 0) return {};
  const load = async () => {
    const [{ openDepths }, { openSqs }] = await Promise.all([
      import("./depths.ts"),
      import("../../adapters/sqs/client.ts"),
    ]);
    return openDepths(queues, openSqs(), report);
  };
  let reading: ReturnType<typeof load> | undefined;
  return {
    depths: async () => {
      reading ??= load();
      return (await reading)();
    },
  };
};

/** Opens the resync. `kinds`: absent, the registered ones that the settings choose, with their gauges. */
const openSweep = async (settings: Settings<"resync">, kinds?: readonly Watcher[]): Promise<SweepParts> => {
  const source = await openKeySource(settings, { userAgent: "rekindle-resync", kinds });
  const { report, cluster, cursors, namespaceScope, lookout, sender, sighting } = source;
  const { checkpoints: _, ...hinting } = source.records;
  const scope = { ...source.scope, ...hinting };
  const sighter = sighting?.sighter;
  const now = processClock().monotonic;
  const looking = { lookout, cluster, operators: scope.operators, report, sighter };
  const print = (line: string): void => console.log(line);
  const standing = async (): Promise<Standing> => {
    const kept = await sighter?.sightings.load();
    return kept === undefined ? new Map() : standingIn(kept);
  };
  const { families } = settings;
  const counted = { transport: scope.transport, namespaceScope, families, hints: hinting.hints, standing };
  // Loaded when the keys are sent, so that the first of them does not wait for it.
  const tellGauges = async (late: () => boolean, unheard: number): Promise<void> => {
    const { openGaugeLines } = await import("./gauges.ts");
    const of = { cluster: scope.cluster, print, report, now: Date.now };
    await openGaugeLines({ ...counted, ...of, unheard: () => unheard })(late);
  };
  return {
    ...(settings.gauges && kinds === undefined ? { tellGauges } : {}),
    ...(sighting === undefined ? {} : { takeUnheard: openUnheard(cursors, unheardKey(scope.cluster), report) }),
    ...depthsOf(settings, report),
    scope: {
      ...scope,
      queue: sender,
      updates: settings.updatesUrl !== undefined || settings.natsUrl !== undefined,
    },
    cursors,
    report,
    standby: openStandby({ ...looking, looks: true, now }),
    close: sender.close,
  };
};

export type Resync = (event: unknown, context?: unknown) => Promise<Omit<Resynced, "problems">>;

/** Time for the last sends and the cursor. */
const reserveMs = 10_000;

/** Opens everything once per environment. A run that has found problems with the queues fails at its end. */
export const openResync = async (env: Environment, kinds?: readonly Watcher[]): Promise<Resync> => {
  const parts = await openSweep(settingsFor("resync", env), kinds);
  return async (event, context) => {
    const until = performance.now() + remainingMsOf(context) - reserveMs;
    const { problems, ...swept } = await sweepOnce(
      ...([parts, runOf(event) ?? String(Date.now()), () => performance.now() > until] as const),
    );
    if (problems.length > 0) throw new Error(`this resync has sent its keys, and found ${problems.join("; ")}`);
    return swept;
  };
};

/** Runs resyncs at an interval, as a process. */
export const sweepUntil = async (env: Environment, stopped: Promise<void>): Promise<void> => {
  const settings = settingsFor("resync", env);
  const parts = await openSweep(settings);
  const sweep = async (): Promise<number> => (await sweepOnce(parts, String(Date.now()), () => false)).sent;
  const sweeping = startSweeping(sweep, settings.resyncMs, parts.report);
  await stopped;
  await sweeping.stop();
  await parts.close?.();
};
