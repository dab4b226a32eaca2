/** Errors of volumes in confs, reported before the driver exists, for its executors' volumes too. */
import type { Conf } from "../../configuration/conf.ts";
import type { Rules } from "../../configuration/versions.ts";
import type { Asked } from "./volumes.ts";
import { mountedTwice, volumesIn } from "./volumes.ts";

const required: Readonly<Record<string, readonly string[]>> = {
  hostPath: ["options.path"],
  persistentVolumeClaim: ["options.claimName"],
  nfs: ["options.path", "options.server"],
  emptyDir: [],
};

const missing = (asked: Asked): readonly string[] => {
  const options = required[asked.type];
  if (options === undefined) {
    return [`Kubernetes Volume type \`${asked.type}\` is not supported: use ${Object.keys(required).join(", ")}`];
  }
  return ["mount.path", ...options]
    .filter((option) => asked.options[option] === undefined)
    .map((option) => `${asked.type}.${asked.name}.${option} is required for ${asked.type}`);
};

const unclear = ({ type, name, options }: Asked): readonly string[] => {
  const size = options["options.sizeLimit"];
  const small = size !== undefined && /^\d*$/.test(size) && Number(size) < 1024;
  const both = options["mount.subPath"] !== undefined && options["mount.subPathExpr"] !== undefined;
  return [
    ...(both ? [`${type}.${name}: mount.subPath and mount.subPathExpr are mutually exclusive`] : []),
    ...(small && ["persistentVolumeClaim", "emptyDir"].includes(type)
      ? [`${type}.${name}: Volume size \`${size}\` is smaller than 1KiB. Missing units?`]
      : []),
  ];
};

const unread = ({ type, name, options }: Asked): readonly string[] =>
  /^(true|false)?$/i.test(options["mount.readOnly"] ?? "")
    ? []
    : [`${type}.${name}.mount.readOnly: for this input string only true or false can stand`];

/** Paths mounted twice. Spark checks them only while it builds a pod: the driver's at submission, executors' later. */
const twice = (all: readonly Asked[]): readonly string[] =>
  mountedTwice(all).map((path) => `Found duplicated mountPath: '${path}'`);

export const wrongVolumes = (conf: Conf, prefix: string, rules: Rules): readonly string[] => {
  const all = volumesIn(conf, prefix);
  return [
    ...all.flatMap(missing),
    ...all.flatMap(unread),
    ...(rules.richVolumes ? all.flatMap(unclear) : []),
    ...(prefix.includes(".driver.") ? twice(all) : []),
  ];
};
