/**
 * Knative's definition of its Service, from its Go module, for the overlay of infra/kubernetes that consists of such
 * Services.
 */

import { existsSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { cacheDir, command, intoPlace, type Part } from "./part.ts";

const module = {
  path: "knative.dev/serving",
  version: "v0.51.0",
  sum: "h1:yN2Q7eYqJgoPfZkATjoBZyGbZ2P1Qhns9HIMU4mF+to=",
};

const place = (): string => join(cacheDir(), "knative", module.version);

/** Returns the path of the definition that the part `knative` provides. */
export const knativeServices = (): string => join(place(), "service.yaml");

const downloaded = z.object({ Dir: z.string(), Sum: z.literal(module.sum) });

export const knative: Part = {
  name: "knative",
  why: "the definition of Knative's Service",
  sizeHint: "13 MB of a Go module",
  needs: [],
  isReady: async () => existsSync(knativeServices()),
  install: async (say) => {
    say(`fetching ${module.path} ${module.version}`);
    const text = await command("go", ["mod", "download", "-json", `${module.path}@${module.version}`]);
    const { Dir } = downloaded.parse(JSON.parse(text));
    await intoPlace(place(), (dir) =>
      copyFile(join(Dir, "config", "core", "300-resources", "service.yaml"), join(dir, "service.yaml")),
    );
  },
};
