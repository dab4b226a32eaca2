/** The parts of the client library that read kubeconfigs. It is loaded only by processes that have one. */
export { bufferFromFileOrString, KubeConfig, loadYaml } from "@kubernetes/client-node";
export { SocksProxyAgent } from "socks-proxy-agent";
