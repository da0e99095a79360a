// The generated parts of the Kubernetes client that its kubeconfig uses: see client-node.ts.
export { createConfiguration } from '@kubernetes/client-node/dist/gen/configuration.js';
export { ServerConfiguration } from '@kubernetes/client-node/dist/gen/servers.js';
