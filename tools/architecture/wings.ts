/** A wing: a folder directly below `src/`. */
export interface Wing {
  name: string;
  /** What it knows, as on the architecture page. */
  knows: string;
  /** Its rooms, from the bottom up. Those that are not listed may import each other in any order. */
  rooms?: readonly string[];
}

/**
 * The wings from the bottom up: a wing imports only wings above it in this list, and a room only rooms before it. This
 * list is the only place that defines the layers; the lint step checks every import against it.
 */
export const wings: readonly Wing[] = [
  {
    name: 'base',
    knows: 'what has nothing to do with Kubernetes: files, terminals, metrics, X.509',
    rooms: ['terminal', 'files', 'go-text', 'yaml', 'metrics', 'x509'],
  },
  {
    name: 'kubernetes',
    knows: "Kubernetes' conventions, schemas and CEL, manifests, and talking to API servers",
    rooms: ['objects', 'schema', 'cel', 'manifests', 'client'],
  },
  {
    name: 'server',
    knows: 'an HTTPS server that lasts: certificates, connections, requests, health',
    rooms: ['certificates', 'health'],
  },
  {
    name: 'extensionconfig',
    knows: 'what an ExtensionConfig is: its schema, its versions and their conversion',
    rooms: ['api', 'conversion'],
  },
  {
    name: 'sandbox',
    knows: 'the embedded API server; nothing in production depends on it',
    rooms: [
      'openapi-documents',
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
    knows: 'the protocol of the hooks: which there are, what may be said, and calling extensions',
    rooms: ['message-types', 'catalog', 'messages', 'variables', 'patches', 'upgrade-plans', 'client'],
  },
  {
    name: 'topology',
    knows: 'what Cluster API makes of a Cluster and its class, and what a change does to Machines',
    rooms: ['templates', 'objects', 'blueprint', 'variables', 'patches', 'desired', 'rollout'],
  },
  {
    name: 'policy',
    knows: 'what is good about an ExtensionConfig; pure, but for the rooms that fetch facts',
    rooms: ['facts', 'rules', 'admission', 'cluster-facts'],
  },
  {
    name: 'extension',
    knows: 'writing extensions: the SDK, a sample, and new projects',
    rooms: ['sdk', 'sample', 'scaffold'],
  },
  {
    name: 'webhook',
    knows: 'the admission service: a review in, a decision out; its certificates and their rotation',
    rooms: ['reviews', 'certs'],
  },
  {
    name: 'controller',
    knows: 'discovery as a controller: status, CA bundles, events, leader election',
    rooms: ['election', 'configs', 'workers'],
  },
  {
    name: 'checks',
    knows: "judging before it counts: manifests, extensions, upgrades, a Cluster's life",
    rooms: ['output', 'lint', 'preflight', 'plan', 'impact', 'rehearsal', 'conformance', 'doctor'],
  },
  { name: 'cli', knows: 'the command line, one file or folder a command', rooms: ['framework', 'commands'] },
  { name: 'exports', knows: 'what the npm packages export' },
];
