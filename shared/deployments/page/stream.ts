/**
 * The live stream of the page: server-sent events with resume ids, coalesced. A slow reader costs no more memory than
 * one batch, because the next one is made only when the last one was taken, from what has changed by then; and callers
 * share the memory of all batches.
 */
import { setImmediate, setTimeout } from "node:timers/promises";
import type { Context } from "hono";
import { type SSEStreamingApi, streamSSE } from "hono/streaming";
import { openShare, type Share } from "../../core/share.ts";
import type { Batch } from "../../page/wire.ts";
import type { Viewer } from "./access.ts";
import type { Board } from "./board.ts";

/** The shortest time between two batches, ms. */
const coalesceMs = 250;
/** A stream says every so often, ms, that it lives. */
const beatMs = 5_000;
/** A stream ends after this time, ms, and its reader asks again: access is checked then. */
const longestMs = 15 * 60_000;
/** The longest time, ms, that a reader may take for one batch. */
const timeLimitMs = 30_000;
/** The most streams, which callers share, and the most of one session. */
const mostStreams = 200;
const mostOfOne = 4;
/** The most text that readers have not taken yet, bytes; callers share it. A batch of all rows may have megabytes. */
const mostUntaken = 32 * 1_048_576;
const retryMs = 1_000;
const jitterMs = 4_000;

export type Streams = {
  /** Opens a stream; too many of them are answered with 503, and the client polls instead. */
  open(c: Context, viewer: Viewer): Response;
  count(): number;
};

const isEmpty = ({ whole, columns, gone, queues }: Batch): boolean =>
  !whole && columns.name.length === 0 && gone.length === 0 && queues === undefined;

/** Resolves after `ms`, or as soon as `wake` is called. */
const openBell = () => {
  let ring: (() => void) | undefined;
  let isRung = false;
  return {
    ring: (): void => {
      isRung = true;
      ring?.();
    },
    wait: (ms: number): Promise<boolean> =>
      new Promise((resolve) => {
        const end = (): void => {
          clearTimeout(timer);
          ring = undefined;
          resolve(isRung);
          isRung = false;
        };
        const timer = globalThis.setTimeout(end, ms);
        ring = end;
        if (isRung) end();
      }),
  };
};

const within = ({ namespaces }: Viewer, application: string): boolean =>
  namespaces.length === 0 || namespaces.includes(application.split("/")[1] ?? "");

type Flow = {
  readonly stream: SSEStreamingApi;
  readonly board: Board;
  readonly viewer: Viewer;
  /** The text that readers have not taken yet. */
  readonly untaken: Share;
};

type SentEvent = { readonly event: string; readonly data: string; readonly id?: string };

/** Writes an event; false if the reader is gone or too slow, or its caller has too much that is not taken yet. */
const written = async (one: Flow, message: SentEvent): Promise<boolean> => {
  const { untaken, viewer } = one;
  if (!untaken.take(viewer.name, message.data.length)) return false;
  try {
    return await taken(one, message);
  } finally {
    untaken.give(viewer.name, message.data.length);
  }
};

const taken = async ({ stream }: Flow, message: SentEvent): Promise<boolean> => {
  const timeout = Promise.withResolvers<boolean>();
  const timer = globalThis.setTimeout(() => timeout.resolve(false), timeLimitMs);
  const writing = stream.writeSSE(message).then(() => !stream.aborted);
  const isTaken = await Promise.race([writing.catch(() => false), timeout.promise]);
  clearTimeout(timer);
  return isTaken;
};

/** Sends batches until the reader is gone, too slow, or the stream is old. */
const flow = async (one: Flow, from: string | undefined): Promise<void> => {
  const { stream, board, viewer } = one;
  const bell = openBell();
  const touched = new Set<string>();
  const leave = board.subscribe((application) => {
    if (!within(viewer, application)) return;
    touched.add(application);
    bell.ring();
  });
  stream.onAbort(bell.ring);
  const began = performance.now();
  let at = from;
  let isTaken = true;
  const send = async (): Promise<void> => {
    const applications = [...touched];
    touched.clear();
    const batch = board.read(viewer.namespaces, at);
    if (!isEmpty(batch) || at === undefined)
      isTaken = await written(one, { event: "rows", id: batch.id, data: JSON.stringify(batch) });
    at = batch.id;
    if (isTaken && applications.length > 0)
      isTaken = await written(one, { event: "app", data: JSON.stringify(applications.slice(0, 500)) });
  };
  try {
    await send();
    while (isTaken && !stream.aborted && performance.now() - began < longestMs) {
      const isRung = await bell.wait(beatMs);
      if (stream.aborted) return;
      if (isRung) {
        // The first change goes at once, with all that came with it; what follows it waits for the next batch.
        await setImmediate();
        await send();
        await setTimeout(coalesceMs);
      } else isTaken = await written(one, { event: "beat", data: String(Date.now()) });
    }
    const retry = retryMs + Math.round(Math.random() * jitterMs);
    if (isTaken && !stream.aborted) await stream.writeSSE({ event: "bye", data: String(retry), retry });
  } finally {
    leave();
  }
};

export const openStreams = (board: Board): Streams => {
  const counts = new Map<string, number>();
  const places = openShare(mostStreams);
  const untaken = openShare(mostUntaken);
  let all = 0;
  const add = ({ id }: Viewer, by: 1 | -1): void => {
    all += by;
    const count = (counts.get(id) ?? 0) + by;
    if (count === 0) counts.delete(id);
    else counts.set(id, count);
  };
  return {
    count: () => all,
    open: (c, viewer) => {
      if ((counts.get(viewer.id) ?? 0) >= mostOfOne || !places.take(viewer.name, 1))
        return c.json({ error: "too many streams: poll /page/changes" }, 503, { "retry-after": "30" });
      add(viewer, 1);
      const from = c.req.header("last-event-id");
      return streamSSE(c, async (stream) => {
        try {
          await flow({ stream, board, viewer, untaken }, from);
        } finally {
          places.give(viewer.name, 1);
          add(viewer, -1);
        }
      });
    },
  };
};
