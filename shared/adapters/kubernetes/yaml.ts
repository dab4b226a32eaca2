/** Parses YAML. It is a module of its own, so that a process in a pod, which has no kubeconfig, does not load it. */
import { parse } from "yaml";

/** Throws an error whose message tells the place. */
export const parseYaml = (text: string): unknown => parse(text);
