export { aggregate, type CallError, type CallStep, isCallError, quotable } from './call-error.ts';
export { createClient, createClusterApiClient, onlyHandlerFor } from './client.ts';
export type * from './client-types.ts';
export {
  type DiscoveredHandler,
  type DiscoverResult,
  type DiscoveryProblem,
  type KnownHooks,
  phaseOf,
  readDiscovery,
} from './discovery.ts';
export { type ClientCertificate, ExtensionConnections, type Resolve } from './exchange/connections.ts';
export { complete, exchange, readAnswer } from './exchange/exchange.ts';
export { addressOf, type Target, targetOf } from './exchange/url.ts';
export {
  type ClientConfig,
  extensionOf,
  type HandlerRegistry,
  type NamespaceLabels,
  selectorProblem,
} from './registry.ts';
export * from './survey.ts';
