/** A proxy between functions and a table that requests the consumed capacity of each request and sums it up. */
import { createServer, type IncomingMessage } from "node:http";
import * as z from "zod";
import { listening } from "../../support/port.ts";

export type Units = {
  /** The value of AWS_ENDPOINT_URL_DYNAMODB. */
  readonly endpoint: string;
  /** Returns the sums so far. */
  used(): { readonly writes: number; readonly reads: number; readonly requests: number };
  close(): void;
};

const answered = z.looseObject({ ConsumedCapacity: z.looseObject({ CapacityUnits: z.number() }).optional() });
const asked = z.looseObject({});

const reading = /\.(GetItem|Query|BatchGetItem|Scan)$/;

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
};

/** A failed condition consumes the units of a write; its answer does not report them. */
const refusedUnits = 1;

export const openUnits = async (table: string): Promise<Units> => {
  const used = { writes: 0, reads: 0, requests: 0 };
  const server = createServer(async (request, response) => {
    const target = String(request.headers["x-amz-target"] ?? "");
    const body = JSON.stringify({ ...asked.parse(JSON.parse(await bodyOf(request))), ReturnConsumedCapacity: "TOTAL" });
    const headers = Object.fromEntries(
      ["x-amz-target", "authorization", "x-amz-date", "content-type"].map((name) => [
        name,
        String(request.headers[name]),
      ]),
    );
    const answer = await fetch(table, { method: "POST", headers, body });
    const text = await answer.text();
    const units = answered.safeParse(JSON.parse(text)).data?.ConsumedCapacity?.CapacityUnits ?? refusedUnits;
    used[reading.test(target) ? "reads" : "writes"] += units;
    used.requests += 1;
    response.writeHead(answer.status, { "content-type": "application/x-amz-json-1.0" }).end(text);
  });
  const port = await listening(server);
  return {
    endpoint: `http://127.0.0.1:${port}`,
    used: () => ({ ...used }),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};
