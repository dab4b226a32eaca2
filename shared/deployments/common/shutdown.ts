/**
 * The life of a function as a process: the signals that stop it, and the health endpoints by which the kubelet probes
 * it.
 */
import { createServer } from "node:http";
import type { Settings } from "../settings/read.ts";

/** Resolves with SIGTERM or SIGINT. */
export const stopped = (): Promise<void> =>
  new Promise((resolve) => {
    process.once("SIGTERM", () => resolve());
    process.once("SIGINT", () => resolve());
  });

const known = new Set(["/healthz", "/readyz"]);

/**
 * Serves /healthz and /readyz until the process is stopped; returns at once without an address. A process that answers
 * is healthy, because a failure ends it.
 */
export const tellHealth = async (
  { listen }: Pick<Settings<"wake">, "listen">,
  until: Promise<void> = stopped(),
): Promise<void> => {
  if (listen === undefined) return;
  const server = createServer(({ url = "" }, answer) => {
    answer.writeHead(known.has(url) ? 200 : 404).end();
  });
  const at = listen.lastIndexOf(":");
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) => reject(new Error(`cannot listen on ${listen}: ${cause.message}`, { cause })));
    server.listen({ host: listen.slice(0, at).replace(/^\[|\]$/g, ""), port: Number(listen.slice(at + 1)) }, resolve);
  });
  await until;
  await new Promise((resolve) => server.close(resolve));
};
