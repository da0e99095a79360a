import type { Registry as MetricsRegistry } from 'prom-client';
import type { ExtensionConfig } from '../api/index.ts';
import type { HookCatalog, HookDefinition, Release } from '../hooks/index.ts';
import type { HookVersions } from '../messages/index.ts';
import type { CallError } from './call-error.ts';
import type { ClientCertificate, Resolve } from './connections.ts';
import type { DiscoveredHandler, DiscoveryProblem } from './discovery.ts';
import type { HandlerRegistry } from './registry.ts';

/** Options of a client; all are optional. */
export interface ClientOptions {
  /**
   * Labels of a namespace, for namespaceSelectors; undefined when there is no such namespace. Default: none has labels.
   */
  namespaceLabels?: (namespace: string) => Promise<Readonly<Record<string, string>> | undefined>;
  /** The hooks that can be called. Default: those of Cluster API. */
  hooks?: readonly HookDefinition[];
  /** Hooks with several versions, between which messages are converted. */
  versions?: readonly HookVersions[];
  /**
   * Lifecycles of hooks, for discovery: a handler for a hook that is not in the catalog makes its extension invalid.
   */
  catalog?: HookCatalog;
  /** The release of Cluster API whose rules discovery applies. Default: the newest known. */
  release?: Release;
  /** Client certificate and key in PEM; read at each call, so that a new pair is used at once. */
  clientCertificate?: () => ClientCertificate | undefined;
  /** Addresses to use for hosts instead of their own, for port-forwards. */
  resolve?: Resolve;
  /** Maximum number of concurrent calls to one extension. Default: 10. */
  maxConcurrentCalls?: number;
  /**
   * Calls as Cluster API's own client does, for rehearsals: without a Content-Type, and even if the extension is in
   * backoff. Default: no. Discovery always does so.
   */
  mimicsClusterApi?: boolean;
  /** Where the metrics of calls are registered. Default: nowhere. */
  metrics?: MetricsRegistry;
  /** Milliseconds of a monotonic clock. Default: the system's. */
  now?: () => number;
}

/** The object that a hook is called for. */
export interface CalledObject {
  /** Empty for an object of the whole cluster. */
  namespace: string;
  name: string;
  /** Part of the key under which responses are cached. */
  uid?: string;
}

/** A request without apiVersion and kind, which follow from the hook. */
export type RequestBody<Request> = Omit<Request, 'apiVersion' | 'kind'>;

/** Options that both kinds of calls have. */
export interface CallAllOptions<Request> {
  object: CalledObject;
  request: RequestBody<Request>;
  /** Ends the call. */
  signal?: AbortSignal;
  /** Whether to cache responses that may be cached (see the documentation of hooks). Default: no. */
  cache?: boolean;
}

/** Options of the call of one handler. */
export interface CallOptions<Request> extends CallAllOptions<Request> {
  /** `HANDLER.EXTENSIONCONFIG`. */
  handler: string;
}

/** How one call ended. */
export type CallResult<Response> =
  | {
      ok: true;
      response: Response;
      /** The failure that failurePolicy `Ignore` swallowed. */
      swallowed?: CallError;
      /** Where the response came from. */
      from: 'extension' | 'cache' | 'wait' | 'ignore';
    }
  | { ok: false; error: CallError };

/** How the calls of all handlers ended. `calls` has those that were made, in their order. */
export type CallAllResult<Response> = (
  | { ok: true; response: Pick<Response, keyof Response & ('status' | 'message' | 'retryAfterSeconds')> }
  | { ok: false; error: CallError }
) & { calls: { handler: string; result: CallResult<Response> }[] };

/** The handlers of an extension. */
export type DiscoverResult =
  | { ok: true; handlers: DiscoveredHandler[] }
  | { ok: false; error: CallError; problems: DiscoveryProblem[]; handlers: DiscoveredHandler[] };

/** Calls extension servers, as Cluster API does. */
export interface Client {
  readonly registry: HandlerRegistry;
  /** Asks an extension server for its handlers and checks the answer, even if the extension is in backoff. */
  discover(config: ExtensionConfig, options?: { signal?: AbortSignal }): Promise<DiscoverResult>;
  /** Calls one handler by its name. */
  callExtension<Request extends object, Response extends object>(
    hook: HookDefinition<Request, Response>,
    options: CallOptions<Request>,
  ): Promise<CallResult<Response>>;
  /**
   * Calls all handlers of a hook whose namespaceSelector matches, one after the other in the order of their names; the
   * first error ends it. Messages are joined, and the lowest retryAfterSeconds that is not 0 counts.
   */
  callAllExtensions<Request extends object, Response extends object>(
    hook: HookDefinition<Request, Response>,
    options: CallAllOptions<Request>,
  ): Promise<CallAllResult<Response>>;
  /** The names of the handlers of a hook that are called for an object. */
  handlersFor(hook: HookDefinition, object: CalledObject): Promise<string[] | CallError>;
  /** Closes the connections of an extension that will not be called for a while; the next call opens new ones. */
  disconnect(name: string): void;
  /** Forgets an ExtensionConfig that is gone: its handlers, connections and backoff. */
  remove(name: string): void;
  close(): Promise<void>;
}
