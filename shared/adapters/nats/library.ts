/** The client library of NATS. Loaded only when a connection is opened. */
export {
  connect,
  credsAuthenticator,
  headers,
  nkeyAuthenticator,
  tokenAuthenticator,
} from "@nats-io/transport-node";
