/**
 * The parts of @kubernetes/client-node that are used. It is loaded through this file when the first kubeconfig is read;
 * a bundle has no others of its thousand files.
 */
export { KubeConfig, RequestContext } from '@kubernetes/client-node';
