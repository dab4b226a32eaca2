/** A function behind an address, which a dispatcher calls: it notes the bodies of its calls, and accepts every message. */
import { createServer } from "node:http";
import { listening } from "../../../support/port.ts";

export type Reply = { readonly status: number; readonly messages?: readonly object[] };

export type CalledFunction = {
  readonly url: string;
  /** Bodies of the calls so far. */
  readonly calls: readonly string[];
  readonly close: () => void;
};

/** Opens the function, which gives the same answer to every call. `host`: the host in its URL. */
export const openCalledFunction = async (
  { status, messages = [] }: Reply = { status: 200 },
  host = "127.0.0.1",
): Promise<CalledFunction> => {
  const calls: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => {
      body += text;
    });
    request.once("end", () => {
      calls.push(body);
      response.writeHead(status).end(JSON.stringify({ batchItemFailures: [], messages }));
    });
  });
  return {
    url: `http://${host}:${await listening(server)}/`,
    calls,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};
