/** What runs in place of software that this machine lacks: a table from outside, the first row that fits a container. */
import { readFileSync } from "node:fs";
import * as z from "zod";
import { type Image, plain } from "./images.ts";

const expression = z.string().transform((text) => new RegExp(text));

const row = z.object({
  /** Over NAMESPACE/NAME of the pod. */
  pod: expression.optional(),
  image: expression,
  /** Over command and arguments, joined by spaces; "" of a container that names none. */
  command: expression.optional(),
  /** Its own command, on this machine's programs; or so long until it starts, so long at work (for ever), and how it ends. */
  runs: z.union([
    z.literal("command"),
    z.object({ startMs: z.number(), runMs: z.number().optional(), exitCode: z.number().default(0) }),
  ]),
});

export type StandIn = z.infer<typeof row>;
/** A row as it is written in the file. */
export type StandInRow = z.input<typeof row>;

export const readStandIns = (file: string): readonly StandIn[] =>
  z.array(row).parse(JSON.parse(readFileSync(file, "utf8")));

/** What a container is known by, to find its row. */
export type Known = { readonly pod: string; readonly image: string; readonly command: readonly string[] };

const imageFor = ({ runs }: StandIn): Image => {
  if (runs === "command") return { ...plain, id: "host/sh", command: [] };
  const work = runs.runMs === undefined ? "sleep infinity" : `sleep ${runs.runMs / 1_000}`;
  return { ...plain, id: "stand-in", command: [], instead: ["/bin/sh", "-c", `${work}; exit ${runs.exitCode}`] };
};

/** The stand-in of a container, and how long its image takes to come. */
export const standInFor = (
  table: readonly StandIn[],
  { pod, image, command }: Known,
): { readonly image: Image; readonly startMs: number } | undefined => {
  const words = command.join(" ");
  const found = table.find(
    (one) => (one.pod?.test(pod) ?? true) && one.image.test(image) && (one.command?.test(words) ?? true),
  );
  if (found === undefined) return undefined;
  return { image: imageFor(found), startMs: found.runs === "command" ? 0 : found.runs.startMs };
};
