/**
 * Admission inside a host: an HTTPS server with a certificate that it renews, registered with the API server. An error
 * after its start is logged and tried again, and the host goes on running applications.
 */

import { createServer, type Server } from "node:https";
import type { Registration } from "../../cli/installation/webhooks.ts";
import type { Report } from "../../engine/ports.ts";
import { requestListener } from "../http/request-listener.ts";
import { type Admits, admissionApp } from "./app.ts";
import type { Certificates, Served } from "./certificates.ts";

export type Admission = {
  /** Host and port. */
  readonly listen: { readonly hostname: string; readonly port: number };
  readonly certificates: Certificates;
  /** Registers the webhooks with this CA; returns how many objects it wrote. */
  readonly register: (ca: Registration["ca"]) => Promise<number>;
  readonly admits: Admits;
  readonly report: Report;
  /** The interval of checks of certificate and registration, ms. */
  readonly everyMs: number;
};

export type OpenAdmission = {
  /** The port on which the server listens. */
  readonly port: number;
  close(): Promise<void>;
};

/** Timeout of a request, ms: longer than the API server waits for an answer. */
const requestMs = 5_000;

const listening = (server: Server, { hostname, port }: Admission["listen"]): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once("error", (cause) =>
      reject(new Error(`cannot listen on ${hostname}:${port}: ${cause.message}; set --admission-listen`)),
    );
    server.listen({ host: hostname, port }, () => {
      const bound = server.address();
      resolve(typeof bound === "object" && bound !== null ? bound.port : port);
    });
  });

const opened = (served: Served, admits: Admits): Server => {
  const { cert, key } = served;
  const server = createServer({ cert, key, minVersion: "TLSv1.2" }, requestListener(admissionApp(admits).fetch));
  server.requestTimeout = requestMs;
  server.headersTimeout = requestMs;
  server.maxConnections = 512;
  return server;
};

/**
 * Renews certificate and registration. The new CA is registered before the new certificate is served, so that no call
 * meets a certificate that the API server does not trust.
 */
const renewed = async (admission: Admission, server: Server, before: Served): Promise<Served> => {
  const { certificates, register, report } = admission;
  const served = await certificates();
  const written = await register(served.ca);
  if (written > 0) report("info", "admission was registered again", { written });
  if (served.cert !== before.cert) {
    server.setSecureContext({ cert: served.cert, key: served.key });
    report("info", "admission has a new certificate", {});
  }
  return served;
};

const lookAfter = (admission: Admission, server: Server, first: Served) => {
  const { everyMs, report } = admission;
  let served = first;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  const again = (): void => {
    if (!stopped) timer = setTimeout(look, everyMs);
  };
  const look = (): void => {
    running = renewed(admission, server, served)
      .then((next) => {
        served = next;
      })
      .catch((cause: unknown) => {
        const error = cause instanceof Error ? cause.message : String(cause);
        report("warn", "cannot renew admission's certificate or registration, trying again", { error });
      })
      .then(again);
  };
  again();
  return async (): Promise<void> => {
    stopped = true;
    clearTimeout(timer);
    await running;
  };
};

/** Serves, then registers. Throws one line where the start fails. */
export const serveAdmission = async (admission: Admission): Promise<OpenAdmission> => {
  const served = await admission.certificates();
  const server = opened(served, admission.admits);
  const port = await listening(server, admission.listen);
  const close = async (): Promise<void> => {
    server.closeIdleConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  try {
    await admission.register(served.ca);
  } catch (cause) {
    await close();
    throw cause;
  }
  const stop = lookAfter(admission, server, served);
  return {
    port,
    close: async () => {
      await stop();
      await close();
    },
  };
};
