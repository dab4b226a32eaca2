/** Settings from flags, environment and file: precedence, origins, and one line for each mistake. */
import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { parse } from "yaml";
import { defaults, readConfiguration, type SettingsOutcome } from "../../../../shared/deployments/settings/host.ts";

const folder = mkdtempSync(join(tmpdir(), "rekindle-configuration-"));
const fileWith = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

const problems = (asked: SettingsOutcome): readonly string[] =>
  asked.do === "refuse" ? asked.problems : [`did ${asked.do}`];
const settings = (asked: SettingsOutcome) => {
  assert.equal(asked.do, "run", JSON.stringify(asked));
  return asked.do === "run" ? asked.configuration : defaults();
};

describe("the settings of a host", () => {
  test("have their defaults without flags, variables and file", async () => {
    const configuration = settings(await readConfiguration([], {}));
    assert.deepEqual(configuration, defaults());
    assert.equal(configuration.resyncMs, 300_000);
    assert.equal(configuration.fenceMs, 10_000);
    assert.deepEqual(configuration.namespaces, []);
    assert.equal(configuration.dryRun, false);
  });

  test("prefer flags to the environment, the environment to the file, and the file to defaults", async () => {
    const path = fileWith(
      "a.yaml",
      "cluster: file\nresync: 1m\nnamespaces: [a, b]\nconcurrency: 3\ndryRun: yes\ntakeOver: true\n",
    );
    const environment = { REKINDLE_CONFIG: path, REKINDLE_CLUSTER: "environment", REKINDLE_RESYNC: "2m" };
    const configuration = settings(await readConfiguration(["--cluster=flag", "--no-take-over"], environment));
    assert.equal(configuration.cluster, "flag");
    assert.equal(configuration.resyncMs, 120_000);
    assert.deepEqual(configuration.namespaces, ["a", "b"]);
    assert.equal(configuration.concurrency, 3);
    assert.equal(configuration.dryRun, true);
    assert.equal(configuration.takeOver, false);
  });

  test("may come from a JSON file, which --config names", async () => {
    const path = fileWith("a.json", '{"selector":"team=data","fenceMs":7000,"timeout":"1.5s"}');
    const configuration = settings(await readConfiguration(["--config", path], {}));
    assert.equal(configuration.selector, "team=data");
    assert.equal(configuration.fenceMs, 7_000);
    assert.equal(configuration.timeoutMs, 1_500);
  });

  test("ignore the variables that Kubernetes makes for a Service named rekindle", async () => {
    const environment = {
      REKINDLE_SERVICE_HOST: "10.0.0.1",
      REKINDLE_SERVICE_PORT: "80",
      REKINDLE_PORT: "tcp://10.0.0.1:80",
      REKINDLE_PORT_80_TCP_ADDR: "10.0.0.1",
      REKINDLE_API_SERVICE_HOST: "10.0.0.2",
      REKINDLE_API_PORT_80_TCP: "tcp://10.0.0.2:80",
    };
    assert.deepEqual(settings(await readConfiguration([], environment)), defaults());
  });

  const mistakes: readonly (readonly [readonly string[], Record<string, string>, readonly RegExp[]])[] = [
    [["--resync=often"], {}, [/^flag --resync=often: write a duration such as 30s or 5m$/]],
    [["--resinc=5m"], {}, [/^flag --resinc: unknown; did you mean --resync\?$/]],
    [[], { REKINDLE_RESINC: "5m" }, [/^environment REKINDLE_RESINC: unknown; did you mean REKINDLE_RESYNC\?$/]],
    [
      [],
      { REKINDLE_FIFO_URL: "https://a.example.com/keys.fifo" },
      [
        /^environment REKINDLE_FIFO_URL: is a setting of functions, and a host has none like it: its queue is inside the process; unset it$/,
      ],
    ],
    [
      [],
      { REKINDLE_CLUSTER_RECORD: "{}" },
      [/^environment REKINDLE_CLUSTER_RECORD: is a setting of functions; a host takes REKINDLE_KUBECONFIG instead$/],
    ],
    [[], { REKINDLE_SETTINGS: "fense: 7s" }, [/^environment REKINDLE_SETTINGS: fense: unknown; did you mean fence\?$/]],
    [[], { REKINDLE_TRIGGER_SECRET: "short" }, [/^environment REKINDLE_TRIGGER_SECRET: write at least 16 characters/]],
    [[], { REKINDLE_DRY_RUN: "perhaps" }, [/^environment REKINDLE_DRY_RUN=perhaps: write true or false$/]],
    [["--namespaces=a,B_"], {}, [/^flag --namespaces=a,B_: write names of namespaces/]],
    [["--log-level=loud"], {}, [/^flag --log-level=loud: write debug or info or warn or error$/]],
    [["--concurrency=0"], {}, [/^flag --concurrency=0: write a whole number from 1 to 256$/]],
    [["--listen=8080"], {}, [/^flag --listen=8080: write an address and a port/]],
    [["--cluster"], {}, [/^flag --cluster: needs a value/]],
    [["--resinc", "5m"], {}, [/^flag --resinc: unknown; did you mean --resync\?$/]],
    [["default"], {}, [/^default: settings are flags/]],
    [["--config", join(folder, "none.yaml")], {}, [/none\.yaml: cannot be read \(ENOENT/]],
    [["--resync=x", "--fence=y"], {}, [/--resync=x/, /--fence=y/]],
  ];
  for (const [args, environment, lines] of mistakes) {
    test(`refuse in one line: ${[...args, ...Object.keys(environment)].join(" ").replace(folder, "")}`, async () => {
      const told = problems(await readConfiguration(args, environment));
      assert.equal(told.length, lines.length, told.join("\n"));
      for (const [index, line] of lines.entries()) assert.match(told[index] ?? "", line);
    });
  }

  test("report the invalid keys of a file", async () => {
    const path = fileWith("bad.yaml", "resinc: 5m\nfence: soon\n");
    const told = problems(await readConfiguration(["--config", path], {}));
    assert.deepEqual(told, [
      `${path}: resinc: unknown; did you mean resync?`,
      `${path}: fence=soon: write a duration such as 30s or 5m`,
    ]);
  });

  test("report a file that is no YAML", async () => {
    const told = problems(await readConfiguration(["--config", fileWith("broken.yaml", "a: [")], {}));
    assert.match(told.join(), /broken\.yaml: is not YAML/);
  });

  test("are printed by --print-config with their origin, in a form that can be read back", async () => {
    const asked = await readConfiguration(["--print-config", "--namespaces=a,b"], { REKINDLE_FENCE: "9s" });
    const text = asked.do === "print" ? asked.text : "";
    assert.match(text, /^namespaces: a,b +# flag --namespaces$/m);
    assert.match(text, /^fence: 9s +# environment REKINDLE_FENCE$/m);
    assert.match(text, /^cluster: default +# default$/m);
    const again = settings(await readConfiguration(["--config", fileWith("printed.yaml", text)], {}));
    assert.deepEqual(again, { ...defaults(), namespaces: ["a", "b"], fenceMs: 9_000 });
    assert.equal(typeof parse(text), "object");
  });

  for (const text of [
    "0x10",
    "1e3",
    "007",
    "1_000",
    "2.50",
    "true",
    "no",
    "null",
    "~",
    "0o7",
    "12:30",
    "5",
    "9s",
    "a.b",
  ])
    test(`are printed by --print-config with the text ${text} so that YAML 1.1 and 1.2 read it back`, async () => {
      const namespaces = /^[a-z\d]+$/.test(text) ? [text] : [];
      const flags = ["--print-config", `--cluster=${text}`, ...namespaces.map((name) => `--namespaces=${name}`)];
      const asked = await readConfiguration(flags, {});
      const printed = asked.do === "print" ? asked.text : "";
      const again = settings(await readConfiguration(["--config", fileWith("texts.yaml", printed)], {}));
      assert.deepEqual([again.cluster, again.namespaces], [text, namespaces]);
      for (const version of ["1.1", "1.2"] as const)
        assert.equal(String(parse(printed, { version }).cluster), text, `YAML ${version}`);
    });

  test("may come from a YAML document in the environment, which precedes the file", async () => {
    const path = fileWith("weak.yaml", "fence: 6s\ntimeout: 3s\n");
    const environment = { REKINDLE_CONFIG: path, REKINDLE_SETTINGS: "fence: 7s" };
    const { fenceMs, timeoutMs } = settings(await readConfiguration([], environment));
    assert.deepEqual([fenceMs, timeoutMs], [7_000, 3_000]);
  });

  test("accept functions' older names", async () => {
    const configuration = settings(await readConfiguration([], { REKINDLE_CLUSTER_ALIAS: "west" }));
    assert.equal(configuration.cluster, "west");
  });

  test("include a secret by its file, of which --print-config prints nothing else", async () => {
    const environment = { REKINDLE_UPDATES_SECRET: "a secret of some length" };
    const args = ["--trigger-secret-file=/etc/trigger"];
    const { triggerSecret, updatesSecret } = settings(await readConfiguration(args, environment));
    assert.deepEqual([triggerSecret, updatesSecret], [{ file: "/etc/trigger" }, { text: "a secret of some length" }]);
    const asked = await readConfiguration([...args, "--print-config"], environment);
    const text = asked.do === "print" ? asked.text : "";
    assert.match(text, /^triggerSecretFile: \/etc\/trigger +# flag --trigger-secret-file$/m);
    assert.match(text, /^# updatesSecret: +# environment REKINDLE_UPDATES_SECRET$/m);
    assert.ok(!text.includes("a secret of some length"));
  });

  test("are all listed by --help", async () => {
    const asked = await readConfiguration(["--help"], {});
    assert.match(
      asked.do === "print" ? asked.text : "",
      /^Usage: rekindle host .*\n[\s\S]*\n {2}--print-config +print/,
    );
    const text = asked.do === "print" ? asked.text : "";
    for (const flag of ["--namespaces VALUE", "--dry-run ", "--take-over ", "--print-config"])
      assert.ok(text.includes(flag));
  });
});
