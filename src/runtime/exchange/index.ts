export { createBackoff } from './backoff.ts';
export {
  type ClientCertificate,
  createConnections,
  type ExtensionConnections,
  type ExtensionResponse,
  type Resolve,
} from './connections.ts';
export { complete, type ExchangeContext, exchange, type Message, readAnswer, statusError } from './exchange.ts';
export { createCallMetrics } from './metrics.ts';
export { probeTls, type TlsFacts } from './probe.ts';
export { type Target, targetOf } from './url.ts';
