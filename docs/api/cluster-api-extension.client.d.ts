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
interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: LabelSelectorRequirement[];
}
interface LabelSelectorRequirement {
  key: string;
  operator: string;
  values?: string[];
}
type CallStep = 'hook' | 'registry' | 'selector' | 'request' | 'url' | 'tls-config' | 'convert' | 'backoff' | 'connect' | 'tls' | 'timeout' | 'http' | 'size' | 'decode' | 'status' | 'validation' | 'cancelled';
interface CallError {
  step: CallStep;
  message: string;
  code?: number;
}
export declare function isCallError(value: unknown): value is CallError;
// Type definitions for prom-client
// Definitions by: Simon Nyberg http://twitter.com/siimon_nyberg
type Charset = 'utf-8';
type PrometheusMIME = 'text/plain';
type PrometheusMetricsVersion = '0.0.4';
type OpenMetricsMIME = 'application/openmetrics-text';
type OpenMetricsVersion = '1.0.0';
type OpenMetricsContentType = `${OpenMetricsMIME}; version=${OpenMetricsVersion}; charset=${Charset}`;
type PrometheusContentType = `${PrometheusMIME}; version=${PrometheusMetricsVersion}; charset=${Charset}`;
type RegistryContentType = PrometheusContentType | OpenMetricsContentType;
declare class Registry<BoundRegistryContentType extends RegistryContentType = PrometheusContentType> {
  metrics(): Promise<string>;
  clear(): void;
  resetMetrics(): void;
  registerMetric<T extends string>(metric: Metric<T>): void;
  getMetricsAsJSON(): Promise<MetricObjectWithValues<MetricValue<string>>[]>;
  getMetricsAsArray(): MetricObject[];
  removeSingleMetric(name: string): void;
  getSingleMetric<T extends string>(name: string): Metric<T> | undefined;
  setDefaultLabels(labels: object): void;
  getSingleMetricAsString(name: string): Promise<string>;
  readonly contentType: BoundRegistryContentType;
  setContentType(contentType: BoundRegistryContentType): void;
  static merge(registers: Registry[]): Registry;
  static PROMETHEUS_CONTENT_TYPE: PrometheusContentType;
  static OPENMETRICS_CONTENT_TYPE: OpenMetricsContentType;
}
type Metric<T extends string = string> = Counter<T> | Gauge<T> | Summary<T> | Histogram<T>;
type Aggregator = 'omit' | 'sum' | 'first' | 'min' | 'max' | 'average';
declare enum MetricType {
  Counter,
  Gauge,
  Histogram,
  Summary
}
type CollectFunction<T> = (this: T) => void | Promise<void>;
interface MetricObject {
  name: string;
  help: string;
  type: MetricType;
  aggregator: Aggregator;
  collect: CollectFunction<any>;
}
interface MetricObjectWithValues<T extends MetricValue<string>> extends MetricObject {
  values: T[];
}
type MetricValue<T extends string> = {
  value: number;
  labels: LabelValues<T>;
};
type MetricValueWithName<T extends string> = MetricValue<T> & {
  metricName?: string;
};
type LabelValues<T extends string> = Partial<Record<T, string | number>>;
interface MetricConfiguration<T extends string> {
  name: string;
  help: string;
  labelNames?: T[] | readonly T[];
  registers?: (Registry<PrometheusContentType> | Registry<OpenMetricsContentType>)[];
  aggregator?: Aggregator;
  collect?: CollectFunction<any>;
  enableExemplars?: boolean;
}
interface CounterConfiguration<T extends string> extends MetricConfiguration<T> {
  collect?: CollectFunction<Counter<T>>;
}
interface IncreaseDataWithExemplar<T extends string> {
  value?: number;
  labels?: LabelValues<T>;
  exemplarLabels?: LabelValues<T>;
}
interface ObserveDataWithExemplar<T extends string> {
  value: number;
  labels?: LabelValues<T>;
  exemplarLabels?: LabelValues<T>;
}
declare class Counter<T extends string = string> {
  constructor(configuration: CounterConfiguration<T>);
  inc(labels: LabelValues<T>, value?: number): void;
  inc(value?: number): void;
  inc(incData: IncreaseDataWithExemplar<T>): void;
  get(): Promise<MetricObjectWithValues<MetricValue<T>>>;
  labels(...values: string[]): Counter.Internal;
  labels(labels: LabelValues<T>): Counter.Internal;
  reset(): void;
  remove(...values: string[]): void;
  remove(labels: LabelValues<T>): void;
}
declare namespace Counter {
  interface Internal {
    inc(value?: number): void;
  }
}
interface GaugeConfiguration<T extends string> extends MetricConfiguration<T> {
  collect?: CollectFunction<Gauge<T>>;
}
declare class Gauge<T extends string = string> {
  constructor(configuration: GaugeConfiguration<T>);
  inc(labels: LabelValues<T>, value?: number): void;
  inc(value?: number): void;
  dec(labels: LabelValues<T>, value?: number): void;
  dec(value?: number): void;
  set(labels: LabelValues<T>, value: number): void;
  set(value: number): void;
  get(): Promise<MetricObjectWithValues<MetricValue<T>>>;
  setToCurrentTime(labels?: LabelValues<T>): void;
  startTimer(labels?: LabelValues<T>): (labels?: LabelValues<T>) => number;
  labels(...values: string[]): Gauge.Internal<T>;
  labels(labels: LabelValues<T>): Gauge.Internal<T>;
  reset(): void;
  remove(...values: string[]): void;
  remove(labels: LabelValues<T>): void;
}
declare namespace Gauge {
  interface Internal<T extends string> {
    inc(value?: number): void;
    dec(value?: number): void;
    set(value: number): void;
    setToCurrentTime(): void;
    startTimer(): (labels?: LabelValues<T>) => number;
  }
}
interface HistogramConfiguration<T extends string> extends MetricConfiguration<T> {
  buckets?: number[];
  collect?: CollectFunction<Histogram<T>>;
}
declare class Histogram<T extends string = string> {
  constructor(configuration: HistogramConfiguration<T>);
  observe(value: number): void;
  observe(labels: LabelValues<T>, value: number): void;
  observe(observeData: ObserveDataWithExemplar<T>): void;
  get(): Promise<MetricObjectWithValues<MetricValueWithName<T>>>;
  startTimer(labels?: LabelValues<T>): (labels?: LabelValues<T>) => number;
  startTimer(labels?: LabelValues<T>, exemplarLabels?: LabelValues<T>): (labels?: LabelValues<T>, exemplarLabels?: LabelValues<T>) => number;
  reset(): void;
  zero(labels: LabelValues<T>): void;
  labels(...values: string[]): Histogram.Internal<T>;
  labels(labels: LabelValues<T>): Histogram.Internal<T>;
  remove(...values: string[]): void;
  remove(labels: LabelValues<T>): void;
}
declare namespace Histogram {
  interface Internal<T extends string> {
    observe(value: number): void;
    startTimer(): (labels?: LabelValues<T>) => void;
  }
  interface Config {
    buckets?: number[];
  }
}
interface SummaryConfiguration<T extends string> extends MetricConfiguration<T> {
  percentiles?: number[];
  maxAgeSeconds?: number;
  ageBuckets?: number;
  pruneAgedBuckets?: boolean;
  compressCount?: number;
  collect?: CollectFunction<Summary<T>>;
}
declare class Summary<T extends string = string> {
  constructor(configuration: SummaryConfiguration<T>);
  observe(value: number): void;
  observe(labels: LabelValues<T>, value: number): void;
  get(): Promise<MetricObjectWithValues<MetricValueWithName<T>>>;
  startTimer(labels?: LabelValues<T>): (labels?: LabelValues<T>) => number;
  reset(): void;
  labels(...values: string[]): Summary.Internal<T>;
  labels(labels: LabelValues<T>): Summary.Internal<T>;
  remove(...values: string[]): void;
  remove(labels: LabelValues<T>): void;
}
declare namespace Summary {
  interface Internal<T extends string> {
    observe(value: number): void;
    startTimer(): (labels?: LabelValues<T>) => number;
  }
  interface Config {
    percentiles?: number[];
  }
}
interface Release {
  major: number;
  minor: number;
}
interface LifecycleKey {
  group: string;
  version: string;
  name: string;
}
interface Lifecycle extends LifecycleKey {
  introduced: Release;
  deprecated?: {
    release: Release;
    date: string;
  };
  removed?: Release;
  replacedBy?: LifecycleKey;
  singleton?: boolean;
  blockingSince?: Release;
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
interface HookDefinition<Request = object, Response = object> {
  readonly group: string;
  readonly version: string;
  readonly name: string;
  readonly summary: string;
  readonly purpose: string;
  readonly tags: readonly string[];
  readonly singleton: boolean;
  readonly lifecycle: Lifecycle;
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
  readonly coreBefore?: CoreVersion;
}
type CoreVersion = 'v1beta1' | 'v1beta2';
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
  warmUp(configs: Iterable<ExtensionConfig>): Map<string, CallError>;
  add(config: ExtensionConfig): CallError | undefined;
  remove(name: string): void;
  get(name: string): RegisteredHandler | CallError;
  list(group: string, hook: string): readonly RegisteredHandler[] | CallError;
}
interface ClientCertificate {
  cert: string;
  key: string;
}
type Resolve = (host: string) => {
  host: string;
  port: number;
} | undefined;
interface ClientOptions {
  extensions?: readonly ExtensionConfig[] | undefined;
  namespaceLabels?: ((namespace: string) => Promise<Readonly<Record<string, string>> | undefined>) | undefined;
  release?: Release | undefined;
  clientCertificate?: (() => ClientCertificate | undefined) | undefined;
  resolve?: Resolve | undefined;
  maxConcurrentCalls?: number | undefined;
  maxAnswerBytes?: number | undefined;
  metrics?: Registry | undefined;
  now?: (() => number) | undefined;
}
interface CalledObject {
  namespace: string;
  name: string;
  uid?: string | undefined;
}
type RequestBody<Request> = Omit<Request, 'apiVersion' | 'kind'>;
interface CallAllOptions<Request> {
  object?: CalledObject | undefined;
  request: RequestBody<Request>;
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