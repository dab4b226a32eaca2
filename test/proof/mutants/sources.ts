/** The texts of the files that a mutant may edit. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Sources } from "./anchors.ts";

const rooms = ["shared", "functions", "infra"] as const;

/** Reads the sources below a folder that has the project's rooms. */
export const sourcesOf = (root: string): Sources =>
  new Map(
    rooms
      .flatMap((room) =>
        readdirSync(join(root, room), { recursive: true, encoding: "utf8" }).map((file) => join(room, file)),
      )
      .filter((file) => /\.(tsx?|mjs|yaml|json)$/.test(file))
      .map((file) => [file, readFileSync(join(root, file), "utf8")]),
  );
