/** A watch of the bench itself, straight at the API server: lists, follows, and begins again whenever it ends. */
import { readFileSync } from "node:fs";
import { get, type RequestOptions } from "node:https";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { at, textAt } from "./values.ts";

export type Watching = { readonly stop: () => void };

type Target = { readonly server: string; readonly pki: string; readonly path: string };

/** `seen` gets the type of each event (ADDED, MODIFIED, DELETED) and its object; after a gap objects come again as ADDED. */
export const watchAll = ({ server, pki, path }: Target, seen: (type: string, object: unknown) => void): Watching => {
  const read = (name: string): Buffer => readFileSync(join(pki, name));
  const options: RequestOptions = { ca: read("ca.crt"), cert: read("admin.crt"), key: read("admin.key"), agent: false };
  let isOver = false;
  let stopNow = (): void => {};
  const follow = (): Promise<void> =>
    new Promise((resolve) => {
      const sent = get(new URL(`${path}?watch=true`, server), options, (answer) => {
        answer.on("error", () => resolve());
        const lines = createInterface({ input: answer });
        lines.on("line", (line) => {
          const event: unknown = JSON.parse(line);
          seen(textAt(event, "type"), at(event, "object"));
        });
        for (const event of ["close", "error"]) lines.on(event, () => resolve());
      });
      sent.on("error", () => resolve());
      stopNow = () => sent.destroy();
    });
  void (async () => {
    while (!isOver) {
      await follow();
      await sleep(100);
    }
  })();
  return {
    stop: () => {
      isOver = true;
      stopNow();
    },
  };
};
