/** Completion scripts: the installed shells run them, and they know every command. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { describe, test } from "node:test";
import { openTerminal } from "./terminal.ts";

const script = async (shell: string): Promise<string> => (await openTerminal().run("completion", shell)).out;

/** Returns bash's completions for a line; its last word is the one that is completed. */
const offered = (text: string, ...words: readonly string[]): readonly string[] => {
  const line = words.map((word) => `'${word}'`).join(" ");
  const ask = `COMP_WORDS=(rekindle ${line}); COMP_CWORD=${words.length}; _rekindle; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const fake = "rekindle() { echo default/app; }";
  return execFileSync("bash", ["-c", `${text}\n${fake}\n${ask}`], { encoding: "utf8" })
    .trim()
    .split("\n");
};

describe("rekindle completion", () => {
  const lines: readonly (readonly [readonly string[], readonly string[]])[] = [
    [["sta"], ["status"]],
    [["h"], ["host"]],
    [["com"], ["completion"]],
    [["list", "--outp"], ["--output"]],
    [
      ["list", "-o", ""],
      ["table", "wide", "json", "yaml", "name", "key"],
    ],
    [["status", "def"], ["default/app"]],
    [["log", "--exec"], ["--executor"]],
    [["manifests", "x"], [""]],
    [["job", "s"], ["suspend"]],
    [["job", "list", "--outp"], ["--output"]],
    [
      ["queue", "operate", "-a", ""],
      ["open", "close", "update"],
    ],
    [["job", "view", "def"], ["default/app"]],
  ];
  for (const [words, wanted] of lines) {
    test(`bash completes rekindle ${words.join(" ")}`, async () => {
      assert.deepEqual(offered(await script("bash"), ...words), wanted);
    });
  }

  test("zsh uses bash's functions, and fish has a line for every option", async () => {
    const zsh = await script("zsh");
    assert.ok(
      zsh.startsWith("#compdef rekindle\n") && zsh.includes("bashcompinit") && zsh.includes(await script("bash")),
    );
    const fish = await script("fish");
    for (const line of [
      /^complete -c rekindle -n __fish_use_subcommand -f -a list -d '.+'$/m,
      /^complete -c rekindle -n '__fish_seen_subcommand_from list' -l output -s o -r -f -a 'table wide json yaml name key' -d '.+'$/m,
      /^complete -c rekindle -n '__fish_seen_subcommand_from log' -l follow -s f -d '.+'$/m,
      /^complete -c rekindle -n '__fish_seen_subcommand_from job; and not __fish_seen_subcommand_from run list .+' -f -a view /m,
      /^complete -c rekindle -n '__fish_seen_subcommand_from job; and __fish_seen_subcommand_from run' -l image -s i -r /m,
    ]) {
      assert.match(fish, line);
    }
    assert.doesNotMatch(fish, /__fish_seen_subcommand_from submit' -l queue/);
  });

  test("another shell is refused", async () => {
    const { code, err } = await openTerminal().run("completion", "tcsh");
    assert.equal(code, 2);
    assert.match(err, /Allowed choices are bash, zsh, fish/);
  });
});
