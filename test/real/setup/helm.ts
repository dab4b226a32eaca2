/**
 * Helm's loader, schema check and engine, for the chart of infra/helm: the Go module `test/real/setup/helm`, built once
 * per content of its sources.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { compile } from "./compile.ts";
import { placeOf } from "./go.ts";
import { intoPlace, type Part } from "./part.ts";

const sources = join(import.meta.dirname, "helm");

/** Returns the program that the part `helm` provides. */
export const helmProgram = async (): Promise<string> => join(await placeOf(sources, "helm"), "helm");

export const helm: Part = {
  name: "helm",
  why: "what renders the chart of infra/helm, built from Helm's own packages",
  sizeHint: "a binary of 36 MB; 55 CPU-seconds, less behind the control plane, which shares most of its modules",
  // Built after `go`, so that shared packages are compiled once.
  needs: ["go"],
  isReady: async () => existsSync(await helmProgram()),
  install: async (say) => {
    say("building");
    await intoPlace(await placeOf(sources, "helm"), (dir) =>
      compile({ sources, binary: join(dir, "helm"), ldflags: "-s -w", say }),
    );
  },
};
