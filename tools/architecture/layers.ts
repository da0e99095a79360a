/** A layer: a folder directly below `src/`. */
export interface Layer {
  name: string;
  /** What it knows, as on the architecture page. */
  knows: string;
  /** The only folder that imports it; undefined if every layer after it in the list may. */
  importedBy?: string;
  /** Its modules, from the bottom up. Those that are not listed may import each other in any order. */
  modules?: readonly string[];
}

/**
 * The layers from the bottom up: a layer imports only layers above it in this list, and a module only modules before it. This
 * list is the only place that defines the layers; the lint step checks every import against it.
 */
export const layers: readonly Layer[] = [
  {
    name: 'base',
    knows: 'nothing about Kubernetes: files, terminals, metrics, secrets in texts, X.509',
    modules: ['terminal', 'files', 'go-text', 'yaml', 'metrics', 'secrets', 'x509'],
  },
  {
    name: 'kubernetes',
    knows: "Kubernetes' conventions, schemas and CEL, manifests, OpenAPI documents, API clients",
    modules: ['objects', 'schema', 'cel', 'custom-resources', 'manifests', 'openapi', 'client'],
  },
  {
    name: 'server',
    knows: 'the HTTPS server: certificates, Express applications, connections',
    modules: ['certificates', 'application', 'connections'],
  },
  {
    name: 'extensionconfig',
    knows: 'ExtensionConfigs: schema, versions and conversion',
    modules: ['api', 'conversion'],
  },
  {
    name: 'sandbox',
    knows: 'the embedded API server; only the command `sandbox` imports it',
    importedBy: 'cli/commands/sandbox',
    modules: [
      'models',
      'resources',
      'storage',
      'openapi',
      'webhooks',
      'kinds',
      'reads',
      'writes',
      'aggregation',
      'http',
    ],
  },
  {
    name: 'runtimehooks',
    knows: 'the Runtime Hooks: catalog, messages, and calling extensions',
    modules: ['message-types', 'catalog', 'messages', 'variables', 'patches', 'upgrade-plans', 'client'],
  },
  {
    name: 'topology',
    knows: 'what Cluster API makes of a Cluster and its class, and which Machines a change replaces',
    modules: [
      'world',
      'templates',
      'blueprint',
      'variables',
      'patches',
      'control-planes',
      'manifests',
      'machine-pools',
      'refusals',
      'desired',
      'rollout',
    ],
  },
  {
    name: 'policy',
    knows: 'rules for ExtensionConfigs; pure, except for the module that fetches facts',
    modules: ['facts', 'rules', 'admission', 'cluster-facts'],
  },
  {
    name: 'extension',
    knows: 'writing extensions: the SDK, a sample, and new projects',
    modules: ['sdk', 'sample', 'scaffold'],
  },
  {
    name: 'webhook',
    knows: 'the admission service, its certificates and their rotation',
    modules: ['reviews', 'certs'],
  },
  {
    name: 'controller',
    knows: 'discovery as a controller: status, CA bundles, events, leader election',
    modules: ['election', 'configs'],
  },
  {
    name: 'checks',
    knows: 'lint, plan, impact, rehearse, conformance, doctor',
    modules: ['lint', 'plan', 'impact', 'rehearsal', 'conformance', 'doctor'],
  },
  { name: 'cli', knows: 'the command line, one file or folder for each command', modules: ['framework', 'commands'] },
  { name: 'exports', knows: 'what the npm packages export' },
];
