/** Devices such as GPUs, by Spark's confs. */
import type { Conf, Texts } from "../../configuration/conf.ts";
import { below } from "../../configuration/conf.ts";

const namesOf = (settings: Texts): readonly string[] => [
  ...new Set(Object.keys(settings).map((key) => key.split(".")[0] ?? key)),
];

const asked = (settings: Texts): readonly string[] =>
  namesOf(settings).filter((name) => Number.parseInt(settings[`${name}.amount`] ?? "", 10) > 0);

/** Resource limits by the names under which device plugins register: `vendor/name`. */
export const gpusOf = (conf: Conf, role: string): Texts => {
  const settings = below(conf, `${role}.resource.`);
  return Object.fromEntries(
    asked(settings).map((name) => [`${settings[`${name}.vendor`]}/${name}`, settings[`${name}.amount`] ?? ""]),
  );
};

/** Errors of a role's resources: without an amount, or without a vendor. */
export const wrongResources = (conf: Conf, role: string): readonly string[] => {
  const settings = below(conf, `${role}.resource.`);
  const uncounted = namesOf(settings).filter((name) => !/^\d+$/.test(settings[`${name}.amount`] ?? ""));
  const unsold = asked(settings).filter((name) => settings[`${name}.vendor`] === undefined);
  return [
    ...uncounted.map((name) => `You must specify an amount for ${name}: set ${role}.resource.${name}.amount`),
    ...unsold.map(
      (name) =>
        `Resource: ${name} was requested, but vendor was not specified: set ${role}.resource.${name}.vendor, such as nvidia.com`,
    ),
  ];
};
