import type { ExtensionConfig } from '../../extensionconfig/index.ts';
import type { HookDefinition } from '../catalog/definition.ts';
import type { Release } from '../catalog/lifecycle.ts';
import type { CallError } from './call-error.ts';
import type { DiscoverResult } from './discovery.ts';
import type { ConnectionOptions } from './exchange/connections.ts';
import type { HandlerRegistry, NamespaceLabels } from './registry.ts';

/** A registry of prom-client. */
export interface MetricsRegistry {
  registerMetric(metric: never): void;
}

/** Options of a client; all are optional. */
export interface ClientOptions extends ConnectionOptions {
  /** ExtensionConfigs (v1beta2) with discovered handlers, which can be called at once. */
  extensions?: readonly ExtensionConfig[] | undefined;
  /** Without it, calls that depend on a namespaceSelector with requirements fail with step `selector`. */
  namespaceLabels?: NamespaceLabels | undefined;
  /** The release of Cluster API whose rules discovery applies. Default: the newest known. */
  release?: Release | undefined;
  /** The registry for the metrics of calls. Default: none. */
  metrics?: MetricsRegistry | undefined;
  /** Returns milliseconds of a monotonic clock. Default: the system's. */
  now?: (() => number) | undefined;
}

/** The object that a hook is called for. */
export interface CalledObject {
  /** Empty for a cluster-scoped object. */
  namespace: string;
  name: string;
  /** Part of the key under which responses are cached. */
  uid?: string | undefined;
}

/** Options of both kinds of calls. */
export interface CallAllOptions<Request> {
  /** Default: the Cluster, Machine or MachineSet that the request is about. */
  object?: CalledObject | undefined;
  /** apiVersion and kind are determined by the hook. */
  request: Omit<Request, 'apiVersion' | 'kind'>;
  signal?: AbortSignal | undefined;
  /** Whether to cache responses that may be cached (see the documentation of hooks). Default: no. */
  cache?: boolean | undefined;
}

/** Options for calling one handler. */
export interface CallOptions<Request> extends CallAllOptions<Request> {
  /** `HANDLER.EXTENSIONCONFIG`. Default: the only handler of the hook that is called for the object. */
  handler?: string | undefined;
}

/** How one call ended. */
export type CallResult<Response> =
  | {
      ok: true;
      response: Response;
      /** The failure that failurePolicy `Ignore` suppressed. */
      swallowed?: CallError;
      from: 'extension' | 'cache' | 'wait' | 'ignore';
    }
  | { ok: false; error: CallError };

/** How the calls of all handlers ended. `calls` has the calls that were made, in order. */
export type CallAllResult<Response> = (
  | { ok: true; response: Pick<Response, keyof Response & ('status' | 'message' | 'retryAfterSeconds')> }
  | { ok: false; error: CallError }
) & { calls: { handler: string; result: CallResult<Response> }[] };

/** Calls extension servers, as Cluster API's client does (internal/runtime/client/client.go, v1.14). */
export interface Client {
  readonly registry: HandlerRegistry;
  /** Calls Discovery on an extension server and validates the answer, even if the extension is in backoff. */
  discover(config: ExtensionConfig, options?: { signal?: AbortSignal | undefined }): Promise<DiscoverResult>;
  /** Calls one handler: by its name, or the only one of the hook. */
  callExtension<Request extends object, Response extends object>(
    hook: HookDefinition<Request, Response>,
    options: CallOptions<Request>,
  ): Promise<CallResult<Response>>;
  /**
   * Calls all handlers of a hook whose namespaceSelector matches, one after the other, sorted by name; the first error
   * ends that. The messages are joined, and the lowest nonzero retryAfterSeconds counts.
   */
  callAllExtensions<Request extends object, Response extends object>(
    hook: HookDefinition<Request, Response>,
    options: CallAllOptions<Request>,
  ): Promise<CallAllResult<Response>>;
  /** The names of the handlers of a hook that are called for an object. */
  handlersFor(hook: HookDefinition, object: CalledObject): Promise<string[] | CallError>;
  /** Closes the connections of an extension; the next call opens new ones. */
  disconnect(name: string): void;
  /** Removes a deleted ExtensionConfig: its handlers, connections and backoff. */
  remove(name: string): void;
  close(): Promise<void>;
}
