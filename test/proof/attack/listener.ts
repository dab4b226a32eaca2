/** The attack's own listener: takes status updates, remembers the requests, and answers as the path says. */
import { createServer, type ServerResponse } from "node:http";
import { listening } from "../../support/port.ts";
import type { Listener } from "./stand.ts";

const endless = (response: ServerResponse): void => {
  response.writeHead(200, { "content-type": "text/plain" });
  const chunk = "x".repeat(65_536);
  const more = (): void => {
    while (!response.destroyed && response.write(chunk));
    if (!response.destroyed) response.once("drain", more);
  };
  more();
};

/** Answers by the first segment of the path; the listener acknowledges requests to all other paths. */
const answers: Readonly<Record<string, (response: ServerResponse) => void>> = {
  silent: () => {},
  endless,
  redirect: (response) => response.writeHead(302, { location: "http://169.254.169.254/latest/meta-data" }).end(),
  half: (response) => {
    response.writeHead(200, { "content-length": "1000" });
    response.write("half");
    setTimeout(() => response.destroy(), 100);
  },
  escape: (response) => response.writeHead(500).end("\u001b[2J\u001b]0;owned\u0007".repeat(100)),
  large: (response) => response.writeHead(500).end("e".repeat(4_000_000)),
  headers: (response) => {
    for (let at = 0; at < 60; at += 1) response.setHeader(`x-h${at}`, "h".repeat(200));
    response.writeHead(500).end();
  },
};

const mostHeard = 2_000;

export const openListener = async (): Promise<Listener & { readonly close: () => void }> => {
  const heard: { path: string; headers: string; body: string }[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? "/";
    let body = "";
    request.on("data", (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on("error", () => {});
    request.on("end", () => {
      if (heard.length < mostHeard) heard.push({ path, headers: JSON.stringify(request.headers), body });
      const answer = answers[path.split("/")[1] ?? ""];
      if (answer !== undefined) return answer(response);
      response.writeHead(200).end();
    });
  });
  const port = await listening(server);
  return {
    url: `http://127.0.0.1:${port}`,
    heard: () => heard,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};
