/**
 * Compiles a Go program, of this repository or of a downloaded module, and reports its progress; otherwise a build of thousands of
 * packages is silent for many minutes.
 */
import { command, type Say } from "./part.ts";

export type Compilation = {
  /** Folder of the module. */
  readonly sources: string;
  /** Name of the file with the module's requirements, if it is not go.mod. */
  readonly module?: string;
  /** Path of the program's package below `sources`, if it is not the folder itself. */
  readonly program?: string;
  /** Path of the binary. */
  readonly binary: string;
  readonly ldflags: string;
  readonly say: Say;
  /** The Go program; tests replace it. */
  readonly go?: string;
  /** Interval of progress lines, in ms. */
  readonly everyMs?: number;
};

/** The progress so far, from the compiler's output. */
export type Progress = {
  readonly downloaded: number;
  readonly compiled: number;
  /** Packages of the whole program; undefined until they are counted. */
  readonly total: number | undefined;
  /** The package begun last, and the program's own package, which is compiled last, before the linker. */
  readonly last: string;
  readonly main: string;
  readonly seconds: number;
};

const counted = (count: number): string => count.toLocaleString("en-US");

/** Returns one line about the progress of a compilation. */
export const progressText = ({ downloaded, compiled, total, last, main, seconds }: Progress): string => {
  const after = `after ${seconds} s`;
  if (total === undefined) return `downloading modules: ${counted(downloaded)} so far, ${after}`;
  const part = `${counted(compiled)} of ${counted(total)} packages`;
  if (last === "") return `reading what is compiled already (${counted(total)} packages in all), ${after}`;
  return last === main
    ? `compiled ${part}, linking, ${after}`
    : `compiled ${part} (those compiled before are not counted), now ${last}, ${after}`;
};

const linesIn = (hear: (line: string) => void): ((text: string) => void) => {
  let rest = "";
  return (text) => {
    const lines = `${rest}${text}`.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) hear(line);
  };
};

/** Builds the binary, with a line of progress every 10 s. */
export const compile = async (compilation: Compilation): Promise<void> => {
  const { sources: cwd, module = "go.mod", program = ".", binary, ldflags, say } = compilation;
  const { go = "go", everyMs = 10_000 } = compilation;
  const began = Date.now();
  let progress: Progress = { downloaded: 0, compiled: 0, total: undefined, last: "", main: "", seconds: 0 };
  const env = { CGO_ENABLED: "0" };
  const timer = setInterval(
    () => say(progressText({ ...progress, seconds: Math.round((Date.now() - began) / 1_000) })),
    everyMs,
  );
  try {
    const downloads = linesIn((line) => {
      if (line.startsWith("go: downloading ")) progress = { ...progress, downloaded: progress.downloaded + 1 };
    });
    const list = ["list", `-modfile=${module}`, "-deps", "-f", "{{.ImportPath}}", program];
    const listed = await command(go, list, { cwd, env, hear: downloads });
    const packages = new Set(listed.split("\n").filter((line) => line !== "" && !line.startsWith("go: ")));
    progress = { ...progress, total: packages.size, main: [...packages].at(-1) ?? "" };
    const compiled = linesIn((line) => {
      if (packages.has(line)) progress = { ...progress, compiled: progress.compiled + 1, last: line };
    });
    // The linker drops debug information (-s -w); without it, the compiler needs a fifth less processor time.
    const flags = ["-buildvcs=false", "-trimpath", "-gcflags=all=-dwarf=false", "-ldflags", ldflags];
    const args = ["build", `-modfile=${module}`, "-v", ...flags, "-o", binary, program];
    await command(go, args, { cwd, env, hear: compiled });
  } finally {
    clearInterval(timer);
  }
};
