/** The transport over TLS: trusted authorities, client certificates, and proxies. */
import assert from "node:assert/strict";
import http from "node:http";
import https from "node:https";
import { type AddressInfo, connect, type Server } from "node:net";
import { after, describe, it } from "node:test";
import type { TLSSocket } from "node:tls";
import { type Endpoint, httpsTransport } from "../../../../shared/adapters/kubernetes/https.ts";
import { cert, key } from "./certificate.ts";

const closers: (() => void)[] = [];
after(() => {
  for (const close of closers) close();
});

const listen = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => server.close());
  return (server.address() as AddressInfo).port;
};

/** Opens a TLS server that answers with the name in the client's certificate. */
const serve = async (): Promise<string> => {
  const options = { cert, key, requestCert: true, rejectUnauthorized: false };
  const server = https.createServer(options, (incoming, answer) => {
    const socket = incoming.socket as TLSSocket;
    answer.end(socket.getPeerCertificate().subject?.CN ?? "nobody");
  });
  closers.push(() => server.closeAllConnections());
  return `https://127.0.0.1:${await listen(server)}`;
};

const ask = async (endpoint: Endpoint): Promise<string> => {
  const transport = httpsTransport(endpoint);
  closers.push(transport.close);
  return (await transport.send({ method: "GET", path: "/", headers: {}, timeoutMs: 2_000 })).body;
};

describe("the transport over TLS", () => {
  it("trusts the given authority, under the given name", async () => {
    assert.equal(await ask({ server: await serve(), ca: cert, serverName: "api.test" }), "nobody");
  });

  it("presents its client certificate", async () => {
    assert.equal(
      await ask({ server: await serve(), ca: cert, serverName: "api.test", auth: { cert, key } }),
      "api.test",
    );
  });

  const refused: Record<string, { more: Partial<Endpoint>; message: RegExp }> = {
    "an unknown authority": { more: { serverName: "api.test" }, message: /self-signed certificate/ },
    "another name": { more: { ca: cert }, message: /IP: 127\.0\.0\.1 is not in the cert's list/ },
  };
  for (const [name, { more, message }] of Object.entries(refused)) {
    it(`refuses ${name}, in one line`, async () => {
      const server = await serve();
      await assert.rejects(ask({ server, ...more }), { name: "ApiError", status: 0, reason: "Unreachable", message });
    });
  }

  it("accepts any server if it is configured as insecure", async () => {
    assert.equal(await ask({ server: await serve(), insecure: true }), "nobody");
  });

  it("uses a configured proxy", async () => {
    const tunnels: (string | undefined)[] = [];
    const proxy = http.createServer();
    proxy.on("connect", (incoming, client, head) => {
      tunnels.push(incoming.url);
      const [host = "", port = ""] = incoming.url?.split(":") ?? [];
      const upstream = connect(Number(port), host, () => {
        client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
        upstream.write(head);
        upstream.pipe(client).pipe(upstream);
      });
      closers.push(() => upstream.destroy());
    });
    const server = await serve();
    const through = `http://127.0.0.1:${await listen(proxy)}`;
    assert.equal(await ask({ server, ca: cert, serverName: "api.test", proxy: through }), "nobody");
    assert.deepEqual(tunnels, [server.replace("https://", "")]);
  });
});
