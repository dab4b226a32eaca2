/** A server of a test on a free port of 127.0.0.1. */
import type { Server } from "node:http";

/** Names the server that is to be tested against, DynamoDB Local; absent: the fake. */
export const serverVariable = "REKINDLE_TEST_DYNAMODB";

export type Serving = { readonly endpoint: string; stop(): Promise<void> };

/** Resolves when it listens. It holds no process up. */
export const listening = (server: Server): Promise<Serving> =>
  new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      server.unref();
      const stop = (): Promise<void> =>
        new Promise((done) => {
          server.closeAllConnections();
          server.close(() => done());
        });
      resolve({ endpoint: `http://127.0.0.1:${port}`, stop });
    });
  });
