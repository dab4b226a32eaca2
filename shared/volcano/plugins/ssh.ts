/** `ssh`: one key pair for all pods of the job, generated once and kept as long as the job exists. */
import { secrets } from "../../kube/resources.ts";
import { withVolume } from "../pods/draft.ts";
import { hostsOf, type Owner, ownerReference } from "../pods/names.ts";
import { flagsOf, type Plugin, type Scope } from "./plugin.ts";

const home = "/root/.ssh";

const flags = {
  "ssh-key-file-path": home,
  "ssh-private-key": "",
  "ssh-public-key": "",
  "ssh-port": 22,
} as const;

const secretName = ({ name }: Owner): string => `${name}-ssh`;

/** In root's home only root may read the files; elsewhere another user must. */
const modes = { owner: 0o600, everybody: 0o644 } as const;

const files = ["id_rsa", "id_rsa.pub", "authorized_keys", "config"] as const;

const base64 = (text: string): string => {
  const bytes = new TextEncoder().encode(text);
  return btoa(Array.from(bytes, (byte) => String.fromCodePoint(byte)).join(""));
};

/** Returns an ssh configuration with every pod of the job by its short name. */
export const sshConfig = ({ owner, tasks }: Scope, port: number): string => {
  const hosts = tasks.flatMap((task) => hostsOf(owner.name, task));
  const blocks = hosts.map(({ host, domain }) => `Host ${host}\n  HostName ${domain}\n  Port ${port}\n`);
  return `StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\n${blocks.join("")}`;
};

/** Returns the keys that the job brings along; undefined if they are to be generated. */
const given = (privateKey: string, publicKey: string): Readonly<Record<string, string>> | undefined =>
  privateKey === "" || publicKey === ""
    ? undefined
    : { id_rsa: privateKey, "id_rsa.pub": publicKey, authorized_keys: publicKey };

const encoded = (data: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(data).map(([name, text]) => [name, base64(text)]));

export const ssh: Plugin = {
  flags,
  noted: true,
  onPod: (draft, { owner }, args) => {
    const path = flagsOf(args, flags)["ssh-key-file-path"];
    const name = secretName(owner);
    const secret = {
      secretName: name,
      items: files.map((key) => ({ key, path: `.ssh/${key}` })),
      defaultMode: path === home ? modes.owner : modes.everybody,
    };
    return withVolume(draft, { name, secret }, { name, mountPath: path, subPath: ".ssh" });
  },
  objects: (scope, args) => {
    const read = flagsOf(args, flags);
    const keys = given(read["ssh-private-key"], read["ssh-public-key"]);
    const { owner } = scope;
    const object = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: secretName(owner), namespace: owner.namespace, ownerReferences: [ownerReference(owner)] },
      data: encoded({ config: sshConfig(scope, read["ssh-port"]), ...keys }),
    };
    return [{ resource: secrets, object, ...(keys === undefined ? { fresh: "ssh-key" as const } : {}) }];
  },
};
