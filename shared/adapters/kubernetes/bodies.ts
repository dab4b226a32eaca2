/**
 * Reads the texts of answers within a bounded memory: each has a limit, and of those without a usual length only a few are
 * read at a time.
 */
import type { IncomingMessage } from "node:http";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { ApiError, type HttpRequest } from "../../core/http.ts";
import { openPlaces, type Places } from "../places.ts";

/**
 * Longest answer if the request sets no limit, bytes: ten times the largest object that an API server stores. Lists ask
 * for pages that fit.
 */
export const longestBytes = 16 * 1_024 * 1_024;

const tooLong = ({ method, path }: HttpRequest, limitBytes: number): ApiError =>
  new ApiError({ status: 0, reason: "TooLong", message: `${method} ${path}: longer than ${limitBytes} bytes` });

/** The number of answers that are long at a time, and of those that are unpacked. */
const atOnce = 4;

/** An answer longer than this waits for a place before more of it is read, bytes: longer than a page of a list. */
const placeBytes = 8 * 1_024 * 1_024;

const bytesOf = (request: HttpRequest, incoming: IncomingMessage, places: Places): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const { limitBytes = longestBytes } = request;
    const chunks: Buffer[] = [];
    let length = 0;
    let place: Promise<void> | undefined;
    incoming.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length <= limitBytes) chunks.push(chunk);
      else incoming.destroy(tooLong(request, limitBytes));
      if (length <= placeBytes || place !== undefined) return;
      incoming.pause();
      place = places.take();
      place.then(() => incoming.resume());
    });
    incoming.on("end", () => resolve(Buffer.concat(chunks)));
    incoming.on("error", reject);
    incoming.on("close", () => place?.then(places.give));
  });

const unpacked = promisify(gunzip);

/**
 * Returns a reader of the answers of one server. Neither the bytes of an answer nor, if the server has compressed them, its
 * text are longer than the limit of its request; a longer one is an `ApiError` with the reason TooLong.
 */
export const openBodies = (): ((request: HttpRequest, incoming: IncomingMessage) => Promise<string>) => {
  const long = openPlaces(atOnce);
  const packed = openPlaces(atOnce);
  return async (request, incoming) => {
    const bytes = await bytesOf(request, incoming, long);
    if (incoming.headers["content-encoding"] !== "gzip") return bytes.toString("utf8");
    const { limitBytes = longestBytes } = request;
    return await packed.within(async () => {
      try {
        return (await unpacked(bytes, { maxOutputLength: limitBytes })).toString("utf8");
      } catch (cause) {
        throw (cause as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE" ? tooLong(request, limitBytes) : cause;
      }
    });
  };
};
