/** Readiness, liveness and startup probes: HTTP, TCP and commands. */
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { connect } from "node:net";
import type { Life } from "./context.ts";
import type { Act, Probe } from "./objects.ts";
import type { Running } from "./process.ts";
import { pauseFor, Stopped, stopper } from "./stopper.ts";
import { terminate } from "./terminate.ts";

const portOf = ({ tracked }: Life, port: number | string): number =>
  typeof port === "number"
    ? port
    : (tracked.spec.ports?.find(({ name }) => name === port)?.containerPort ?? Number(port));

const httpAnswers = (life: Life, get: NonNullable<Act["httpGet"]>, timeout: number): Promise<boolean> =>
  new Promise((resolve) => {
    const host = get.host ?? life.context.network()?.ip ?? "127.0.0.1";
    const headers = Object.fromEntries((get.httpHeaders ?? []).map(({ name, value }) => [name, value]));
    const options = { host, port: portOf(life, get.port), path: get.path ?? "/", timeout, headers, agent: false };
    const ask = get.scheme === "HTTPS" ? httpsRequest : httpRequest;
    const asked = ask({ ...options, rejectUnauthorized: false }, (answer) => {
      answer.resume();
      const status = answer.statusCode ?? 0;
      resolve(status >= 200 && status < 400);
    });
    asked.on("timeout", () => asked.destroy());
    asked.on("error", () => resolve(false));
    asked.on("close", () => resolve(false));
    asked.end();
  });

const tcpAnswers = (life: Life, tcp: NonNullable<Act["tcpSocket"]>, timeout: number): Promise<boolean> =>
  new Promise((resolve) => {
    const host = tcp.host ?? life.context.network()?.ip ?? "127.0.0.1";
    const socket = connect({ host, port: portOf(life, tcp.port), timeout });
    const end = (answer: boolean) => (): void => {
      resolve(answer);
      socket.destroy();
    };
    socket.on("connect", end(true));
    socket.on("timeout", end(false));
    socket.on("error", end(false));
  });

const holds = async (life: Life, running: Running, probe: Probe): Promise<boolean> => {
  const timeout = (probe.timeoutSeconds ?? 1) * 1000;
  if (probe.httpGet !== undefined) return httpAnswers(life, probe.httpGet, timeout);
  if (probe.tcpSocket !== undefined) return tcpAnswers(life, probe.tcpSocket, timeout);
  if (probe.exec !== undefined) return (await running.exec(probe.exec.command, timeout)).code === 0;
  return true;
};

/**
 * Probes until it is aborted; calls `change` when enough answers of one kind came in a row; `change` returns true to
 * end the loop.
 */
const ask = async (
  life: Life,
  running: Running,
  probe: Probe,
  signal: AbortSignal,
  change: (ok: boolean) => boolean,
): Promise<void> => {
  await pauseFor((probe.initialDelaySeconds ?? 0) * 1000, signal);
  for (let row = 0, last = true; ; ) {
    const ok = await holds(life, running, probe);
    if (signal.aborted) return;
    row = ok === last ? row + 1 : 1;
    last = ok;
    const enough = ok ? (probe.successThreshold ?? 1) : (probe.failureThreshold ?? 3);
    if (row >= enough && change(ok)) return;
    await pauseFor((probe.periodSeconds ?? 10) * 1000, signal);
  }
};

const fails = (life: Life, kind: string): void =>
  life.context.node.tell(life.context.pod(), "Warning", "Unhealthy", `${kind} probe failed`, life.tracked.spec.name);

/** Terminates an unhealthy container with the pod's grace period; its own loop decides on a restart. */
const endUnhealthy = (life: Life, running: Running, kind: string): void => {
  fails(life, kind);
  const own = stopper();
  own.stop((life.context.pod().spec.terminationGracePeriodSeconds ?? 30) * 1000);
  void terminate({ ...life, stopping: own }, running);
};

const probeAll = async (life: Life, running: Running, signal: AbortSignal): Promise<void> => {
  const { context, tracked } = life;
  const { startupProbe, readinessProbe, livenessProbe } = tracked.spec;
  const set = (what: "ready" | "started", value: boolean): void => {
    if (tracked[what] === value) return;
    tracked[what] = value;
    context.report();
  };
  if (startupProbe !== undefined)
    await ask(life, running, startupProbe, signal, (ok) => {
      if (!ok) endUnhealthy(life, running, "Startup");
      return true;
    });
  if (signal.aborted) return;
  set("started", true);
  if (readinessProbe === undefined) set("ready", true);
  const readiness =
    readinessProbe &&
    ask(life, running, readinessProbe, signal, (ok) => {
      if (!ok) fails(life, "Readiness");
      set("ready", ok);
      return false;
    });
  const liveness =
    livenessProbe &&
    ask(life, running, livenessProbe, signal, (ok) => {
      if (!ok) endUnhealthy(life, running, "Liveness");
      return !ok;
    });
  await Promise.all([readiness, liveness]);
};

export const watchProbes = (life: Life, running: Running): { readonly stop: () => void } => {
  const own = stopper();
  // Without a startup probe a container is started, and without a readiness probe ready, in its first report.
  if (life.tracked.spec.startupProbe === undefined) {
    life.tracked.started = true;
    life.tracked.ready = life.tracked.spec.readinessProbe === undefined;
  }
  probeAll(life, running, own.signal).catch((error: unknown) => {
    if (!(error instanceof Stopped)) life.context.node.log(`probe: ${String(error)}`);
  });
  return { stop: () => own.stop(0) };
};
