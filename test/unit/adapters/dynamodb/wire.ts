/** A proxy between the store and its table: it passes requests on, and loses answers on demand. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { listening, type Serving } from "./serving.ts";

export type Wire = Serving & {
  /** Loses the next `answers` answers to this action. */
  lose(act: string, answers: number): void;
  /** Actions that were requested, in order. */
  readonly acts: readonly string[];
};

const passed = ["content-type", "x-amz-target", "authorization", "x-amz-date", "amz-sdk-invocation-id"];

export const openWire = async (endpoint: string): Promise<Wire> => {
  const losing = new Map<string, number>();
  const acts: string[] = [];
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const act = String(request.headers["x-amz-target"]).split(".")[1] ?? "";
    acts.push(act);
    const headers = Object.fromEntries(passed.map((name) => [name, String(request.headers[name] ?? "")]));
    const answer = await fetch(endpoint, { method: "POST", headers, body: new Uint8Array(await buffer(request)) });
    const body = Buffer.from(await answer.arrayBuffer());
    const left = losing.get(act) ?? 0;
    losing.set(act, left - 1);
    if (left > 0) return void request.socket.destroy();
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
    response.end(body);
  };
  const serving = await listening(createServer((request, response) => void pass(request, response)));
  return { ...serving, acts, lose: (act, answers) => void losing.set(act, answers) };
};
