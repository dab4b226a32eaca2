/**
 * The forwarder in windows: continues from the cursors of the last window, of any instance, and stores its own.
 *
 * C1. The cursor moves only past changes that the queue has taken, so the next window repeats one that died.
 * C2. A list without known objects to compare with finds deletions by comparing records with objects.
 * C3. A quiet cluster costs no writes: a cursor that only bookmarks moved is kept in memory and stored rarely.
 * C4. A window ends after its look only if every watch was answered and no key was sent or waits, so doubt costs a whole window.
 */
import { textOf } from "../core/key.ts";
import { openShare } from "../core/share.ts";
import { errorText } from "../core/text.ts";
import { type Cursors, loopKey } from "./cursors.ts";
import { type Forwarder, type ForwarderSettings, type Loop, loopsOf, startForwarder } from "./forwarder.ts";
import { usualCacheBytes } from "./keys.ts";
import { openWatchState, type WatchState } from "./listwatch.ts";
import { type Pause, pause as realPause } from "./pause.ts";

export type WindowResult = {
  /** The queue has taken everything. */
  readonly sent: boolean;
  /** Loops that continued from a cursor; the others began with a list. */
  readonly resumed: number;
  readonly loops: number;
};

export type Windows = {
  /**
   * Forwards for this long, or until the signal is raised. With `lookMs` it ends after this time if nothing has happened
   * since the last window; 0: it never does.
   */
  run(lengthMs: number, signal: AbortSignal, lookMs?: number): Promise<WindowResult>;
};

type Settings = Omit<ForwarderSettings, "watchStateOf"> & {
  readonly cursors: Cursors;
  /** Waits for the end of a window; the loops themselves wait with `pause`. */
  readonly wait?: Pause;
};

/** Interval at which cursors are stored within a window. */
const keepMs = 60_000;
/** Interval for a cursor that only bookmarks moved. */
const quietMs = 600_000;

/** The state of a loop in this process. */
type StoredWatch = { state: WatchState; stored: string | undefined; storedAt: number };

/** Starts a forwarder. `isQuiet` tells whether nothing has happened so far, and it is certain (C4). */
const startLooking = (settings: ForwarderSettings) => {
  let sends = 0;
  const send: ForwarderSettings["send"] = (...message) => {
    sends += 1;
    return settings.send(...message);
  };
  const forwarder = startForwarder({ ...settings, send });
  return { forwarder, isQuiet: (): boolean => sends === 0 && !forwarder.waits() && forwarder.answered() };
};

export const openWindows = (settings: Settings): Windows => {
  const { cluster, cursors, report, now, wait = realPause } = settings;
  const idOf = (loop: Loop): string => textOf(loopKey(cluster, loop));
  const storedWatches = new Map<string, StoredWatch>();
  const share = openShare(usualCacheBytes);

  const stand = async (loop: Loop): Promise<StoredWatch> => {
    const warm = storedWatches.get(idOf(loop));
    if (warm !== undefined) return warm;
    const stored = await cursors.load(loopKey(cluster, loop));
    const opened = { state: openWatchState(loop.subject.trim, stored, share), stored, storedAt: now() };
    storedWatches.set(idOf(loop), opened);
    return opened;
  };

  const keep = async (loop: Loop, cursor: string): Promise<void> => {
    const watch = storedWatches.get(idOf(loop));
    if (watch === undefined || watch.stored === cursor) return;
    if (!watch.state.news && now() - watch.storedAt < quietMs) return;
    watch.state.news = false;
    try {
      await cursors.save(loopKey(cluster, loop), cursor);
    } catch (cause) {
      watch.state.news = true;
      throw cause;
    }
    watch.stored = cursor;
    watch.storedAt = now();
  };

  const keepAll = async (reached: ReadonlyMap<Loop, string> | undefined): Promise<void> => {
    if (reached === undefined) return;
    try {
      await Promise.all([...reached].map(([loop, cursor]) => keep(loop, cursor)));
    } catch (cause) {
      report("warn", "cannot save the cursor; the next instance sends the same keys again", {
        error: errorText(cause),
      });
    }
  };

  const last = async (forwarder: Forwarder): Promise<boolean> => {
    const sent = await forwarder.stop();
    // C1: the next window receives unsent changes again from the stored cursor.
    if (sent) await keepAll(await forwarder.sent());
    else storedWatches.clear();
    return sent;
  };

  const follows = async (forwarder: Forwarder, lengthMs: number, signal: AbortSignal): Promise<void> => {
    const until = now() + lengthMs;
    for (let left = lengthMs; left > 0 && !signal.aborted; left = until - now()) {
      await wait(Math.min(keepMs, left), signal);
      if (!signal.aborted && until - now() > 0) await keepAll(await forwarder.sent());
    }
  };

  return {
    run: async (lengthMs, signal, lookMs = 0) => {
      const loops = loopsOf(settings);
      const begun = await Promise.all(loops.map(stand));
      const resumed = begun.filter(({ state }) => state.cursor !== undefined).length;
      for (const { state } of begun) state.answered = false;
      const watchStateOf = (loop: Loop) => storedWatches.get(idOf(loop))?.state;
      const { forwarder, isQuiet } = startLooking({ ...settings, watchStateOf });
      const lookedMs = Math.min(lookMs, lengthMs);
      if (lookedMs > 0) await wait(lookedMs, signal);
      if (lookedMs === 0 || !isQuiet()) await follows(forwarder, lengthMs - lookedMs, signal);
      return { sent: await last(forwarder), resumed, loops: loops.length };
    },
  };
};
