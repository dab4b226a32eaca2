/**
 * Parses a Containerfile, and runs its steps in folders of this machine: proves that it builds, without a container
 * engine.
 */
import { cp, mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import * as z from "zod";
import { command } from "../setup/part.ts";

/** One line of a Containerfile. */
export type Step = { readonly word: string; readonly rest: string };

/** The lines from a `FROM` on. */
export type Stage = { readonly name: string; readonly image: string; readonly steps: readonly Step[] };

const known = new Set(["ARG", "FROM", "LABEL", "WORKDIR", "COPY", "RUN", "ENV", "USER", "EXPOSE", "ENTRYPOINT", "CMD"]);

/** Parses the stages; throws for an instruction that is not supported here. */
export const stagesIn = (text: string): readonly Stage[] => {
  const stages: { name: string; image: string; steps: Step[] }[] = [];
  const lines = text.replaceAll(/\\\n/g, " ").split("\n");
  for (const line of lines.map((one) => one.trim()).filter((one) => one !== "" && !one.startsWith("#"))) {
    const [, word = "", rest = ""] = /^(\S+)\s+(.*)$/.exec(line) ?? [];
    if (!known.has(word)) throw new Error(`${line}: only ${[...known].join(", ")} are known here`);
    const [, image = "", name = ""] = /^(\S+)(?:\s+AS\s+(\S+))?$/i.exec(rest) ?? [];
    if (word === "FROM") stages.push({ name, image, steps: [] });
    else stages.at(-1)?.steps.push({ word, rest });
  }
  return stages;
};

/** A built stage: a folder as its root, and the start of its container. */
export type Built = {
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly user: string;
  readonly entrypoint: readonly string[];
  readonly args: readonly string[];
};

const words = z.array(z.string()).min(1);
const listed = (rest: string): readonly string[] => words.parse(JSON.parse(rest));

type Around = { readonly context: string; readonly stages: ReadonlyMap<string, Built> };

/** Returns a path inside the root; relative paths start at the working folder. */
const placeIn = ({ root, cwd }: Built, path: string): string =>
  path.startsWith("/") ? join(root, path) : join(root, cwd, path);

const copied = async (built: Built, rest: string, { context, stages }: Around): Promise<void> => {
  const [, from, paths = ""] = /^(?:--from=(\S+)\s+)?(.*)$/.exec(rest) ?? [];
  const all = paths.split(/\s+/);
  const to = all.at(-1) ?? "";
  const source = from === undefined ? context : stages.get(from)?.root;
  if (source === undefined) throw new Error(`COPY --from=${from}: there is no such stage before`);
  for (const path of all.slice(0, -1)) {
    const target = to.endsWith("/") ? join(placeIn(built, to), basename(path)) : placeIn(built, to);
    await mkdir(join(target, ".."), { recursive: true });
    await cp(join(source, path), target, { recursive: true, verbatimSymlinks: true });
  }
};

/** Returns the shell that runs a command as the stage's user, if this process may change its user. */
const shellOf = (user: string): readonly [program: string, args: readonly string[]] => {
  const [uid = "0", gid = "0"] = user.split(":");
  if (uid === "0" || process.getuid?.() !== 0) return ["sh", ["-c"]];
  return ["setpriv", [`--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", "sh", "-c"]];
};

/** Runs a command with the stage's environment over that of this process; npm prefers cached packages. */
const ran = async (built: Built, rest: string): Promise<void> => {
  const env = { ...built.env, npm_config_prefer_offline: "true" };
  const [program, args] = shellOf(built.user);
  await command(program, [...args, rest], { cwd: join(built.root, built.cwd), env });
};

const after = async (built: Built, { word, rest }: Step, around: Around): Promise<Built> => {
  switch (word) {
    case "WORKDIR":
      await mkdir(placeIn(built, rest), { recursive: true });
      return { ...built, cwd: rest };
    case "ENV": {
      const [, name = "", value = ""] = /^([^=]+)=(.*)$/.exec(rest) ?? [];
      return { ...built, env: { ...built.env, [name]: value.startsWith("/") ? join(built.root, value) : value } };
    }
    case "COPY":
      await copied(built, rest, around);
      return built;
    case "RUN":
      await ran(built, rest);
      return built;
    case "USER":
      return { ...built, user: rest };
    case "ENTRYPOINT":
      return { ...built, entrypoint: listed(rest) };
    case "CMD":
      return { ...built, args: listed(rest) };
    default:
      return built;
  }
};

/** Runs all stages below `dir`, in order; returns the last one. */
export const build = async (text: string, context: string, dir: string): Promise<Built> => {
  const stages = new Map<string, Built>();
  let built: Built = { root: dir, env: {}, cwd: "/", user: "0:0", entrypoint: [], args: [] };
  for (const [at, { name, steps }] of stagesIn(text).entries()) {
    const root = join(dir, `stage-${at}`);
    await mkdir(root, { recursive: true });
    built = { root, env: {}, cwd: "/", user: "0:0", entrypoint: [], args: [] };
    for (const step of steps) built = await after(built, step, { context, stages });
    stages.set(name, built);
  }
  return built;
};
