/** A container's output for `kubectl logs`: the tail, since a time, and following until its end. */
import { type FileHandle, open, readdir } from "node:fs/promises";
import { dirname } from "node:path";
import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";

export type Wanted = {
  readonly follow: boolean;
  readonly tailLines: number | undefined;
  readonly limitBytes: number | undefined;
  readonly timestamps: boolean;
};

const number = (text: string | null): number | undefined => (text === null || text === "" ? undefined : Number(text));

export const wantedOf = (query: URLSearchParams): Wanted => ({
  follow: query.get("follow") === "true",
  tailLines: number(query.get("tailLines")),
  limitBytes: number(query.get("limitBytes")),
  timestamps: query.get("timestamps") === "true",
});

/** Returns the file of the newest start, or of the one before. */
export const newestLog = async (anyFile: string, previous: boolean): Promise<string | undefined> => {
  const names = await readdir(dirname(anyFile)).catch(() => []);
  const starts = names.map((name) => Number.parseInt(name, 10)).toSorted((left, right) => right - left);
  const wanted = starts[previous ? 1 : 0];
  return wanted === undefined ? undefined : `${dirname(anyFile)}/${wanted}.log`;
};

/** Returns the offset of the last n lines. */
const tailStart = (content: Buffer, lines: number): number => {
  if (lines <= 0) return content.length;
  let at = content.at(-1) === 10 ? content.length - 1 : content.length;
  for (let left = lines; left > 0; left--) {
    at = at <= 0 ? -1 : content.lastIndexOf(10, at - 1);
    if (at < 0) return 0;
  }
  return at + 1;
};

/** The output is stored without times, so every line gets the file's modification time. */
const stamped = (text: string, time: string): string => text.replace(/^(?=[^\n])/gm, `${time} `);

/** Yields the file from `at` to its end; with `follow`, until `isOver` is true and everything is read. */
async function* pieces(handle: FileHandle, at: number, wanted: Wanted, isOver: () => boolean): AsyncGenerator<Buffer> {
  let left = wanted.limitBytes ?? Number.POSITIVE_INFINITY;
  for (let from = at; left > 0; ) {
    const wasOver = isOver();
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(Math.min(65_536, left)), 0, null, from);
    from += bytesRead;
    left -= bytesRead;
    if (bytesRead > 0) yield buffer.subarray(0, bytesRead);
    else if (!wanted.follow || wasOver) return;
    else await sleep(50);
  }
}

/** Writes the log and ends `out`; a reader that disconnects also ends it, without an error. */
export const streamLog = async (file: string, wanted: Wanted, out: Writable, isOver: () => boolean): Promise<void> => {
  const handle = await open(file, "r");
  const said = async function* (): AsyncGenerator<Buffer | string> {
    const at = wanted.tailLines === undefined ? 0 : tailStart(await handle.readFile(), wanted.tailLines);
    for await (const piece of pieces(handle, at, wanted, () => isOver() || out.destroyed))
      yield wanted.timestamps ? stamped(piece.toString(), (await handle.stat()).mtime.toISOString()) : piece;
  };
  try {
    await pipeline(said, out);
  } catch (error) {
    if (!out.destroyed) throw error;
  } finally {
    await handle.close();
  }
};
