/** KEDA's definition of its ScaledObject, from its Go module, for the overlay of infra/kubernetes that scales by a queue. */
import { existsSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { cacheDir, command, intoPlace, type Part } from "./part.ts";

const module = {
  path: "github.com/kedacore/keda/v2",
  version: "v2.21.0",
  sum: "h1:R6z2HZvstK4RLUMxroNACzBj74xGxt3kG59b5Xc+Xps=",
};

const place = (): string => join(cacheDir(), "keda", module.version);

/** Returns the path of the definition that the part `keda` provides. */
export const scaledObjects = (): string => join(place(), "scaledobjects.yaml");

const downloaded = z.object({ Dir: z.string(), Sum: z.literal(module.sum) });

export const keda: Part = {
  name: "keda",
  why: "the definition of KEDA's ScaledObject",
  sizeHint: "12 MB of a Go module",
  needs: [],
  isReady: async () => existsSync(scaledObjects()),
  install: async (say) => {
    say(`fetching ${module.path} ${module.version}`);
    const text = await command("go", ["mod", "download", "-json", `${module.path}@${module.version}`]);
    const { Dir } = downloaded.parse(JSON.parse(text));
    await intoPlace(place(), (dir) =>
      copyFile(join(Dir, "config", "crd", "bases", "keda.sh_scaledobjects.yaml"), join(dir, "scaledobjects.yaml")),
    );
  },
};
