interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: LabelSelectorRequirement[];
}
interface LabelSelectorRequirement {
  key?: string;
  operator?: string;
  values?: string[];
}
interface ExtensionConfig {
  apiVersion: string;
  kind: string;
  metadata: {
    name?: string;
    generateName?: string;
    namespace?: string;
    annotations?: {
      [k: string]: string;
    };
    labels?: {
      [k: string]: string;
    };
    deletionTimestamp?: string;
  };
  spec?: {
    clientConfig?: {
      url?: string;
      service?: {
        namespace?: string;
        name?: string;
        path?: string;
        port?: number;
      };
      caBundle?: string;
    };
    namespaceSelector?: {
      matchLabels?: {
        [k: string]: string;
      };
      matchExpressions?: {
        key?: string;
        operator?: string;
        values?: string[];
      }[];
    };
    settings?: {
      [k: string]: string;
    };
  };
  status?: {
    conditions?: {
      type?: string;
      status?: string;
      observedGeneration?: number;
      lastTransitionTime?: string;
      reason?: string;
      message?: string;
    }[];
    handlers?: {
      name?: string;
      requestHook?: {
        apiVersion?: string;
        hook?: string;
      };
      timeoutSeconds?: number;
      failurePolicy?: string;
    }[];
    deprecated?: {
      v1beta1?: {
        conditions?: {
          type?: string;
          status?: string;
          severity?: string;
          lastTransitionTime?: string;
          reason?: string;
          message?: string;
        }[];
      };
    };
  };
}
type CallStep = 'hook' | 'registry' | 'selector' | 'request' | 'url' | 'tls-config' | 'convert' | 'backoff' | 'connect' | 'tls' | 'timeout' | 'http' | 'size' | 'decode' | 'status' | 'validation' | 'cancelled';
interface CallError {
  step: CallStep;
  message: string;
  code?: number;
}
export declare function isCallError(value: unknown): value is CallError;
interface Release {
  major: number;
  minor: number;
  patch?: number;
}
interface LifecycleKey {
  readonly group: string;
  readonly version: string;
  readonly name: string;
}
interface Lifecycle extends LifecycleKey {
  readonly introduced: Release;
  readonly deprecated?: {
    readonly release: Release;
    readonly date: string;
  };
  readonly removed?: Release;
  readonly replacedBy?: LifecycleKey;
  readonly singleton?: boolean;
  readonly blockingSince?: Release;
}
interface MessageSchema {
  $ref?: string;
  type?: 'object' | 'array' | 'string' | 'integer' | 'boolean';
  format?: string;
  description?: string;
  example?: unknown;
  enum?: readonly string[];
  required?: readonly string[];
  properties?: Readonly<Record<string, MessageSchema>>;
  additionalProperties?: MessageSchema;
  items?: MessageSchema;
  allOf?: readonly MessageSchema[];
  oneOf?: readonly MessageSchema[];
  'x-kubernetes-list-type'?: 'map' | 'atomic';
  'x-kubernetes-list-map-keys'?: readonly string[];
  'x-kubernetes-map-type'?: 'atomic';
}
interface HookDefinition<Request = object, Response = object> extends Lifecycle {
  readonly summary: string;
  readonly purpose: string;
  readonly tags: readonly string[];
  readonly calls: 'server' | 'all' | 'named' | 'only';
  readonly about: 'Cluster' | 'topology' | 'Machine' | 'MachineSet' | undefined;
  readonly isQuestion: boolean;
  readonly isBlocking: boolean;
  readonly request: MessageDefinition;
  readonly response: MessageDefinition;
  readonly changes: readonly ReleaseChange[];
  readonly types?: {
    readonly request: Request;
    readonly response: Response;
  };
}
interface MessageDefinition {
  readonly kind: string;
  readonly component: string;
  readonly schema: MessageSchema;
  readonly fieldsSince: Readonly<Record<string, Release>>;
}
interface ReleaseChange {
  readonly release: Release;
  readonly text: string;
  readonly isBreaking: boolean;
  readonly remedy: string;
  readonly coreBefore?: CoreVersion;
}
type CoreVersion = 'v1beta1' | 'v1beta2';
type ClientConfig = NonNullable<NonNullable<ExtensionConfig['spec']>['clientConfig']>;
interface Extension {
  name: string;
  uid: string;
  resourceVersion: string;
  clientConfig: ClientConfig;
  namespaceSelector: LabelSelector | undefined;
  settings: Readonly<Record<string, string>>;
}
interface RegisteredHandler {
  name: string;
  group: string;
  version: string;
  hook: string;
  timeoutSeconds: number;
  failurePolicy: 'Fail' | 'Ignore';
  extension: Extension;
}
declare class HandlerRegistry {
  #private;
  get extensions(): readonly Extension[];
  add(config: ExtensionConfig): CallError | undefined;
  remove(name: string): void;
  get(name: string): RegisteredHandler | CallError;
  list(group: string, hook: string): readonly RegisteredHandler[];
}
type NamespaceLabels = (namespace: string) => Promise<Readonly<Record<string, string>> | undefined>;
interface ClientCertificate {
  cert: string;
  key: string;
}
type Resolve = (host: string) => {
  host: string;
  port: number;
} | undefined;
interface ConnectionOptions {
  clientCertificate?: (() => ClientCertificate | undefined) | undefined;
  resolve?: Resolve | undefined;
}
interface DiscoveredHandler {
  name: string;
  requestHook: {
    apiVersion: string;
    hook: string;
  };
  timeoutSeconds?: number;
  failurePolicy: string;
}
interface DiscoveryProblem {
  handler: string;
  message: string;
  remedy: string;
}
type DiscoverResult = {
  ok: true;
  handlers: DiscoveredHandler[];
} | {
  ok: false;
  error: CallError;
  problems: DiscoveryProblem[];
  handlers: DiscoveredHandler[];
};
interface MetricsRegistry {
  registerMetric(metric: never): void;
}
interface ClientOptions extends ConnectionOptions {
  extensions?: readonly ExtensionConfig[] | undefined;
  namespaceLabels?: NamespaceLabels | undefined;
  release?: Release | undefined;
  metrics?: MetricsRegistry | undefined;
  now?: (() => number) | undefined;
}
interface CalledObject {
  namespace: string;
  name: string;
  uid?: string | undefined;
}
interface CallAllOptions<Request> {
  object?: CalledObject | undefined;
  request: Omit<Request, 'apiVersion' | 'kind'>;
  signal?: AbortSignal | undefined;
  cache?: boolean | undefined;
}
interface CallOptions<Request> extends CallAllOptions<Request> {
  handler?: string | undefined;
}
type CallResult<Response> = {
  ok: true;
  response: Response;
  swallowed?: CallError;
  from: 'extension' | 'cache' | 'wait' | 'ignore';
} | {
  ok: false;
  error: CallError;
};
type CallAllResult<Response> = ({
  ok: true;
  response: Pick<Response, keyof Response & ('status' | 'message' | 'retryAfterSeconds')>;
} | {
  ok: false;
  error: CallError;
}) & {
  calls: {
    handler: string;
    result: CallResult<Response>;
  }[];
};
interface Client {
  readonly registry: HandlerRegistry;
  discover(config: ExtensionConfig, options?: {
    signal?: AbortSignal | undefined;
  }): Promise<DiscoverResult>;
  callExtension<Request extends object, Response extends object>(hook: HookDefinition<Request, Response>, options: CallOptions<Request>): Promise<CallResult<Response>>;
  callAllExtensions<Request extends object, Response extends object>(hook: HookDefinition<Request, Response>, options: CallAllOptions<Request>): Promise<CallAllResult<Response>>;
  handlersFor(hook: HookDefinition, object: CalledObject): Promise<string[] | CallError>;
  disconnect(name: string): void;
  remove(name: string): void;
  close(): Promise<void>;
}
export declare function createClient(options?: ClientOptions): Client;
export type { CallAllOptions, CallAllResult, CallError, CallOptions, CallResult, CallStep, CalledObject, Client, ClientCertificate, ClientOptions, DiscoverResult, DiscoveredHandler, DiscoveryProblem, ExtensionConfig, HandlerRegistry, Resolve };