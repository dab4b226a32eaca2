/** The bodies of requests that an app receives: one is read when the app asks for it, and is as long as its path allows. */
import type { Context, MiddlewareHandler } from "hono";
import { HTTPException } from "hono/http-exception";

/** A body that is read when the app first asks for it. */
export const lazyBody = (read: () => Promise<Uint8Array>): ReadableStream<Uint8Array> =>
  new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const bytes = await read();
        if (bytes.length > 0) controller.enqueue(bytes);
        controller.close();
      },
    },
    // With the default, a stream pulls once before anybody reads it.
    { highWaterMark: 0 },
  );

const tooLarge = (c: Context): Response => c.json({ error: "body too large" }, 413);

/**
 * Refuses bodies longer than `most` bytes: by the declared length at once, without one when the app has read the body.
 */
export const limitBody =
  (most: number, refuse: (c: Context) => Response = tooLarge): MiddlewareHandler =>
  async (c, next) => {
    const { raw, method } = c.req;
    const declared = c.req.header("transfer-encoding") === undefined ? c.req.header("content-length") : undefined;
    if (Number(declared ?? 0) > most) return refuse(c);
    if (declared !== undefined || method === "GET" || method === "HEAD") return await next();
    let isLonger = false;
    const read = async (): Promise<Uint8Array> => {
      const parts: Uint8Array[] = [];
      let length = 0;
      for await (const part of raw.body ?? []) {
        parts.push(part);
        length += part.length;
        isLonger = length > most;
        if (isLonger) throw new HTTPException(413);
      }
      return Buffer.concat(parts);
    };
    c.req.raw = new Request(raw, { body: lazyBody(read), duplex: "half" });
    await next();
    if (!isLonger) return;
    c.res = undefined;
    c.res = refuse(c);
  };
