/** Functions that poll or watch as processes answer a kubelet's probes, where they are told an address to listen at. */
import { createServer } from "node:http";
import type { Settings } from "../settings/read.ts";
import { stopped } from "./shutdown.ts";

const known = new Set(["/healthz", "/readyz"]);

/** Answers until the process is told to stop; without an address it is over at once. What fails ends the process; what answers is well. */
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
