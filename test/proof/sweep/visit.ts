/** Steps and resyncs on a cluster without an `Execution`, and the requests that they make. */
import type { HttpRequest, Transport } from "../../../shared/core/http.ts";
import type { Message } from "../../../shared/core/key.ts";
import { operatorsFor } from "../../../shared/deployments/common/operators.ts";
import { openWorld, operatorsByKind } from "../../../shared/deployments/common/step-dependencies.ts";
import { resync } from "../../../shared/deployments/resync/sweep.ts";
import type { World } from "../../../shared/engine/context/world.ts";
import type { Queue } from "../../../shared/engine/ports.ts";
import { timing } from "../../../shared/engine/settings.ts";
import type { Simulator } from "../../../shared/simulator/open.ts";
import { wordsFor } from "./fault-answers.ts";

export type Visit = {
  /** Requests in words, in order: `POST pods`. */
  readonly requests: string[];
  readonly transport: Transport;
  /** A fresh invocation, which shares only the cluster with others. */
  anybody(): Promise<World>;
  /** The findings of a resync: the number of its messages, and the messages. */
  found(id: string): Promise<{ readonly sent: number; readonly messages: readonly Message[] }>;
  /** Sends a request as a user would; throws the server's refusal. */
  ask(method: string, path: string, body?: object): void;
};

export const visit = (simulator: Simulator, cluster: string): Visit => {
  const requests: string[] = [];
  const transport: Transport = {
    send: async (request: HttpRequest) => {
      requests.push(wordsFor(request));
      return simulator.handle(request);
    },
    stream: () => Promise.reject(new Error("nobody watches")),
  };
  const operators = operatorsFor(timing);
  const nowhere: Queue = { send: async () => {}, sendLater: async () => {} };
  return {
    requests,
    transport,
    anybody: () =>
      openWorld({ transport, queue: nowhere, report: () => {}, timing, operatorOf: operatorsByKind(operators) }),
    found: async (id) => {
      const messages: Message[] = [];
      const queue: Queue = { ...nowhere, send: async (message) => void messages.push(message) };
      const sent = await resync({ transport, queue, cluster, namespaces: [], selector: undefined, operators }, id);
      return { sent, messages };
    },
    ask: (method, path, body) => {
      const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
      const answer = simulator.handle({
        method,
        path,
        headers: { "content-type": type },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.body}`);
    },
  };
};
