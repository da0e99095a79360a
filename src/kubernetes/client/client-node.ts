/** The parts of @kubernetes/client-node that are used, loaded when the first kubeconfig is read; a bundle has no others. */
export { KubeConfig, RequestContext } from '@kubernetes/client-node';
