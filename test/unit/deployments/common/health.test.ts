/** A polling function answers a kubelet's probes at its configured address only. */
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { describe, test } from "node:test";
import { tellHealth } from "../../../../shared/deployments/http/server.ts";

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });

const asked = async (url: string): Promise<number> => {
  for (let tries = 0; tries < 100; tries++) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer !== undefined) return answer.status;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return 0;
};

describe("health of a function as a process", () => {
  test("ends at once without an address", async () => {
    await tellHealth({ listen: undefined }, new Promise(() => {}));
  });

  test("answers a kubelet's probes at its address until it is stopped, and answers 404 at other paths", async () => {
    const at = `127.0.0.1:${await freePort()}`;
    let stop = (): void => {};
    const telling = tellHealth({ listen: at }, new Promise((resolve) => (stop = resolve)));
    assert.deepEqual(
      await Promise.all(["healthz", "readyz", "else"].map((path) => asked(`http://${at}/${path}`))),
      [200, 200, 404],
    );
    stop();
    await telling;
  });
});
