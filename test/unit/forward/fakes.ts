/** A server of lists and watches that follows a script, and a clock that only waiting advances. */
import { ApiError, type HttpRequest, type HttpStream, type Transport } from "../../../shared/core/http.ts";
import type { Stored } from "../../../shared/core/object.ts";
import type { Pause } from "../../../shared/forward/pause.ts";

export const object = (name: string, resourceVersion: string, uid = `uid-${name}`): Stored => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "ns", uid, resourceVersion },
  status: { phase: "Running" },
});

export const line = (type: string, value: unknown): string => JSON.stringify({ type, object: value });

export const bookmark = (resourceVersion: string): string =>
  line("BOOKMARK", { kind: "Pod", apiVersion: "v1", metadata: { resourceVersion } });

/** The answer to one request. A watch ends after its lines, breaks, or stays open until it is closed. */
export type Scene =
  | { readonly list: readonly Stored[]; readonly version: string; readonly next?: string }
  | { readonly watch: readonly string[]; readonly ending?: "end" | "reset" | "hang" }
  | { readonly status: number; readonly headers?: Record<string, string> }
  | { readonly unreachable: string }
  | { readonly tooLong: true };

export type ScriptedTransport = Transport & { readonly asked: string[] };

const headers = { date: "Mon, 02 Nov 2026 08:00:00 GMT" };

const streamOf = (scene: Extract<Scene, { watch: unknown }>): HttpStream => {
  let close = (): void => {};
  const closed = new Promise<void>((resolve) => {
    close = resolve;
  });
  async function* lines(): AsyncGenerator<string> {
    yield* scene.watch;
    if (scene.ending === "reset") throw new Error("ECONNRESET");
    if (scene.ending === "hang") await closed;
  }
  return { status: 200, headers, lines: lines(), close };
};

/** Answers each request with the next scene, whatever the request; `over` is called when none is left. */
export const scriptedTransport = (scenes: readonly Scene[], over: () => void): ScriptedTransport => {
  const asked: string[] = [];
  const next = (request: HttpRequest): Scene => {
    const scene = scenes[asked.length];
    asked.push(request.path);
    if (scene === undefined) over();
    return scene ?? { unreachable: "the play is over" };
  };
  return {
    asked,
    send: async (request) => {
      const scene = next(request);
      if ("unreachable" in scene) throw new Error(scene.unreachable);
      if ("tooLong" in scene) throw new ApiError({ status: 0, reason: "TooLong", message: "too long" });
      if ("status" in scene) return { status: scene.status, headers: { ...headers, ...scene.headers }, body: "" };
      if ("watch" in scene) throw new Error(`a list was asked for where a watch was due: ${request.path}`);
      const metadata = { resourceVersion: scene.version, continue: scene.next };
      return { status: 200, headers, body: JSON.stringify({ kind: "PodList", metadata, items: scene.list }) };
    },
    stream: async (request) => {
      const scene = next(request);
      if ("tooLong" in scene) throw new Error(`a watch was asked for where a list was due: ${request.path}`);
      if ("unreachable" in scene) throw new Error(scene.unreachable);
      if ("watch" in scene) return streamOf(scene);
      if ("list" in scene) throw new Error(`a watch was asked for where a list was due: ${request.path}`);
      async function* none(): AsyncGenerator<string> {}
      return { status: scene.status, headers: { ...headers, ...scene.headers }, lines: none(), close: () => {} };
    },
  };
};

/** Returns a clock that only pauses advance; a pause returns at once. */
export const turnedTime = (): { now: () => number; pause: Pause; waited: number[] } => {
  let time = 0;
  const waited: number[] = [];
  const pause: Pause = async (ms, signal) => {
    await new Promise((resolve) => setImmediate(resolve));
    if (signal.aborted) return;
    waited.push(ms);
    time += ms;
  };
  return { now: () => time, pause, waited };
};
