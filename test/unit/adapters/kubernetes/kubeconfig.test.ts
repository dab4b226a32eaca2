/** Kubeconfigs: every form becomes one flat record, and an error is one line. */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { stringify } from "yaml";
import type { Auth } from "../../../../shared/adapters/kubernetes/https.ts";
import { clusterFromRecord, findCluster, whyUnreachable } from "../../../../shared/adapters/kubernetes/kubeconfig.ts";
import { ApiError } from "../../../../shared/core/http.ts";
import { cert, key } from "./certificate.ts";
import { refusal, scripted } from "./fake.ts";

let folder = "";
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "rekindle-kubeconfig-"));
});
after(() => rm(folder, { recursive: true }));

const base64 = (text: string): string => Buffer.from(text).toString("base64");

type Parts = { readonly cluster?: object; readonly user?: object; readonly more?: object };

const config = ({ cluster = {}, user = {}, more = {} }: Parts = {}) => ({
  apiVersion: "v1",
  kind: "Config",
  "current-context": "it",
  contexts: [{ name: "it", context: { cluster: "c", user: "u", namespace: "team-a" } }],
  clusters: [{ name: "c", cluster: { server: "https://api.test:6443", ...cluster } }],
  users: [{ name: "u", user }],
  ...more,
});

let files = 0;
const write = async (content: unknown): Promise<string> => {
  files += 1;
  const path = join(folder, `config-${files}`);
  await writeFile(path, typeof content === "string" ? content : stringify(content));
  return path;
};

const find = async (content: unknown, context?: string) =>
  findCluster({ path: await write(content), context, env: {} });

/** Returns a plugin that prints its argument. */
const plugin = (printed: unknown, more: object = {}): object => ({
  exec: {
    apiVersion: "client.authentication.k8s.io/v1",
    command: process.execPath,
    args: ["-e", `process.stdout.write(${JSON.stringify(JSON.stringify(printed))})`],
    ...more,
  },
});

const tokenOf = async (auth: Auth | undefined): Promise<string | undefined> => {
  assert.ok(auth !== undefined && "tokenProvider" in auth);
  return auth.tokenProvider();
};

describe("a kubeconfig's cluster", () => {
  it("becomes a flat record", async () => {
    const { endpoint, context, namespace } = await find(config({ user: { token: "t1\n" } }));
    assert.deepEqual({ context, namespace }, { context: "it", namespace: "team-a" });
    assert.deepEqual(endpoint, { server: "https://api.test:6443", auth: { token: "t1" } });
  });

  const clusters: Record<string, { cluster: object; expected: object }> = {
    "with its authority inside": { cluster: { "certificate-authority-data": base64("PEM") }, expected: { ca: "PEM" } },
    "with its authority beside it": { cluster: { "certificate-authority": "ca.pem" }, expected: { ca: "beside" } },
    "with TLS verification disabled": {
      cluster: { "insecure-skip-tls-verify": true },
      expected: { insecure: true },
    },
    "under another name": { cluster: { "tls-server-name": "x" }, expected: { serverName: "x" } },
    "behind a proxy": { cluster: { "proxy-url": "http://p:1" }, expected: { proxy: "http://p:1" } },
    "without TLS": { cluster: { server: "http://127.0.0.1:8001" }, expected: { server: "http://127.0.0.1:8001" } },
  };
  for (const [name, { cluster, expected }] of Object.entries(clusters)) {
    it(name, async () => {
      await writeFile(join(folder, "ca.pem"), "beside");
      assert.deepEqual((await find(config({ cluster }))).endpoint, { server: "https://api.test:6443", ...expected });
    });
  }
});

describe("another address of the API server", () => {
  const server = "https://other.test:6443";
  it("has the same user and authority, and its own server name", async () => {
    const cluster = { "certificate-authority-data": base64("PEM"), "tls-server-name": "x" };
    const path = await write(config({ cluster, user: { token: "t" } }));
    const { endpoint } = await findCluster({ path, server, env: {} });
    assert.deepEqual(endpoint, { server, ca: "PEM", auth: { token: "t" } });
  });

  it("is refused if it is no address", async () => {
    const path = await write(config());
    await assert.rejects(findCluster({ path, server: "other", env: {} }), /^KubeconfigError: other is not an address/);
  });

  it("is not used with a pod's service account", async () => {
    const env = { HOME: "/no/such", KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "443" };
    await assert.rejects(
      findCluster({ server, env }),
      /no kubeconfig has credentials for https:\/\/other.test:6443: name one with --kubeconfig$/,
    );
  });
});

describe("a kubeconfig's user", () => {
  const fixed: Record<string, { user: object; expected: object }> = {
    "with a certificate": {
      user: { "client-certificate-data": base64("C"), "client-key-data": base64("K") },
      expected: { auth: { cert: "C", key: "K" } },
    },
    "with a password": {
      user: { username: "a", password: "b" },
      expected: { headers: { authorization: `Basic ${base64("a:b")}` } },
    },
    "that impersonates another": {
      user: { token: "t", as: "jane", "as-groups": ["devs"] },
      expected: { auth: { token: "t" }, headers: { "impersonate-user": "jane", "impersonate-group": "devs" } },
    },
    "whose plugin gives a certificate": {
      user: plugin({ status: { clientCertificateData: "C", clientKeyData: "K" } }),
      expected: { auth: { cert: "C", key: "K" } },
    },
    "without credentials": { user: {}, expected: {} },
  };
  for (const [name, { user, expected }] of Object.entries(fixed)) {
    it(name, async () => {
      assert.deepEqual((await find(config({ user }))).endpoint, { server: "https://api.test:6443", ...expected });
    });
  }

  it("with a token in a file, read again when it changes", async () => {
    await writeFile(join(folder, "token"), "t1\n");
    const { endpoint } = await find(config({ user: { tokenFile: "token" } }));
    assert.equal(await tokenOf(endpoint.auth), "t1");
    await writeFile(join(folder, "token"), "t2");
    assert.equal(await tokenOf(endpoint.auth), "t2");
  });

  it("with a plugin, which gets the cluster's data and runs again for every new token", async () => {
    const script = `
      const { spec } = JSON.parse(process.env.KUBERNETES_EXEC_INFO);
      const n = require("node:fs").existsSync("${join(folder, "asked")}") ? 2 : 1;
      require("node:fs").writeFileSync("${join(folder, "asked")}", "");
      console.log(JSON.stringify({ status: { token: [spec.cluster.server, spec.interactive, process.env.MORE, n].join(" ") } }));`;
    const more = { args: ["-e", script], provideClusterInfo: true, env: [{ name: "MORE", value: "more" }] };
    const { endpoint } = await find(config({ user: plugin({}, more) }));
    assert.equal(await tokenOf(endpoint.auth), "https://api.test:6443 false more 1");
    assert.equal(await tokenOf(endpoint.auth), "https://api.test:6443 false more 2");
  });
});

describe("a mistake is one line:", () => {
  const wrong: Record<string, { content: unknown; context?: string; message: RegExp }> = {
    "no YAML": { content: "a: [", message: /^kubeconfig .* is not YAML: / },
    "no kubeconfig": { content: { clusters: "x" }, message: /^kubeconfig .* is not valid: clusters: / },
    "nothing in it": { content: "", message: /no current context \(it has none\); name one with --context$/ },
    "no current context": {
      content: { ...config(), "current-context": "" },
      message: /no current context \(it has it\)/,
    },
    "an unknown context": {
      content: config(),
      context: "prod",
      message: /^the kubeconfig has no context prod \(it has it\)$/,
    },
    "an unknown cluster": { content: { ...config(), clusters: [] }, message: /^context it names a cluster .*: c$/ },
    "an unknown user": { content: { ...config(), users: [] }, message: /^context it names a user .*: u$/ },
    "no address": { content: config({ cluster: { server: "nowhere" } }), message: /^nowhere is not an address/ },
    "a socks proxy": {
      content: config({ cluster: { "proxy-url": "socks5://p" } }),
      message: /^proxy socks5:\/\/p is not supported/,
    },
    "a missing authority": {
      content: config({ cluster: { "certificate-authority": "none.pem" } }),
      message: /^certificate authority .*none\.pem does not exist$/,
    },
    "a missing key": {
      content: config({ user: { "client-certificate-data": base64("C"), "client-key": "none.pem" } }),
      message: /^client key .*none\.pem does not exist$/,
    },
    "a missing plugin": {
      content: config({ user: plugin({}, { command: "no-such-plugin", installHint: "brew install it\nor not" }) }),
      message: /^the kubeconfig's exec plugin no-such-plugin is not installed: brew install it$/,
    },
    "a plugin that fails": {
      content: config({ user: plugin({}, { args: ["-e", "console.error('token expired\\nmore'); process.exit(1)"] }) }),
      message: /failed: token expired$/,
    },
    "a plugin that prints something else": {
      content: config({ user: plugin({}, { args: ["-e", "console.log('secret')"] }) }),
      message: /did not print an ExecCredential$/,
    },
    "a plugin without a credential": {
      content: config({ user: plugin({ status: {} }) }),
      message: /neither token nor certificate$/,
    },
  };
  for (const [name, { content, context, message }] of Object.entries(wrong)) {
    it(name, async () => {
      await assert.rejects(find(content, context), (error) => {
        assert.ok(error instanceof Error);
        assert.equal(error.name, "KubeconfigError");
        assert.match(error.message, message);
        assert.doesNotMatch(error.message, /\n|secret/);
        return true;
      });
    });
  }

  it("a missing file, and no file at all", async () => {
    await assert.rejects(findCluster({ path: "/no/such", env: {} }), { message: "kubeconfig not found: /no/such" });
    await assert.rejects(findCluster({ env: { HOME: "/no/such" } }), { message: /^no cluster: no --kubeconfig/ });
  });

  it("certificates that cannot be parsed", async () => {
    const record = await find(config({ cluster: { "certificate-authority-data": base64(cert) }, user: {} }));
    clusterFromRecord({ ...record, endpoint: { ...record.endpoint, auth: { cert, key } } }).transport.close();
    const broken = { ...record, endpoint: { ...record.endpoint, auth: { cert: "x", key } } };
    assert.throws(() => clusterFromRecord(broken), { message: /^the certificates of context it cannot be used: / });
  });
});

describe("kubeconfig files are found as kubectl finds them:", () => {
  it("several in KUBECONFIG, of which the first with a name wins and missing ones are skipped", async () => {
    const first = await write({ ...config({ user: { token: "first" } }), "current-context": undefined });
    const more = [{ name: "other", context: { cluster: "c", user: "u" } }];
    const second = await write({
      ...config({ user: { token: "second" }, more: { contexts: more } }),
      "current-context": "other",
    });
    const env = { KUBECONFIG: ["/no/such", first, second].join(delimiter) };
    const found = await findCluster({ env });
    assert.deepEqual([found.context, found.endpoint.auth], ["other", { token: "first" }]);
    assert.equal((await findCluster({ env, context: "it" })).namespace, "team-a");
  });

  it("otherwise the one in the home folder", async () => {
    await mkdir(join(folder, ".kube"), { recursive: true });
    await writeFile(join(folder, ".kube", "config"), stringify(config()));
    assert.equal((await findCluster({ env: { HOME: folder } })).context, "it");
  });
});

describe("the reason why a cluster does not answer", () => {
  const record = { endpoint: { server: "https://api.test" }, context: "it", namespace: undefined };
  it("is one line, and is undefined if the cluster answers", async () => {
    assert.equal(await whyUnreachable(scripted({ body: {} }), record), undefined);
    assert.equal(await whyUnreachable(scripted(refusal(403, "Forbidden")), record), undefined);
    const unknown = await whyUnreachable(scripted(refusal(401, "Unauthorized")), record);
    assert.equal(unknown, "the API server https://api.test does not accept the credentials of context it");
    const gone = new ApiError({ status: 0, reason: "Unreachable", message: "GET /version: connect ECONNREFUSED" });
    const away = { ...scripted(), send: () => Promise.reject(gone) };
    const why = "the API server https://api.test (context it) cannot be reached: connect ECONNREFUSED";
    assert.equal(await whyUnreachable(away, record), why);
  });
});
