/** Checks single confs: those that Spark's client reads with a type, and amounts that the API server would refuse. */

import { isQuantity } from "../../kube/quantity.ts";
import { type Conf, flagOf } from "./conf.ts";
import { bytesOf, hasBinaryUnit, mebibytesOf, ratioOf } from "./quantity.ts";
import type { Rules } from "./versions.ts";

type Form = {
  readonly keys: readonly string[];
  readonly fits: (text: string, rules: Rules) => boolean;
  /** Follows "is not" in the error. */
  readonly what: string;
  /** False for versions that do not read these keys. */
  readonly read?: (rules: Rules) => boolean;
};

const isSize = (text: string, { binaryUnits }: Rules): boolean =>
  mebibytesOf(text) !== undefined && (binaryUnits || !hasBinaryUnit(text));

const isWhole = (text: string): boolean => /^[+-]?\d+$/.test(text);

const isPositive = (text: string): boolean => isWhole(text) && Number(text) > 0;

const isPort = (text: string): boolean => /^\d{1,5}$/.test(text.trim()) && Number(text) < 65_536;

const among = (values: readonly string[]): Pick<Form, "fits" | "what"> => ({
  fits: (text) => values.includes(text),
  what: `one of ${values.join(", ")}`,
});

const size = 'a size in bytes that Spark reads; write it like "512m" or "2g"';

const flag: Pick<Form, "fits" | "what"> = {
  fits: (text) => /^(true|false)$/i.test(text.trim()),
  what: "a boolean value: write true or false",
};

const longestMap = 1_048_576;

const forms: readonly Form[] = [
  {
    keys: ["spark.driver.memory", "spark.executor.memory"],
    fits: (text, rules) => isSize(text, rules) && (bytesOf(text, "b") ?? 0) > 0,
    what: size,
  },
  {
    keys: ["spark.driver.memoryOverhead", "spark.executor.memoryOverhead"],
    fits: (text, rules) => isSize(text.replace(/^-/, ""), rules),
    what: size,
  },
  {
    keys: ["spark.driver.minMemoryOverhead", "spark.executor.minMemoryOverhead"],
    fits: isSize,
    what: size,
    read: ({ minOverheadConf }) => minOverheadConf,
  },
  {
    keys: ["spark.kubernetes.memoryOverheadFactor", "spark.driver.memoryOverheadFactor"],
    fits: (text) => (ratioOf(text) ?? -1) >= 0,
    what: 'a ratio; write it like "0.1"',
  },
  {
    keys: ["request.cores", "limit.cores"].map((what) => `spark.kubernetes.driver.${what}`),
    fits: isQuantity,
    what: 'in the format of a quantity; write it like "500m" or "2"',
  },
  { keys: ["spark.driver.cores", "spark.executor.cores"], fits: isPositive, what: "a positive whole number" },
  {
    keys: ["spark.driver.port", "spark.driver.blockManager.port", "spark.blockManager.port", "spark.ui.port"],
    fits: isPort,
    what: "a port",
  },
  {
    keys: ["spark.kubernetes.local.dirs.tmpfs", "spark.kubernetes.legacy.useReadWriteOnceAccessMode"],
    ...flag,
  },
  {
    keys: [
      ...["", "driver.", "executor."].map((of) => `spark.kubernetes.${of}securityContext.allowPrivilegeEscalation`),
      "spark.kubernetes.driver.service.publishNotReadyAddresses",
    ],
    ...flag,
    read: ({ securityContext }) => securityContext,
  },
  {
    keys: ["spark.kubernetes.configMap.maxSize"],
    fits: (text) => isWhole(text.trim()) && Number(text) <= longestMap,
    what: `a number of at most ${longestMap} bytes`,
  },
  {
    keys: ["spark.kubernetes.container.image.pullPolicy"],
    ...among(["Always", "Never", "IfNotPresent"]),
  },
  {
    keys: ["spark.kubernetes.driver.service.ipFamilyPolicy"],
    ...among(["SingleStack", "PreferDualStack", "RequireDualStack"]),
  },
  {
    keys: ["spark.kubernetes.driver.service.ipFamilies"],
    ...among(["IPv4", "IPv6", "IPv4,IPv6", "IPv6,IPv4"]),
  },
];

/** Checked without dynamic allocation only: with it, an application may start without executors. */
const counted: Form = { keys: ["spark.executor.instances"], fits: isPositive, what: "a positive number of executors" };

export const wrongValues = (conf: Conf, rules: Rules): readonly string[] => {
  const dynamic = flagOf(conf, "spark.dynamicAllocation.enabled");
  return [...forms, ...(dynamic ? [] : [counted])]
    .filter(({ read }) => read?.(rules) ?? true)
    .flatMap(({ keys, fits, what }) =>
      keys.flatMap((key) => {
        const text = conf.get(key);
        return text === undefined || fits(text, rules) ? [] : [`${key}: ${JSON.stringify(text)} is not ${what}`];
      }),
    );
};
