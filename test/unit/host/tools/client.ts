/**
 * API calls as other tools make them, with their paths, verbs, patch types, field managers and user agents, past the
 * host's transport.
 */

import assert from "node:assert/strict";
import type { HttpRequest } from "../../../../shared/core/http.ts";
import { isRecord } from "../../../../shared/core/json.ts";
import { withQuery } from "../../../../shared/kube/paths.ts";

import type { Stand } from "../stand.ts";

export const applications = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/default/sparkapplications";
export const pods = "/api/v1/namespaces/default/pods";

export type Answered = {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly text: string;
};

export type Call = {
  readonly method: HttpRequest["method"];
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly type?: string;
  readonly body?: unknown;
};

const parsed = (text: string): Answered["body"] => {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
};

/** Returns a client with the tool's user agent. */
export const toolOn =
  ({ simulator }: Stand, agent: string) =>
  async ({ method, path, query = {}, type = "application/json", body }: Call): Promise<Answered> => {
    const { status, body: text } = await simulator.transport.send({
      method,
      path: withQuery(path, query),
      headers: { accept: "application/json", "user-agent": agent, "content-type": type },
      timeoutMs: 1_000,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status, body: parsed(text), text };
  };

export type Tool = ReturnType<typeof toolOn>;

/** Returns the value at a path of an answer, as `.get(…, {})` and gjson do; undefined if there is none. */
export const within = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((inner, name) => (isRecord(inner) ? inner[name] : undefined), value);

export const itemsOf = ({ body }: Answered): readonly unknown[] => {
  const { items } = body;
  return Array.isArray(items) ? items : assert.fail("not a list");
};

/** Returns the number of pods that hosts have created. */
export const submissionsIn = (stand: Stand): number => stand.asked.filter((line) => line === `POST ${pods}`).length;

/** Lists the applications, pods and services whose names begin with this name. */
export const leftOf = (stand: Stand, name: string): readonly string[] =>
  ["SparkApplication", "Pod", "Service"]
    .flatMap((kind) => stand.all(kind))
    .map(({ kind, metadata }) => `${kind} ${metadata.name}`)
    .filter((text) => text.split(" ")[1]?.startsWith(name));
