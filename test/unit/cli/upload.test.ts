/** create --upload-to: the real SDKs upload local files to a bucket, and the application names the uploaded files. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { stringify } from "yaml";
import { openGcs, openS3 } from "../../../shared/adapters/buckets.ts";
import { request } from "../../../shared/adapters/kubernetes/requests.ts";
import { type ObjectStore, openObjectStore } from "./object-store.ts";
import { full, openTerminal, type Terminal } from "./terminal.ts";

const folder = mkdtempSync(join(tmpdir(), "rekindle-upload-"));
const file = (name: string, text = `content of ${name}\n`): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
mkdirSync(join(folder, "inner"));

let store: ObjectStore;
const surroundings = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"].map((name) => [name, process.env[name]] as const);
before(async () => {
  store = await openObjectStore();
  for (const [name] of surroundings) process.env[name] = "test";
});
after(async () => {
  for (const [name, value] of surroundings) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  await store.close();
  rmSync(folder, { recursive: true });
});

let last = 0;
/** Writes a manifest of an application with this spec, under a name of its own. */
const manifest = (spec: Readonly<Record<string, unknown>>) => {
  last += 1;
  const name = `app-${last}`;
  return { name, path: file(`${name}.yaml`, stringify(full(name, spec))) };
};

const applications = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/default/sparkapplications";
const specOf = async ({ simulator }: Terminal, name: string) =>
  JSON.parse(JSON.stringify(await request(simulator.transport, "GET", `${applications}/${name}`))).spec;

const uploading = (terminal: Terminal, path: string, to: string, ...more: readonly string[]) => {
  const endpoint = ["--upload-to-endpoint", store.url, "--s3-force-path-style"];
  return terminal.run("create", "-f", path, "--upload-to", to, ...endpoint, ...more);
};

const terminalAt = (path: string, endpoint: string) =>
  openTerminal().run("create", "-f", path, "--upload-to", "s3://b-s3", "--upload-to-endpoint", endpoint);

for (const [scheme, spark, publicAccess] of [
  ["s3", "s3a", "public-read"],
  ["gs", "gs", "publicRead"],
] as const)
  describe(`rekindle create --upload-to ${scheme}://`, () => {
    test("uploads every local file, names it in the application, and leaves other files alone", async () => {
      const terminal = openTerminal();
      const { name, path } = manifest({
        mainApplicationFile: file("main.py"),
        deps: {
          jars: ["https://repo.example/a.jar", file("b.jar"), "local:///opt/c.jar"],
          files: [pathToFileURL(file("d.conf")).href],
          pyFiles: [file("e.zip")],
          archives: [`${file("f.tar.gz")}#environment`],
          packages: ["org.example:lib:1.0"],
        },
      });
      const { code, out, err } = await uploading(
        terminal,
        path,
        `${scheme}://b-${scheme}/root`,
        "--upload-prefix",
        "p/q",
      );
      const notice = `${path}: SparkApplication ${name}: spec.deps.packages are resolved by the driver, not before it starts`;
      assert.deepEqual([code, err], [0, notice]);
      assert.equal(out.split("\n").length, 6);
      assert.ok(out.endsWith(`sparkapplication.sparkoperator.k8s.io/${name} created`));
      const at = `b-${scheme}/root/p/q/default/${name}`;
      const { mainApplicationFile, deps } = await specOf(terminal, name);
      assert.equal(mainApplicationFile, `${spark}://${at}/main.py`);
      assert.deepEqual(deps, {
        jars: ["https://repo.example/a.jar", `${spark}://${at}/b.jar`, "local:///opt/c.jar"],
        files: [`${spark}://${at}/d.conf`],
        pyFiles: [`${spark}://${at}/e.zip`],
        archives: [`${spark}://${at}/f.tar.gz#environment`],
        packages: ["org.example:lib:1.0"],
      });
      for (const each of ["main.py", "b.jar", "d.conf", "e.zip", "f.tar.gz"]) {
        const { text, access } = store.objects.get(`${at}/${each}`) ?? {};
        assert.deepEqual([text, access], [`content of ${each}\n`, undefined]);
      }
    });

    test("does not upload content that exists, and replaces it with --override", async () => {
      const terminal = openTerminal();
      const main = file("again.py", "one\n");
      const { name, path } = manifest({ mainApplicationFile: main });
      const key = `b-${scheme}/default/${name}/again.py`;
      const times = () => store.puts.filter((put) => put === key).length;
      store.objects.set(key, { text: "one\n", metadata: {}, access: undefined });
      const first = await uploading(terminal, path, `${scheme}://b-${scheme}`);
      assert.equal(first.out.split("\n")[0], `${scheme}://${key} is there already`);
      assert.equal(times(), 0);
      writeFileSync(main, "two\n");
      const second = await uploading(terminal, path, `${scheme}://b-${scheme}`, "--override");
      assert.deepEqual([second.code, times(), store.objects.get(key)?.text], [0, 1, "two\n"]);
    });

    test("refuses an object with other content, and creates no application", async () => {
      const terminal = openTerminal();
      const { name, path } = manifest({ mainApplicationFile: file("other.py") });
      const key = `b-${scheme}/default/${name}/other.py`;
      store.objects.set(key, { text: "somebody's\n", metadata: {}, access: undefined });
      const { code, err } = await uploading(terminal, path, `${scheme}://b-${scheme}`);
      assert.equal(code, 1);
      assert.match(
        err,
        /spec\.mainApplicationFile: (s3|gs):\/\/\S+ is there already with other content; --override replaces it/,
      );
      assert.equal(store.objects.get(key)?.text, "somebody's\n");
      await assert.rejects(specOf(terminal, name), /not found/);
    });

    test("allows public reads with --public, and names the object by HTTP", async () => {
      const terminal = openTerminal();
      const { name, path } = manifest({ mainApplicationFile: file("open.py") });
      const { code } = await uploading(terminal, path, `${scheme}://b-${scheme}`, "--public");
      const key = `b-${scheme}/default/${name}/open.py`;
      assert.deepEqual([code, store.objects.get(key)?.access], [0, publicAccess]);
      assert.equal((await specOf(terminal, name)).mainApplicationFile, `${store.url}/${key}`);
    });

    test("uploads nothing in a dry run, nor for an application that the server refuses", async () => {
      const terminal = openTerminal();
      const { path } = manifest({ mainApplicationFile: file("dry.py") });
      const before = store.puts.length;
      const { out } = await uploading(terminal, path, `${scheme}://b-${scheme}`, "--dry-run");
      assert.match(out, /dry\.py uploaded \(dry run\)\nsparkapplication\S+ created \(dry run\)$/);
      assert.equal((await terminal.run("create", "-f", path, "--no-check")).code, 0);
      const { code, err } = await uploading(terminal, path, `${scheme}://b-${scheme}`);
      assert.deepEqual([code, store.puts.length], [1, before]);
      assert.match(err, /already; --override gives it this spec/);
    });

    for (const [bucket, says] of [
      ["forbidden", /no permission: .* on this bucket are needed$/m],
      ["missing", /there is no such bucket$/m],
    ] as const)
      test(`reports in one line the error of the bucket: ${bucket}`, async () => {
        const { path } = manifest({ mainApplicationFile: file("x.py") });
        const { code, err } = await uploading(openTerminal(), path, `${scheme}://${bucket}`);
        assert.equal(code, 1);
        assert.match(err, says);
      });

    test("names the package to install if the SDK is missing", async () => {
      const load = (name: string) =>
        Promise.reject(Object.assign(new Error(`Cannot find package '${name}'`), { code: "ERR_MODULE_NOT_FOUND" }));
      const place = { scheme, bucket: "b", isPublic: false, pathStyle: false };
      await assert.rejects(
        (scheme === "s3" ? openS3 : openGcs)(place, load),
        new RegExp(`uploading to ${scheme}:// needs the npm package \\S+; install it beside rekindle: npm install @`),
      );
    });
  });

describe("rekindle create --upload-to", () => {
  const refusals: readonly (readonly [string, Readonly<Record<string, unknown>>, readonly string[], RegExp])[] = [
    ["another scheme", {}, ["--upload-to", "hdfs://b/p"], /write s3:\/\/BUCKET\/PATH or gs:\/\/BUCKET\/PATH/],
    ["no bucket", {}, ["--upload-to", "s3:///p"], /write s3:\/\/BUCKET\/PATH/],
    ["flags without it", {}, ["--upload-prefix", "p"], /--upload-prefix needs --upload-to$/],
    ["an endpoint that is no URL", {}, ["--upload-to", "s3://bbb", "--upload-to-endpoint", "minio"], /write an http/],
    [
      "a file that is missing",
      { deps: { jars: ["local:///a.jar", join(folder, "none.jar")] } },
      ["--upload-to", "s3://bbb"],
      /spec\.deps\.jars\[1\]: \S+none\.jar: cannot be read \(ENOENT: no such file or directory\)\n.*nothing was sent$/,
    ],
    [
      "a folder",
      { deps: { files: [join(folder, "inner")] } },
      ["--upload-to", "s3://bbb"],
      /spec\.deps\.files\[0\]: \S+inner: is not a file/,
    ],
    [
      "two files of one name",
      { deps: { files: [file("same.txt"), join(folder, "inner", "same.txt")] } },
      ["--upload-to", "s3://bbb"],
      /spec\.deps\.files\[1\]: .* of spec\.deps\.files\[0\] have one name in the bucket: rename one$/,
    ],
    [
      "a name that no URL carries",
      { deps: { files: [join(folder, "a b.txt")] } },
      ["--upload-to", "s3://bbb"],
      /spec\.deps\.files\[0\]: .*Spark cannot read a URL with this name/,
    ],
  ];
  for (const [what, spec, args, says] of refusals)
    test(`refuses ${what}`, async () => {
      const { code, err } = await openTerminal().run("create", "-f", manifest(spec).path, ...args);
      assert.equal(code, 1);
      assert.match(err, says);
    });

  test("names the setting for a bucket in another region, and reports an endpoint that does not answer", async () => {
    const { path } = manifest({ mainApplicationFile: file("y.py") });
    const elsewhere = await uploading(openTerminal(), path, "s3://elsewhere");
    assert.match(elsewhere.err, /another region: name it with --upload-to-region$/m);
    const closed = await terminalAt(path, "http://127.0.0.1:1");
    assert.equal(closed.code, 1);
    assert.match(closed.err, /^rekindle: s3:\/\/\S+y\.py: no answer: is the endpoint right, and is it up$/);
  });

  test("uploads the files of a schedule's template", async () => {
    const terminal = openTerminal();
    const { spec } = full("x", { mainApplicationFile: file("nightly.py") });
    const path = file(
      "schedule.yaml",
      stringify({
        apiVersion: "sparkoperator.k8s.io/v1beta2",
        kind: "ScheduledSparkApplication",
        metadata: { name: "nightly" },
        spec: { schedule: "@daily", template: spec },
      }),
    );
    const { code, err } = await uploading(terminal, path, "s3://b-s3");
    assert.deepEqual([code, err], [0, ""]);
    assert.equal(store.objects.get("b-s3/default/nightly/nightly.py")?.text, "content of nightly.py\n");
  });
});
