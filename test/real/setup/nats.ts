/** NATS' server, with JetStream: the Go module `test/real/setup/nats`, built once per content of its sources. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { compile } from "./compile.ts";
import { placeOf } from "./go.ts";
import { intoPlace, type Part } from "./part.ts";

const sources = join(import.meta.dirname, "nats");

/** Returns the program that the part `nats` provides. */
export const natsProgram = async (): Promise<string> => join(await placeOf(sources, "nats"), "nats");

export const nats: Part = {
  name: "nats",
  why: "NATS' server with JetStream, for the queue's conformance and for functions end to end",
  sizeHint: "21 MB of modules, a binary of 17 MB; 36 CPU-seconds",
  needs: [],
  isReady: async () => existsSync(await natsProgram()),
  install: async (say) => {
    say("building");
    await intoPlace(await placeOf(sources, "nats"), (dir) =>
      compile({ sources, binary: join(dir, "nats"), ldflags: "-s -w", say }),
    );
  },
};
