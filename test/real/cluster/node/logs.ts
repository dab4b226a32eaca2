/** A container's output as `kubectl logs` asks for it: the tail, since when, and on until it ends. */
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

/** The file of the newest start, or of the one before. */
export const newestLog = async (anyFile: string, previous: boolean): Promise<string | undefined> => {
  const names = await readdir(dirname(anyFile)).catch(() => []);
  const starts = names.map((name) => Number.parseInt(name, 10)).toSorted((left, right) => right - left);
  const wanted = starts[previous ? 1 : 0];
  return wanted === undefined ? undefined : `${dirname(anyFile)}/${wanted}.log`;
};

/** Where the last n lines begin. */
const tailStart = (content: Buffer, lines: number): number => {
  if (lines <= 0) return content.length;
  let at = content.at(-1) === 10 ? content.length - 1 : content.length;
  for (let left = lines; left > 0; left--) {
    at = at <= 0 ? -1 : content.lastIndexOf(10, at - 1);
    if (at < 0) return 0;
  }
  return at + 1;
};

/** Output is kept as it was written, without times; the file's own last change is the best that can be said. */
const stamped = (text: string, time: string): string => text.replace(/^(?=[^\n])/gm, `${time} `);

/** Pieces of the file from `at` on: to its end, and with `follow` until `isOver` says that no more will come. */
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

/** Ends `out` when all is said; a reader that goes away ends it too, and that is no error. */
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
