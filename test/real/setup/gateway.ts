/** Definitions of the Gateway API's routes, from its Go module, for applications and Connect servers at a Gateway. */
import { existsSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { cacheDir, command, intoPlace, type Part } from "./part.ts";

const module = {
  path: "sigs.k8s.io/gateway-api",
  version: "v1.6.0",
  sum: "h1:735YBRj5NXFrOGX0GoSjwzUIzbz8kiEOfADsqHFmHgE=",
};

const files = ["httproutes", "grpcroutes"].map((plural) => `gateway.networking.k8s.io_${plural}.yaml`);

const place = (): string => join(cacheDir(), "gateway", module.version);

/** Returns the paths of the definitions that the part `gateway` provides. */
export const routeDefinitions = (): readonly string[] => files.map((file) => join(place(), file));

const downloaded = z.object({ Dir: z.string(), Sum: z.literal(module.sum) });

export const gateway: Part = {
  name: "gateway",
  why: "the definitions of HTTPRoute and GRPCRoute",
  sizeHint: "11 MB of a Go module",
  needs: [],
  isReady: async () => routeDefinitions().every((file) => existsSync(file)),
  install: async (say) => {
    say(`fetching ${module.path} ${module.version}`);
    const text = await command("go", ["mod", "download", "-json", `${module.path}@${module.version}`]);
    const { Dir } = downloaded.parse(JSON.parse(text));
    await intoPlace(place(), async (dir) => {
      for (const file of files) await copyFile(join(Dir, "config", "crd", "standard", file), join(dir, file));
    });
  },
};
