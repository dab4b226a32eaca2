/** HTTP servers: what a refused body leaves on a connection that a proxy shares among clients. */
import assert from "node:assert/strict";
import { Agent, createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { requestListener } from "../../../../shared/deployments/http/process.ts";

const app = new Hono();
app.use("/limited", bodyLimit({ maxSize: 1_000, onError: (c) => c.text("too large", 413) }));
app.post("/limited", async (c) => c.text(await c.req.text()));
app.post("/unread", (c) => c.text("refused", 401));

describe("an HTTP server", () => {
  let server: Server;
  before(async () => {
    server = createServer(requestListener(app.fetch));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  /** Posts a body over the agent's only connection. Returns the answer's status and its `connection` header. */
  const post = (agent: Agent, path: string, bytes: number): Promise<readonly [status?: number, connection?: string]> =>
    new Promise((resolve, reject) => {
      const { port } = server.address() as AddressInfo;
      const options = { agent, port, host: "127.0.0.1", path, method: "POST", timeout: 400 };
      const sent = request(options, (answer) => {
        const { statusCode = 0, headers } = answer;
        answer.resume().once("end", () => resolve([statusCode, headers.connection ?? ""]));
      });
      sent.once("timeout", () => sent.destroy(new Error("no answer within 400 ms")));
      sent.once("error", reject);
      sent.end("x".repeat(bytes));
    });

  for (const [what, path, bytes, status] of [
    ["a body beyond its limit", "/limited", 300_000, 413],
    ["a body that is not read", "/unread", 300_000, 401],
  ] as const)
    test(`answers the next request on a connection after ${what}`, async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      try {
        assert.deepEqual(await post(agent, path, bytes), [status, "close"]);
        assert.deepEqual(await post(agent, "/limited", 10), [200, "keep-alive"]);
        assert.deepEqual(await post(agent, "/limited", 10), [200, "keep-alive"]);
      } finally {
        agent.destroy();
      }
    });
});
