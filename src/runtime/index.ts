export { type Cache, createCache } from './caches.ts';
export { type CallError, type CallStep, isIgnorable, quotable } from './call-error.ts';
export { createClient } from './client.ts';
export type * from './client-types.ts';
export {
  type ClientCertificate,
  createConnections,
  type ExtensionConnections,
  type ExtensionResponse,
  type Resolve,
} from './connections.ts';
export {
  aggregate,
  type DiscoveredHandler,
  type DiscoveryProblem,
  type KnownHooks,
  phaseOf,
  readDiscovery,
} from './discovery.ts';
export { readAnswer } from './exchange.ts';
export { probeTls, type TlsFacts } from './probe.ts';
export {
  type ClientConfig,
  defaultTimeoutSeconds,
  type Extension,
  extensionOf,
  type RegisteredHandler,
} from './registration.ts';
export { createRegistry, type HandlerRegistry, isCallError } from './registry.ts';
export { type Survey, type SurveyFinding, type SurveyOptions, surveyExtension } from './survey.ts';
export { type Target, targetOf } from './url.ts';
