/**
 * The forward function: a window of watching from the stored cursors, which sends keys to the FIFO queue.
 */
import { remainingMsOf } from "../../adapters/lambda.ts";
import type { Transport } from "../../core/http.ts";
import { isRecord } from "../../core/json.ts";
import { dedupe } from "../../core/key.ts";
import type { Watcher } from "../../core/operator.ts";
import type { Queue, Report } from "../../engine/ports.ts";
import type { Cursors } from "../../forward/cursors.ts";
import type { ForwarderSettings, Loop } from "../../forward/forwarder.ts";
import type { Sending } from "../../forward/keys.ts";
import type { WatchState } from "../../forward/listwatch.ts";
import { openNodes } from "../../forward/node-watch.ts";
import { openWindows, type WindowResult, type Windows } from "../../forward/windows.ts";
import { openKeySource } from "../common/key-source.ts";
import type { Scope } from "../common/namespaces.ts";
import { watchNodes } from "../common/node-watch.ts";
import type { Records } from "../common/records.ts";
import { startSighting } from "../common/standby.ts";
import { restingIn } from "../resync/rest-check.ts";
import { hintsIn, resyncAfterGaps, resyncsOf } from "../resync/sweep.ts";
import { lookLength } from "../settings/formats.ts";
import { type Environment, settingsFor } from "../settings/read.ts";

export type ForwardParts = Scope & {
  readonly records: Records;
  /** Where the last windows ended. */
  readonly cursors: Cursors;
  readonly transport: Transport;
  readonly send: Queue["send"];
  readonly report: Report;
  readonly operators: readonly Watcher[];
} & Pick<ForwarderSettings, "see" | "patientMs" | "gap">;

/**
 * Finds keys with a record and no object: the object was deleted between windows. Records of child objects belong to
 * their owners.
 */
const straysIn =
  ({ transport, cluster, operators, records }: ForwardParts) =>
  async ({ subject, namespace }: Loop, { known, cursor = "" }: WatchState): Promise<readonly Sending[]> => {
    const kinds = operators.filter(({ resource: { group, plural } }) => {
      const { resource } = subject;
      return group === resource.group && plural === resource.plural;
    });
    if (kinds.length === 0) return [];
    const hints = await hintsIn({
      transport,
      hints: records.hints,
      namespaces: namespace === undefined ? [] : [namespace],
    });
    return hints
      .filter((hint) => kinds.some(({ kind }) => kind === hint.kind) && !known.has(hint.namespace, hint.name))
      .map(({ kind, namespace: place, name }): Sending => {
        const key = { cluster, kind, namespace: place, name };
        return { message: { ...key, reason: "vanished" }, dedupeId: dedupe.sweep(key, `list ${cursor}`) };
      });
  };

/** Opens windows over everything that the operators watch. */
export const windowsOver = (parts: ForwardParts): Windows =>
  openWindows({
    ...parts,
    strays: straysIn(parts),
    resting: restingIn({ ...parts, hints: parts.records.hints, now: Date.now }),
    now: Date.now,
    random: Math.random,
  });

type Source = Awaited<ReturnType<typeof openKeySource>>;

/** Makes what begins to look for other controllers. Without leases in the settings there is no detection. */
const sightingIn = ({ report, cluster, lookout, sighting }: Source, freed: () => void): (() => () => Promise<void>) => {
  if (lookout.leases.length === 0 || sighting === undefined) return () => async () => {};
  const { groups, sighter } = sighting;
  return () => startSighting({ cluster, groups, lookout, report, freed, sightings: sighter.sightings });
};

/** Opens the forwarder from the environment's settings. `kinds`: absent, the registered ones that the settings choose. */
export const openForwarding = async (env: Environment, kinds?: readonly Watcher[]) => {
  const settings = settingsFor("forward", env);
  const source = await openKeySource(settings, { userAgent: "rekindle-forward", kinds });
  const { scope, records, cursors, report, telemetry, sender } = source;
  const { transport, cluster, within } = scope;
  const queue: Pick<Queue, "send"> = {
    send: (message, id) => telemetry.part("forward", () => sender.send(message, id)),
  };
  const send: Queue["send"] = async (message, id) => {
    if ((await within())(message.namespace)) await queue.send(message, id);
  };
  const { anew } = resyncsOf({ ...scope, queue: { send }, hints: records.hints }, report);
  const sighting = sightingIn(source, anew);
  const gaps = resyncAfterGaps(anew);
  const watched = { ...scope, records, cursors, report, send, gap: gaps.gap };
  const windows = windowsOver({ ...watched, patientMs: settings.newsWaitMs });
  const nodes = { transport, report, cluster, queue, state: openNodes() };
  const run = async (...window: Parameters<Windows["run"]>): Promise<WindowResult> => {
    const [stop, endNodeWatch] = [sighting(), watchNodes(settings.watchNodes, nodes)];
    try {
      return await windows.run(...window);
    } finally {
      await Promise.all([stop(), endNodeWatch()]);
      if (gaps.end()) await anew();
    }
  };
  return { windows: { run }, windowMs: settings.windowMs, report, close: sender.close };
};

export type Forward = (event: unknown, context?: unknown) => Promise<WindowResult>;

/** Time for the last sends and the cursors after a window. */
const reserveMs = 10_000;
const shortestMs = 1_000;

/** Returns the look that the schedule asks for as `{"look": "500ms"}`, ms; 0 where its event has none. */
export const lookMsOf = (event: unknown): number =>
  isRecord(event) && event["look"] !== undefined ? lookLength().parse(event["look"]) : 0;

/** Opens everything once per environment; its knowledge of the cluster is kept from window to window. */
export const openForward = async (env: Environment, kinds?: readonly Watcher[]): Promise<Forward> => {
  const { windows, windowMs, report } = await openForwarding(env, kinds);
  return async (event, context) => {
    const lengthMs = Math.max(shortestMs, Math.min(windowMs, remainingMsOf(context) - reserveMs));
    const ran = await windows.run(lengthMs, new AbortController().signal, lookMsOf(event));
    report(
      ran.sent ? "info" : "warn",
      ran.sent ? "forwarded" : "some keys could not be sent; the next window sends them again",
      ran,
    );
    return ran;
  };
};

/** Watches without an end, as a process. */
export const forwardUntil = async (env: Environment, stopped: Promise<void>): Promise<void> => {
  const { windows, report, close } = await openForwarding(env);
  const stopping = new AbortController();
  void stopped.then(() => stopping.abort());
  report("info", "forward: watching");
  await windows.run(Number.MAX_SAFE_INTEGER, stopping.signal);
  await close();
};
