/** A followed log, as `kubectl logs -f` asks for it: new lines as they come, until the pod has ended. */

import type { Ask } from "./ask.ts";
import type { Answer } from "./call.ts";
import { mainExit } from "./lifecycle.ts";
import type { Simulator } from "./open.ts";
import { keyOf } from "./store.ts";
import type { Feed, OpenWatch } from "./watch.ts";

const logPath = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/]+)\/log\?(?:.*&)?follow=(?:true|1)(?:&|$)/;

export const isFollow = ({ method, path }: Ask): boolean => method === "GET" && logPath.test(path);

/** Sends each line once: the simulated log grows, but not always at its end. */
export const followLog = ({ handle, store, subscribe }: Simulator, ask: Ask, feed: Feed): OpenWatch | Answer => {
  const [, namespace = "", name = ""] = logPath.exec(ask.path) ?? [];
  const first = handle(ask);
  if (first.status !== 200) return first;
  const sent = new Set<string>();
  const tell = ({ status, body }: Answer): void => {
    if (status !== 200) return;
    for (const line of body.split("\n").filter((text) => text !== "" && !sent.has(text))) {
      sent.add(line);
      feed.line(line);
    }
  };
  const isOver = (): boolean => {
    const pod = store.get("pods", keyOf(decodeURIComponent(namespace), decodeURIComponent(name)));
    return pod === undefined || mainExit(pod) !== undefined;
  };
  tell(first);
  if (isOver()) {
    feed.end();
    return { close: () => {} };
  }
  const close = subscribe(() => {
    tell(handle(ask));
    if (!isOver()) return;
    close();
    feed.end();
  });
  return { close };
};
