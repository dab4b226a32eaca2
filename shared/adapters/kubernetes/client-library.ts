/** The parts of the client library that read kubeconfigs. It is loaded only by processes that have one. */
export { bufferFromFileOrString, KubeConfig } from "@kubernetes/client-node";
export { load as loadYaml } from "js-yaml";
