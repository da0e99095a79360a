/** A room: a folder directly below `src/`. */
export interface Room {
  name: string;
  /** What it knows, as on the architecture page. */
  knows: string;
  /** The rooms within it, from the bottom up: the same order for the folders of a large room. */
  within?: readonly Room[];
}

/**
 * The rooms from the bottom up: a room imports only rooms above it in this list. This list is the only place that
 * defines the layers; the lint step checks every import against it.
 */
export const rooms: readonly Room[] = [
  { name: 'files', knows: 'reading small files that another user may control; YAML; creating folders' },
  { name: 'caches', knows: 'what is kept in memory within a limit: while it is used, or for a time' },
  { name: 'terminal', knows: 'text for people: colours, counts, making untrusted text harmless' },
  {
    name: 'kubernetes',
    knows: 'Kubernetes conventions: names, selectors, Status, reviews, JSON Patch',
    within: [
      { name: 'errors', knows: 'errors as users see them: metav1.Status with its causes, paths of fields' },
      { name: 'json', knows: 'JSON values: reading them within limits, comparing, copying and patching them' },
      { name: 'reviews', knows: 'AdmissionReview and ConversionReview' },
    ],
  },
  {
    name: 'schema',
    knows: 'structural schemas, as in CustomResourceDefinitions: validation, patterns, defaults, pruning',
  },
  { name: 'cel', knows: 'CEL: validation rules and match conditions, within their budgets' },
  { name: 'variables', knows: 'variables of ClusterClasses: definitions and values, checked as Cluster API does' },
  { name: 'prometheus', knows: 'the parts of prom-client that servers use' },
  { name: 'x509', knows: 'certificates and their keys: reading, checking, issuing' },
  {
    name: 'cluster',
    knows: 'the connection to an API server: kubeconfig, requests, retries, watches',
    within: [
      {
        name: 'client-node',
        knows: 'the parts of @kubernetes/client-node and undici that are used, loaded on first use',
      },
      { name: 'authentication', knows: 'which user sends requests: credential plugins, token files, impersonation' },
      { name: 'kubeconfig', knows: 'kubeconfig files as kubectl reads them, with their users and proxies' },
      { name: 'requests', knows: 'requests to an API server: transport, retries, errors, lists by the page' },
      { name: 'watches', knows: 'current copies of collections: informers, and when to watch again' },
      { name: 'secrets', knows: 'Secrets: their data, and watching the one with a serving certificate' },
    ],
  },
  {
    name: 'manifests',
    knows: 'YAML and JSON files: reading as kubectl reads, with positions; editing; replacing a file',
  },
  { name: 'openapi', knows: 'OpenAPI v3 documents of API servers: conversion from v2, protobuf, merging' },
  { name: 'api', knows: 'what an ExtensionConfig is: CRD, types, schemas' },
  { name: 'hooks', knows: 'which Runtime Hooks exist: one definition each, with its lifecycle and messages' },
  { name: 'facts', knows: 'what rules may know about the cluster: indexes of which objects name which; pure' },
  {
    name: 'rules',
    knows: 'what makes an ExtensionConfig good: one file per rule in `checks/`, and the engine',
    within: [
      { name: 'fields', knows: 'the fields of an ExtensionConfig that several rules read, as Cluster API reads them' },
      { name: 'examples', knows: "the building blocks of the rules' examples" },
      { name: 'checks', knows: 'the rules, one per file' },
    ],
  },
  { name: 'conversion', knows: 'converting one API version to another' },
  { name: 'messages', knows: 'the messages of hooks: schemas, checks, samples, OpenAPI' },
  { name: 'hook-versions', knows: 'converting the messages of a hook from one of its versions to another' },
  {
    name: 'runtime',
    knows: 'calling extensions: registry, one call, all calls, discovery, backoff, metrics',
    within: [
      { name: 'registry', knows: 'which extensions are registered, and their handlers' },
      { name: 'exchange', knows: 'one request to an extension server and its response; backoff and metrics' },
      { name: 'discovery', knows: 'asking an extension for its handlers, and checking them as Cluster API does' },
      { name: 'calls', knows: 'calls of the handlers of a hook: which are selected, their waits and cached responses' },
    ],
  },
  {
    name: 'controller',
    knows: 'discovery as a controller: status, CA injection, events, leader election',
    within: [
      { name: 'election', knows: 'leader election by a Lease; only the leader writes' },
      {
        name: 'configs',
        knows: 'ExtensionConfigs as stored: their conditions, writing their status, events about them',
      },
      { name: 'ca-secrets', knows: 'CA bundles from the Secrets that annotations name, and when they change' },
      {
        name: 'queue',
        knows: 'when an ExtensionConfig is processed: the queue with its backoff, intervals and limits',
      },
      {
        name: 'workers',
        knows: 'what the modes discover, advise and observe do with an ExtensionConfig, and the metrics',
      },
    ],
  },
  { name: 'admission', knows: 'AdmissionReview in, AdmissionReview out; pure' },
  { name: 'probe', knows: 'probing an extension server before it is registered, where an operator allows it' },
  { name: 'watching', knows: 'the facts about a running cluster: watched copies and their age, Secrets one by one' },
  { name: 'certs', knows: 'CA, serving certificate and trust bundle: where they are kept, injected and rotated' },
  {
    name: 'server',
    knows: 'HTTPS, certificate reload, limits, metrics, draining',
    within: [
      {
        name: 'certificates',
        knows: 'the serving certificate and the client CA: where they come from, when they change',
      },
      { name: 'connections', knows: 'ports and their connections: limits on number, time and memory; draining' },
      { name: 'health', knows: 'what the kubelet and Prometheus are told: readiness, metrics, and their port' },
      { name: 'requests', knows: 'requests and responses: which clients may call, bodies, refusals' },
    ],
  },
  { name: 'webhook', knows: 'the admission and conversion webhooks on that server' },
  {
    name: 'extension',
    knows: 'the SDK: extension servers from typed handlers, and what authors need',
    within: [
      {
        name: 'handlers',
        knows: 'handlers with their answers and options, the mistakes in them, and what Discovery says',
      },
      {
        name: 'objects',
        knows: 'the objects in requests: fields by their path, patches for updates in place',
      },
      { name: 'calls', knows: 'one call of a handler: its context, timeout and answer, whatever the handler does' },
      { name: 'http', knows: 'calls over HTTP: paths, bodies, log lines and metrics' },
      { name: 'topology', knows: 'the topology hooks: variables defined and read, templates patched' },
      { name: 'testing', knows: 'calling handlers in tests, and asserting that they answer alike each time' },
    ],
  },
  { name: 'sample', knows: 'the sample extension, and the behaviour files that make it block, fail or hang' },
  { name: 'scaffold', knows: 'the project that new-extension writes' },
  {
    name: 'rehearsal',
    knows:
      "a Cluster's lifecycle as in Cluster API: which hook is called when, simulated against extensions, and its reports",
    within: [
      { name: 'cluster', knows: 'the simulated Cluster: its blueprint, state, time, and what it asks of extensions' },
      {
        name: 'topology',
        knows: 'the topology hooks: variables discovered and checked, patches generated and applied',
      },
      { name: 'life', knows: 'creation, upgrade, update in place and deletion, reconcile by reconcile' },
      { name: 'output', knows: 'a lifecycle as text, JSON lines and an HTML page' },
    ],
  },
  { name: 'lint', knows: 'applying the rules to manifests, and report formats' },
  { name: 'preflight', knows: 'what an upgrade of Cluster API means for extensions: facts in, a verdict out' },
  { name: 'conformance', knows: 'what a well-behaved extension does: one file per check in `checks/`, and the trial' },
  {
    name: 'sandbox',
    knows: 'the embedded API server; nothing in production depends on it',
    within: [
      { name: 'models', knows: 'the schemas of the built-in kinds' },
      { name: 'resources', knows: 'what a resource is, which resources exist, and errors as a Status' },
      { name: 'patches', knows: 'JSON Patch, merge patch and strategic merge patch' },
      { name: 'storage', knows: 'the store, its versions and what watches see; selectors' },
      { name: 'openapi', knows: 'the OpenAPI documents of the served resources' },
      { name: 'webhooks', knows: 'calling admission and conversion webhooks' },
      { name: 'kinds', knows: 'the built-in kinds, and the controllers for definitions, namespaces and events' },
      { name: 'reads', knows: 'get, list and watch; tables for kubectl' },
      { name: 'writes', knows: 'create, update, patch and delete, from the body to the store' },
      { name: 'aggregation', knows: 'other API servers behind this one: availability, proxy, merged documents' },
      { name: 'http', knows: 'requests and their endpoints: limits, impersonation, discovery' },
    ],
  },
  { name: 'library', knows: 'what the npm package exports' },
  { name: 'cli', knows: 'what commands share: the program, flags, durations, help, progress, log' },
  { name: 'commands', knows: 'the command line, one file or folder per command' },
];
