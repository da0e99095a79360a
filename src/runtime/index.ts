export { type CallError, type CallStep, isCallError, isIgnorable, quotable } from './call-error.ts';
export { createClient } from './client.ts';
export type * from './client-types.ts';
export {
  aggregate,
  type DiscoveredHandler,
  type DiscoverResult,
  type DiscoveryProblem,
  type KnownHooks,
  phaseOf,
  readDiscovery,
} from './discovery/index.ts';
export {
  type ClientCertificate,
  createConnections,
  type ExtensionConnections,
  type ExtensionResponse,
  probeTls,
  type Resolve,
  readAnswer,
  type Target,
  type TlsFacts,
  targetOf,
} from './exchange/index.ts';
export {
  type ClientConfig,
  createRegistry,
  defaultTimeoutSeconds,
  type Extension,
  extensionOf,
  type HandlerRegistry,
  type RegisteredHandler,
} from './registry/index.ts';
export { type Survey, type SurveyFinding, type SurveyOptions, surveyExtension } from './survey.ts';
