/** The stage whose API server the attack controls: a simulator behind a front server that can answer in its place. */
import { writeFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { kubeconfigFor, serveSimulator } from "../../../shared/simulator/http/serve.ts";
import { openSimulator, type Simulator } from "../../../shared/simulator/open.ts";
import { cli } from "../../real/e2e/installed.ts";
import { crds } from "../../support/crds.ts";
import { listening } from "../../support/port.ts";
import { firstQueues } from "../../support/standins.ts";
import { secrets } from "./cluster-stage.ts";
import { openHost } from "./host.ts";
import { openListener } from "./listener.ts";
import { runOf } from "./program.ts";
import { attackers, type Fault, type Hands, pathOf, type Stand, timed } from "./stand.ts";

/** Requests that go to the simulator directly, past all faults. */
const handsOn = ({ handle }: Simulator): Hands => ({
  call: async (method, path, body, contentType = "application/json") => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = handle({ method, path, headers: { "content-type": contentType }, ...sent });
    return { status: answer.status, body: answer.body === "" ? undefined : JSON.parse(answer.body) };
  },
});

const forward = (to: string, asked: IncomingMessage, response: ServerResponse): void => {
  const { hostname, port } = new URL(to);
  const { method, headers, url: path } = asked;
  const onward = request({ hostname, port, method, headers, path }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
    answer.on("error", () => response.destroy());
  });
  onward.on("error", () => response.destroy());
  response.on("close", () => onward.destroy());
  asked.pipe(onward);
};

const openFront = async (to: string) => {
  let fault: Fault | undefined;
  const open = new Set<ServerResponse>();
  const server = createServer((asked, response) => {
    asked.on("error", () => {});
    response.on("error", () => {});
    if (/[?&]watch=/.test(asked.url ?? "")) {
      open.add(response);
      response.on("close", () => open.delete(response));
    }
    if (fault?.(asked, response) !== true) forward(to, asked, response);
  });
  const port = await listening(server);
  return {
    url: `http://127.0.0.1:${port}`,
    setFault: (next: Fault | undefined) => {
      fault = next;
    },
    cut: () => {
      for (const one of open) one.destroy();
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

/** Callers that may read the page; the stage sends no triggers. */
const readers = ["greedy", "reader"].map((name) => ({
  ...{ name, may: ["read"] },
  tokens: [`${secrets.trigger}-${name}`],
}));

const furnish = async ({ call }: Hands): Promise<void> => {
  const made = (kind: string, namespace: string, object: object) => call("POST", pathOf(kind, namespace), object);
  await made("Namespace", "", { apiVersion: "v1", kind: "Namespace", metadata: { name: attackers } });
  for (const namespace of ["default", attackers])
    await made("ServiceAccount", namespace, {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: "spark", namespace },
    });
  for (const queue of firstQueues) await made("Queue", "", queue);
};

export const openSimulatedStage = async (): Promise<Stand & { readonly close: () => Promise<void> }> => {
  const dir = await mkdtemp(join(tmpdir(), "rekindle-attack-"));
  const simulator = openSimulator({ start: Date.now(), crds, scripts: { "*": [{ hangs: true }] } });
  const served = await serveSimulator(simulator);
  const front = await openFront(served.url);
  const hands = handsOn(simulator);
  await furnish(hands);
  const kubeconfig = join(dir, "kubeconfig");
  await writeFile(kubeconfig, kubeconfigFor(front.url));
  await writeFile(join(dir, "trigger"), JSON.stringify(readers));
  const clock = join(dir, "clock");
  await writeFile(clock, "0");
  const listener = await openListener();
  const preload = pathToFileURL(join(import.meta.dirname, "clock.mjs"));
  preload.searchParams.set("file", clock);
  const args = [
    "--gang",
    "none",
    "--resync",
    "30s",
    "--updates-allow-private",
    "--updates-to",
    `${listener.url}/updates`,
  ];
  const all = [...args, "--trigger-secret-file", join(dir, "trigger")];
  const host = await openHost(kubeconfig, join(dir, "host.log"), all, { node: ["--import", preload.href] });
  return {
    ...hands,
    ...{ tenant: hands, host, listener, secrets },
    reins: { fault: front.setFault, cut: front.cut, setClock: (ms) => writeFileSync(clock, String(ms)) },
    rekindle: runOf(cli, kubeconfig),
    neighbour: () => timed(hands),
    close: async () => {
      listener.close();
      await host.stop();
      front.close();
      await served.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
};
