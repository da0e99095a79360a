export { aggregate, type CallError, type CallStep, isCallError, quotable } from './call-error.ts';
export { createClient, createClusterApiClient, onlyHandlerFor } from './client.ts';
export type {
  CallAllOptions,
  CallAllResult,
  CalledObject,
  CallOptions,
  CallResult,
  Client,
  ClientOptions,
} from './client-types.ts';
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
  type RegisteredHandler,
  selectorProblem,
} from './registry.ts';
export {
  certificateFindings,
  discoveryFindings,
  type ExtensionFinding,
  handlerFindings,
  type Survey,
  surveyExtension,
  type TlsFacts,
} from './survey.ts';
