/** The command line itself: help, exit codes, and one line for each error. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { examples } from "../../../shared/cli/examples.ts";
import { ApiError, type HttpResponse, type Transport } from "../../../shared/core/http.ts";
import { problemIn, wordsOf } from "./command-parser.ts";
import { openTerminal } from "./terminal.ts";

const answering = (status: number, reason: string, message: string): Transport => {
  const body = JSON.stringify({ kind: "Status", status: "Failure", code: status, reason, message });
  const response: HttpResponse = { status, headers: {}, body };
  return { send: async () => response, stream: async () => Promise.reject(new Error("not asked for")) };
};

const silent: Transport = {
  send: async () => {
    throw new ApiError({ status: 0, reason: "Unreachable", message: "GET /x: connect ECONNREFUSED 127.0.0.1:1" });
  },
  stream: async () => Promise.reject(new Error("not asked for")),
};

describe("the command line", () => {
  test("help shows the first steps and every command", async () => {
    const { code, out } = await openTerminal().run("--help");
    assert.equal(code, 0);
    for (const word of ["First steps", "rekindle demo", "manifests", "status", "uninstall"])
      assert.ok(out.includes(word));
    assert.equal((await openTerminal().run("status", "--help")).code, 0);
    assert.equal((await openTerminal().run("--version")).out, "1.2.3");
  });

  test("every command's help has a description and examples that begin with it", async () => {
    const { out } = await openTerminal().run("--help");
    const names = [...(out.split("Commands:")[1] ?? "").matchAll(/^ {2}([a-z]+)/gm)].map(([, name = ""]) => name);
    assert.ok(names.length > 20, names.join(", "));
    const without: string[] = [];
    for (const name of names.filter((one) => !["help", "demo", "host"].includes(one))) {
      const { code, out: help } = await openTerminal().run(name, "--help");
      const [usage = "", described = ""] = help.split("\n\n");
      const isDescribed = usage.startsWith("Usage:") && !/^(Arguments|Options|Commands):/.test(described);
      if (code !== 0 || !isDescribed || !help.includes(`Examples:\n  rekindle ${name}`)) without.push(name);
    }
    assert.deepEqual(without, []);
  });

  test("the commands of all examples take their words, options and values", async () => {
    const wrong: string[] = [];
    for (const line of Object.values(examples).flat()) {
      const [words = ""] = line.split(/ [|>] /);
      const problem = await problemIn(wordsOf(words));
      if (problem !== undefined) wrong.push(`rekindle ${line}: ${problem}`);
    }
    assert.deepEqual(wrong, []);
    assert.equal(await problemIn(["event", "a/b", "--nope"]), "event has no option --nope");
    assert.match((await problemIn(["list", "-o", "nope"])) ?? "", /Allowed choices/);
    assert.equal(await problemIn(["status"]), "takes 1 to 1 arguments, not 0");
  });

  test("a command below another has its own description and example", async () => {
    const { out } = await openTerminal().run("job", "view", "--help");
    assert.match(
      out,
      /\n\nOne job: its spec, its state, and what it waits for[\s\S]+Examples:\n {2}rekindle job view pair -n team-a$/,
    );
  });

  test("a command that reads all namespaces by default states no other default", async () => {
    const { out } = await openTerminal().run("list", "--help");
    assert.match(out, /--all-namespaces +all namespaces \(the default\)/);
    assert.doesNotMatch(out, /default: the context's\)/);
  });

  test("default durations are printed as they are written", async () => {
    for (const [name, span] of [
      ["delete", "2m"],
      ["recover", "1m"],
    ] as const)
      assert.ok((await openTerminal().run(name, "--help")).out.match(`\\(default:\\s+${span}\\)`), name);
    assert.match((await openTerminal().run("cluster", "add", "--help")).out, /\(default:\s+1d\)/);
  });

  const before: readonly (readonly [readonly string[], readonly string[]])[] = [
    [
      ["--kubeconfig", "a", "-o", "name", "list"],
      ["list", "--kubeconfig", "a", "-o", "name"],
    ],
    [
      ["-n=default", "list"],
      ["list", "-n=default"],
    ],
    [
      ["--output=json", "job", "list"],
      ["job", "list", "--output=json"],
    ],
    [
      ["--context", "c", "host", "--resync", "5m"],
      ["host", "--context", "c", "--resync", "5m"],
    ],
  ];
  for (const [args, same] of before)
    test(`"${args.join(" ")}" is "${same.join(" ")}"`, async () => {
      const terminal = openTerminal();
      assert.deepEqual(await terminal.run(...args), await terminal.run(...same));
    });

  test("refuses options before the command", async () => {
    assert.equal((await openTerminal().run("--kubeconfig", "a")).code, 2);
  });

  const misunderstood = [["lst"], ["status"], ["list", "--nope"], ["list", "-n"], []];
  for (const args of misunderstood) {
    test(`refuses "${args.join(" ")}" with exit code 2`, async () => {
      const { code, err } = await openTerminal().run(...args);
      assert.equal(code, 2);
      assert.match(err, args.length === 0 ? /Usage: rekindle/ : /\(rekindle .*--help lists the (options|commands)\)/);
    });
  }

  test("passes its arguments to host unchanged, and returns host's exit code", async () => {
    assert.equal((await openTerminal().run("host", "--help", "--resync", "5m")).code, 3);
  });

  test("passes upstream's subcommands to the host, with their flags", async () => {
    assert.equal((await openTerminal().run("controller", "start", "--zap-log-level=info")).code, 3);
    assert.equal((await openTerminal().run("webhook", "start")).code, 2);
    assert.doesNotMatch((await openTerminal().run("--help")).out, /^ {2}(controller|webhook)/m);
  });

  const failures: readonly (readonly [string, Transport, RegExp])[] = [
    [
      "no answer",
      silent,
      /^rekindle: cannot reach the API server at https:\/\/cluster\.example:6443: .*ECONNREFUSED.*--context\?$/,
    ],
    ["nobody", answering(401, "Unauthorized", "Unauthorized"), /does not know who you are; log in again/],
    [
      "no rights",
      answering(403, "Forbidden", 'sparkapplications is forbidden: User "me" cannot list'),
      /User "me" cannot list; ask for this right, or choose a namespace that you may see with -n NAME$/,
    ],
  ];
  for (const [name, transport, line] of failures) {
    test(`${name}: one line, exit code 1`, async () => {
      const { code, err } = await openTerminal({ transport }).run("list", "-n", "default");
      assert.equal(code, 1);
      assert.match(err, line);
      assert.equal(err.split("\n").length, 1);
    });
  }

  test("a cluster without the CRD: the command that installs it", async () => {
    const { code, err } = await openTerminal({ crds: false }).run("list");
    assert.equal(code, 1);
    assert.match(err, /Install with: rekindle manifests \| kubectl apply --server-side -f -$/);
  });
});
