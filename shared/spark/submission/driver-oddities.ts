/** What the API server or a kubelet makes of a driver pod otherwise than its user means, read from the pod as it is built. */
import type { Obj } from "../../core/object.ts";
import { type PodSpec, podSpec } from "../../kube/pods.ts";

type Container = NonNullable<PodSpec["containers"]>[number];

/** Ports with a name that another port of the container has: the API server refuses the pod. */
const repeatedPorts = ({ ports = [] }: Container): readonly string[] => {
  const names = ports.flatMap(({ name }) => name ?? []);
  return [...new Set(names.filter((name, at) => names.indexOf(name) !== at))].map(
    (name) =>
      `spec.driver.ports: the driver has a port named ${JSON.stringify(name)} already, so the API server will refuse its pod; remove the port, or give it another name`,
  );
};

/** References to variables that come later: the kubelet expands only those before. */
const earlyReferences = ({ env = [] }: Container): readonly string[] =>
  env.flatMap(({ name, value = "" }, at) =>
    [...value.matchAll(/(?<!\$)\$\(([A-Za-z_][\w.-]*)\)/g)]
      .flatMap(([, other]) => other ?? [])
      .filter((other) => env.findIndex((one) => one.name === other) > at)
      .map(
        (other) =>
          `spec.driver.env: ${name} has $(${other}), but ${other} comes after it, so the text stays as it is; put ${other} first`,
      ),
  );

/** One sentence for each. */
export const driverOddities = (driver: Obj): readonly string[] =>
  (podSpec(driver).containers ?? []).flatMap((container) => [
    ...repeatedPorts(container),
    ...earlyReferences(container),
  ]);
