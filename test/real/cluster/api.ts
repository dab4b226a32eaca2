/** A small client for tests: it sends any request and returns the server's answer unchanged. */
import { readFile } from "node:fs/promises";
import { Agent, request } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { parse } from "yaml";
import * as z from "zod";

export type Reply = {
  readonly status: number;
  /** Parsed if it is JSON, else the text. */
  readonly body: unknown;
};

export type Api = {
  readonly call: (method: string, path: string, body?: unknown, contentType?: string) => Promise<Reply>;
  /** Repeats the request until `holds` is true; at the timeout throws the last answer. */
  readonly until: (path: string, holds: (reply: Reply) => boolean, timeoutMs: number) => Promise<Reply>;
  readonly close: () => void;
};

const base64 = z.string().transform((text) => Buffer.from(text, "base64"));
const kubeconfig = z.object({
  clusters: z.tuple([z.object({ cluster: z.object({ server: z.string(), "certificate-authority-data": base64 }) })]),
  users: z.tuple([
    z.object({
      user: z.object({
        "client-certificate-data": base64.optional(),
        "client-key-data": base64.optional(),
        token: z.string().optional(),
      }),
    }),
  ]),
});

const bodyOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/** How long a lane waits for what must come, ms. It ends a hang and promises no speed: machines differ by ten times. */
export const patienceMs = 480_000;

/** Returns a client with the identity of a kubeconfig that the control plane wrote. */
export const openApi = async (file: string): Promise<Api> => {
  const config = kubeconfig.parse(parse(await readFile(file, "utf8")));
  const { cluster } = config.clusters[0];
  const { user } = config.users[0];
  const identity = { cert: user["client-certificate-data"], key: user["client-key-data"] };
  const agent = new Agent({
    keepAlive: true,
    maxSockets: 32,
    ca: cluster["certificate-authority-data"],
    ...(identity.cert ? identity : {}),
  });
  const token = user.token === undefined ? {} : { authorization: `Bearer ${user.token}` };

  const call: Api["call"] = (method, path, body, contentType = "application/json") =>
    new Promise((resolve, reject) => {
      const sent = body === undefined ? undefined : JSON.stringify(body);
      const headers = {
        accept: "application/json, */*",
        ...token,
        // Node sets no content-length for DELETE by default, so the server would take its body for the next request.
        ...(sent === undefined ? {} : { "content-type": contentType, "content-length": Buffer.byteLength(sent) }),
      };
      const asked = request(new URL(path, cluster.server), { method, agent, headers, timeout: 30_000 }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on("data", (chunk: Buffer) => chunks.push(chunk));
        answer.on("error", reject);
        answer.on("end", () =>
          resolve({ status: answer.statusCode ?? 0, body: bodyOf(Buffer.concat(chunks).toString()) }),
        );
      });
      asked.on("timeout", () => asked.destroy(new Error(`${method} ${path}: no answer in 30 s`)));
      asked.on("error", reject);
      asked.end(sent);
    });

  const until: Api["until"] = async (path, holds, timeoutMs) => {
    const end = performance.now() + timeoutMs;
    for (;;) {
      // A server under load may leave a request unanswered: it is asked again until the end of the time.
      const reply = await call("GET", path).catch((error: unknown) => {
        if (performance.now() > end) throw error;
        return undefined;
      });
      if (reply !== undefined && holds(reply)) return reply;
      if (performance.now() > end)
        throw new Error(
          `${path} is not as awaited after ${timeoutMs / 1000} s: ${JSON.stringify(reply).slice(0, 2000)}`,
        );
      await sleep(100);
    }
  };
  return { call, until, close: () => agent.destroy() };
};
