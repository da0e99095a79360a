import './node-version.ts';

export type { ExtensionConfig } from '../extensionconfig/index.ts';
export {
  type CallAllOptions,
  type CallAllResult,
  type CallError,
  type CalledObject,
  type CallOptions,
  type CallResult,
  type CallStep,
  type Client,
  type ClientCertificate,
  type ClientOptions,
  createClient,
  type DiscoveredHandler,
  type DiscoverResult,
  type DiscoveryProblem,
  type HandlerRegistry,
  isCallError,
  type Resolve,
} from '../runtimehooks/client/index.ts';
