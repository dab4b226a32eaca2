/** A test server on a free port of 127.0.0.1. */
import type { Server } from "node:http";

/** The variable with the URL of DynamoDB Local to test against; absent: the fake. */
export const serverVariable = "REKINDLE_TEST_DYNAMODB";

export type Serving = { readonly endpoint: string; stop(): Promise<void> };

/** Resolves when the server listens. Neither the server nor an idle connection to it keeps the process running. */
export const listening = (server: Server): Promise<Serving> =>
  new Promise((resolve, reject) => {
    server.once("error", reject);
    server.on("connection", (socket) => socket.unref());
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
