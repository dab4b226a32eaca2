/** HTTP servers: what a refused body leaves on a connection that a proxy shares among clients. */
import assert from "node:assert/strict";
import { Agent, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { requestListener } from "../../../../shared/deployments/http/process.ts";
import { openPort } from "../../../../shared/deployments/http/server.ts";

const app = new Hono();
app.use("/limited", bodyLimit({ maxSize: 1_000, onError: (c) => c.text("too large", 413) }));
app.post("/limited", async (c) => c.text(await c.req.text()));
app.post("/unread", (c) => c.text("refused", 401));

describe("an HTTP server", () => {
  let server: Server;
  before(async () => {
    server = openPort(requestListener(app.fetch));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  /** Posts a body over the agent's only connection. Returns the answer's status and its `connection` header. */
  const post = (agent: Agent, path: string, bytes: number, declared = bytes): Promise<readonly [number, string]> =>
    new Promise((resolve, reject) => {
      const { port } = server.address() as AddressInfo;
      const options = { agent, port, host: "127.0.0.1", path, method: "POST", timeout: 2_000 };
      const sent = request({ ...options, headers: { "content-length": declared } }, (answer) => {
        const { statusCode = 0, headers } = answer;
        answer.resume().once("end", () => resolve([statusCode, headers.connection ?? ""]));
      });
      sent.once("timeout", () => sent.destroy(new Error("no answer within 2 s")));
      sent.once("error", reject);
      sent.write("x".repeat(bytes));
      if (declared === bytes) sent.end();
    });

  /** Three answers on one connection: to a post, and to two good requests after it. */
  const threeAnswers = async (path: string, bytes: number, declared = bytes) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    try {
      const first = await post(agent, path, bytes, declared);
      return [first, await post(agent, "/limited", 10), await post(agent, "/limited", 10)];
    } finally {
      agent.destroy();
    }
  };

  const good = [200, "keep-alive"];

  for (const [what, path, bytes, status] of [
    ["a body beyond its limit", "/limited", 300_000, 413],
    ["a body that is not read", "/unread", 300_000, 401],
    ["a body of 5 MB that is not read", "/unread", 5_000_000, 401],
  ] as const)
    test(`answers the next request on a connection after ${what}`, async () => {
      assert.deepEqual(await threeAnswers(path, bytes), [[status, "keep-alive"], good, good]);
    });

  test("ends the connection of a body too large to be received before one that does not arrive, and answers the next requests on others", async () => {
    const order: number[] = [];
    const answers = [300_000, 1e9].map(async (declared) => {
      assert.deepEqual(await threeAnswers("/unread", 10, declared), [[401, "close"], good, good]);
      order.push(declared);
    });
    await Promise.all(answers);
    assert.deepEqual(order, [1e9, 300_000], "the answer waited for the body");
  });
});
