/** The kubelet's HTTPS endpoint, from which the API server reads the logs of containers. */
import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { TLSSocket } from "node:tls";
import { logFileOf, messageOfError } from "./context.ts";
import { newestLog, streamLog, wantedOf } from "./logs.ts";
import { nameOf } from "./objects.ts";
import type { Worker } from "./pod.ts";

export type Endpoint = {
  readonly host: string;
  readonly port: number;
  readonly cert: string;
  readonly key: string;
  readonly clientCa: string | undefined;
  readonly dir: string;
  readonly workers: () => Iterable<Worker>;
};

const say = (response: ServerResponse, status: number, text: string): void => {
  response.writeHead(status, { "content-type": "text/plain" });
  response.end(text);
};

const sendLogs = async (
  endpoint: Endpoint,
  words: readonly string[],
  query: URLSearchParams,
  response: ServerResponse,
): Promise<void> => {
  const [namespace, name, container = ""] = words;
  const worker = [...endpoint.workers()].find((one) => nameOf(one.pod()) === `${namespace}/${name}`);
  const one = worker?.tracked.find(({ spec }) => spec.name === container);
  if (worker === undefined || one === undefined)
    return say(response, 404, `pod ${namespace}/${name} has no container ${container} here\n`);
  const file = await newestLog(logFileOf(endpoint, worker.pod(), container, 0), query.get("previous") === "true");
  if (file === undefined) {
    const why = "waiting" in one.state ? one.state.waiting.reason : "no such start";
    return say(response, 400, `container "${container}" in pod "${name}" is waiting to start: ${why}\n`);
  }
  response.writeHead(200, { "content-type": "text/plain" });
  response.flushHeaders();
  await streamLog(file, wantedOf(query), response, () => one.running === undefined);
};

const answer = async (endpoint: Endpoint, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const url = new URL(request.url ?? "/", "https://kubelet");
  const [first, ...words] = url.pathname
    .split("/")
    .filter((word) => word !== "")
    .map(decodeURIComponent);
  if (first === "healthz") return say(response, 200, "ok");
  if (first === "containerLogs") return sendLogs(endpoint, words, url.searchParams, response);
  if (first !== "pods") return say(response, 404, "not here\n");
  const items = [...endpoint.workers()].map((worker) => worker.pod());
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ apiVersion: "v1", kind: "PodList", items }));
};

/** True for clients whose certificate the cluster's authority signed for system:masters. */
const mayAsk = (request: IncomingMessage): boolean => {
  const socket = request.socket as TLSSocket;
  const groups = socket.getPeerCertificate().subject?.O ?? [];
  return socket.authorized && [groups].flat().includes("system:masters");
};

export const serve = (endpoint: Endpoint): Promise<void> => {
  const { clientCa } = endpoint;
  const identity = { cert: readFileSync(endpoint.cert), key: readFileSync(endpoint.key) };
  const clients =
    clientCa === undefined ? {} : { ca: readFileSync(clientCa), requestCert: true, rejectUnauthorized: false };
  const server = createServer({ ...identity, ...clients }, (request, response) => {
    if (clientCa !== undefined && !mayAsk(request))
      return say(response, 401, "a client certificate of the cluster is needed\n");
    answer(endpoint, request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else say(response, 500, `${messageOfError(error)}\n`);
    });
  });
  return new Promise((resolve, reject) => {
    server.on("error", reject);
    server.listen(endpoint.port, endpoint.host, resolve);
  });
};
