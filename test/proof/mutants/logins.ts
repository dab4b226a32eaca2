/** Broken promises of logins: credentials for AWS and for API servers. */
import type { Mutant } from "./mutants.ts";

const plugins = ["test/unit/adapters/kubernetes/exec-plugin.test.ts"];
const kubeconfigs = ["test/unit/adapters/kubernetes/kubectl.test.ts"];

export const loginMutants: readonly Mutant[] = [
  {
    name: "expired-credential-kept",
    promise: "a credential of an exec plugin is not used after its end",
    file: "shared/adapters/kubernetes/exec-plugin.ts",
    find: "<= Date.now()) held = undefined",
    replace: "<= 0) held = undefined",
    tests: plugins,
  },
  {
    name: "expired-certificate-kept",
    promise: "a renewed certificate is presented by the next request",
    file: "shared/adapters/kubernetes/https.ts",
    find: "held.cert === cert && held.key === key",
    replace: "cert !== key",
    tests: plugins,
  },
  {
    name: "plugin-left-behind",
    promise: "a plugin that does not answer in time leaves no process behind",
    file: "shared/adapters/kubernetes/exec-plugin.ts",
    find: 'process.kill(-pid, "SIGKILL")',
    replace: 'process.kill(pid, "SIGKILL")',
    tests: plugins,
  },
  {
    name: "second-file-wins",
    promise: "of a name in several kubeconfigs the first entry counts, as with kubectl",
    file: "shared/adapters/kubernetes/kubeconfig-file.ts",
    find: "if (!merged.users.has(name)) merged.users.set",
    replace: "merged.users.set",
    tests: kubeconfigs,
  },
  {
    name: "one-group-of-several",
    promise: "a kubeconfig's user acts with all of its groups",
    file: "shared/adapters/kubernetes/kubeconfig-file.ts",
    find: "groups.map(bytes)",
    replace: "groups.slice(0, 1).map(bytes)",
    tests: kubeconfigs,
  },
  {
    name: "token-by-variables-only",
    promise: "a token of EKS has the credentials that every client of AWS finds",
    file: "shared/adapters/aws/eks-token.ts",
    find: "await defaultProvider()()",
    replace: '{ accessKeyId: process.env["AWS_ACCESS_KEY_ID"] ?? "", secretAccessKey: "" }',
    tests: ["test/unit/adapters/aws/credentials.test.ts"],
  },
];
